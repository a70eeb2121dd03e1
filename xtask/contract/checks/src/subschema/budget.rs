//! The limit of the steps that a comparison, or a check of all schemas, may take.

use std::cell::Cell;
use std::rc::Rc;

/// The steps for any document.
const LEAST: usize = 1_000_000;
/// The steps for each object of the documents. Most real documents need less than one, those with many alternatives that
/// refer to each other a hundred.
const PER_OBJECT: usize = 300;
/// The limit for any document, some seconds.
const MOST: usize = 12_000_000;
/// The steps for one question, so that one schema does not use up those of all others.
const PER_QUESTION: usize = 200_000;

/// The steps that are left, for all who work together. A step is a look-up or a copied value, some hundred nanoseconds.
#[derive(Clone, Debug)]
pub(crate) struct Budget(Rc<Left>);

#[derive(Debug)]
struct Left {
    for_all: Cell<usize>,
    for_one: Cell<usize>,
}

impl Budget {
    /// Returns the budget for documents with this many objects.
    pub(crate) fn of(objects: usize) -> Self {
        let steps = objects.saturating_mul(PER_OBJECT).saturating_add(LEAST).min(MOST);
        Self(Rc::new(Left { for_all: Cell::new(steps), for_one: Cell::new(PER_QUESTION) }))
    }

    /// Begins a question: a pair of schemas, or whether one includes another.
    pub(crate) fn begin(&self) {
        self.0.for_one.set(PER_QUESTION);
    }

    /// Subtracts steps. Returns whether some are left.
    pub(crate) fn spend(&self, steps: usize) -> bool {
        for left in [&self.0.for_all, &self.0.for_one] {
            left.set(left.get().saturating_sub(steps));
        }
        !self.is_cut()
    }

    /// Whether no step is left for the question.
    pub(crate) fn is_cut(&self) -> bool {
        self.0.for_one.get() == 0 || self.is_exhausted()
    }

    /// Whether no step is left for any question.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.0.for_all.get() == 0
    }
}
