//! What violates OpenAPI 3.0.3 in the structure of a document, as data.

use super::{Id, Keys, Model, Shape, Step};
use crate::place::Spot;
use crate::text::{Entry, Node, Span};

/// A violation at a place.
#[derive(Clone, Debug)]
pub struct Invalid<'a> {
    /// The object that contains the place.
    pub object: Id,
    /// The steps from the object to the place.
    pub steps: Vec<Step<'a>>,
    /// The text of the place.
    pub span: Span,
    /// What is wrong.
    pub flaw: Flaw<'a>,
    /// Why a comparison cannot use the place. `None` if it can.
    pub reason: Option<Reason>,
}

impl Invalid<'_> {
    /// Returns the place with its pointer and its object.
    pub fn spot(&self, model: &Model<'_>) -> Spot {
        model.object(self.object).spot_at(&self.steps, self.span)
    }
}

/// What is wrong.
#[derive(Clone, Copy, Debug)]
pub enum Flaw<'a> {
    /// The key of the entry is not a keyword of the object.
    Keyword(&'a Entry),
    /// The object lacks this keyword.
    Missing(&'static str),
    /// The key does not have this form.
    Key(Keys, &'a str),
    /// The value does not have the type of this shape.
    Type(Shape, &'a Node),
    /// The value has the type of this shape, and is wrong.
    Value(Shape, &'a Node),
    /// This keyword is beside `$ref`.
    Sibling(&'a str),
    /// The reference leads to this object, which is of another kind.
    OtherKind(Id),
    /// The reference leads nowhere.
    NoTarget,
    /// The first of this number of references to other files.
    OtherFile(usize),
    /// The reference leads back to its own place.
    Cycle,
}

/// What a comparison cannot use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// A key or a value, or that a keyword is missing.
    Content,
    /// A reference that leads nowhere.
    Reference,
    /// References to other files.
    OtherFile,
}
