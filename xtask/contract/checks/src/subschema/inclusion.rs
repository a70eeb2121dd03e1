//! Decides whether every value of a schema is a value of another.

use std::collections::{HashMap, VecDeque};

use document::openapi::Model;

use super::{ANY, Budget, Conjunction, NEVER, Schemas};

/// How values are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Reading {
    /// Values that clients send: without `readOnly` properties, and without properties that are not listed where
    /// `additionalProperties` is missing.
    Request,
    /// Values that the service sends: without `writeOnly` properties, and without properties that are not listed
    /// where `additionalProperties` is missing.
    Response,
    /// Text that clients send, so that a string may also be a number, with all properties and items.
    RequestText,
    /// Text that the service sends.
    ResponseText,
    /// An object that clients send as a form whose properties are [`Part`](Self::Part)s.
    Parts,
    /// Text, a list of such parts, or an object in JSON.
    Part,
    /// Every value.
    Strict,
}

impl Reading {
    /// Returns the keyword that marks properties as absent.
    fn hiding(self) -> Option<&'static str> {
        match self {
            Self::Request | Self::RequestText | Self::Parts | Self::Part => Some("readOnly"),
            Self::Response | Self::ResponseText => Some("writeOnly"),
            Self::Strict => None,
        }
    }

    /// Whether numbers are text too.
    pub(super) fn is_text(self) -> bool {
        matches!(self, Self::RequestText | Self::ResponseText | Self::Part)
    }

    /// Returns how the properties of the value are read. Its items are read like the value.
    pub(super) fn property(self) -> Self {
        match self {
            Self::Parts => Self::Part,
            Self::Part => Self::Request,
            _ => self,
        }
    }
}

/// Whether all values of a schema are values of another.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Question {
    pub(crate) narrow: Conjunction,
    pub(crate) wide: Conjunction,
    pub(crate) reading: Reading,
    /// Whether a value may match several alternatives of `oneOf`.
    pub(crate) may_overlap: bool,
}

/// The schemas of two documents, and the questions decided so far.
///
/// A result is assumed to be `true` until a counterexample is found; then the questions that depend on it are
/// decided again. So recursive schemas include each other unless some value is valid against one only.
pub(crate) struct Inclusion<'a> {
    pub(crate) schemas: Schemas<'a>,
    numbers: HashMap<Question, usize>,
    questions: Vec<Question>,
    results: Vec<bool>,
    dependents: Vec<Vec<usize>>,
    open: VecDeque<usize>,
    current: usize,
    pub(super) budget: Budget,
}

impl<'a> Inclusion<'a> {
    pub(crate) fn new(base: &'a Model<'a>, revision: &'a Model<'a>, budget: Budget) -> Self {
        Self {
            schemas: Schemas::new(base, revision, budget.clone()),
            numbers: HashMap::new(),
            questions: Vec::new(),
            results: Vec::new(),
            dependents: Vec::new(),
            open: VecDeque::new(),
            current: 0,
            budget,
        }
    }

    /// Whether it is proven that all values of `narrow` are values of `wide`.
    pub(crate) fn includes(&mut self, question: Question) -> bool {
        if question.narrow == question.wide {
            return true;
        }
        self.budget.begin();
        let number = self.number(question);
        while let Some(next) = self.open.pop_front() {
            self.current = next;
            if self.results[next] && (!self.budget.spend(1) || !self.decide(self.questions[next])) {
                self.results[next] = false;
                self.open.extend(std::mem::take(&mut self.dependents[next]));
            }
        }
        self.read(Reading::Strict, false);
        self.results[number]
    }

    /// Sets how values are read.
    fn read(&mut self, reading: Reading, may_overlap: bool) {
        (self.schemas.hiding, self.schemas.may_overlap) = (reading.hiding(), may_overlap);
    }

    fn number(&mut self, question: Question) -> usize {
        let next = self.questions.len();
        let number = *self.numbers.entry(question).or_insert(next);
        if number == next {
            self.questions.push(question);
            self.results.push(true);
            self.dependents.push(Vec::new());
            self.open.push_back(next);
        }
        number
    }

    /// Returns the result so far, and records that the current question depends on it.
    pub(super) fn lookup(&mut self, question: Question) -> bool {
        if question.wide == ANY || question.narrow == NEVER || question.narrow == question.wide {
            return true;
        }
        if !self.budget.spend(1) {
            return false;
        }
        let number = self.number(question);
        if self.results[number] && self.dependents[number].last() != Some(&self.current) {
            self.dependents[number].push(self.current);
        }
        self.results[number]
    }

    /// Whether two conjunctions have the same values, counting properties that they do not list.
    pub(crate) fn are_equal(&mut self, one: Conjunction, other: Conjunction) -> bool {
        let (reading, may_overlap) = (Reading::Strict, false);
        [(one, other), (other, one)]
            .into_iter()
            .all(|(narrow, wide)| self.includes(Question { narrow, wide, reading, may_overlap }))
    }

    /// Whether a conjunction certainly has no value.
    pub(crate) fn is_empty(&mut self, of: Conjunction) -> bool {
        self.schemas.is_empty(of)
    }

    /// Whether both conjunctions have a normal form.
    pub(crate) fn is_decided(&mut self, one: Conjunction, other: Conjunction) -> bool {
        self.schemas.normal(one).is_ok() && self.schemas.normal(other).is_ok()
    }

    fn decide(&mut self, question: Question) -> bool {
        self.read(question.reading, question.may_overlap);
        let narrow = self.schemas.normal(question.narrow);
        let wide = self.schemas.normal(question.wide);
        let (Ok(narrow), Ok(wide)) = (narrow, wide) else { return false };
        narrow.iter().all(|case| self.is_covered(question, case, &wide))
    }
}
