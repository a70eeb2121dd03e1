//! Security requirements.

use std::collections::{BTreeMap, BTreeSet};

use crate::text::Node;

use super::Object;

/// The security that applies to an operation.
#[derive(Clone, Copy, Debug)]
pub struct Security<'a> {
    /// The operation or the document that has the `security`, if there is one.
    owner: Option<Object<'a>>,
}

/// One alternative: the names of the schemes that are required together, each with its scopes.
pub type Requirement<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

impl<'a> Security<'a> {
    /// The security of an operation: its own list, even if it is empty, else that of the document.
    pub(super) fn of(operation: Object<'a>) -> Self {
        let owners = [operation, operation.model().root()];
        Self { owner: owners.into_iter().find(|owner| owner.has("security")) }
    }

    /// The object that has the keyword `security`: the operation or the document.
    pub fn owner(&self) -> Option<Object<'a>> {
        self.owner
    }

    /// The Security Requirement Objects, in the order of the file.
    pub fn alternatives(&self) -> impl Iterator<Item = (Object<'a>, Requirement<'a>)> {
        let objects = self.owner.into_iter().flat_map(|owner| owner.children("security"));
        objects.map(|object| (object, requirement(object)))
    }

    /// Returns the alternatives as a set. An empty list and an empty requirement have the same meaning.
    pub fn requirements(&self) -> BTreeSet<Requirement<'a>> {
        let mut requirements: BTreeSet<_> = self.alternatives().map(|(_, requirement)| requirement).collect();
        if requirements.is_empty() {
            requirements.insert(Requirement::new());
        }
        requirements
    }
}

fn requirement(object: Object<'_>) -> Requirement<'_> {
    let entries = object.node().entries().iter();
    entries
        .map(|entry| (entry.key.as_str(), entry.value.items().iter().filter_map(Node::as_str).collect()))
        .collect()
}
