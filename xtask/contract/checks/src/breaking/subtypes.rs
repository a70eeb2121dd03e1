//! Schemas that extend others: the components whose `allOf` refers to a schema.

use std::collections::{HashMap, HashSet};

use document::openapi::{Id, Model, Object};

/// The components that extend a schema directly, by that schema, in the base and in the revision.
pub(super) struct Subtypes<'a> {
    base: &'a Model<'a>,
    subtypes: [HashMap<Id, Vec<Object<'a>>>; 2],
}

impl<'a> Subtypes<'a> {
    pub(super) fn of(base: &'a Model<'a>, revision: &'a Model<'a>) -> Self {
        let subtypes = [base, revision].map(|model| {
            let mut subtypes: HashMap<Id, Vec<Object<'a>>> = HashMap::new();
            for component in model.schemas() {
                let parents = component.children("allOf").filter(Object::is_reference);
                for parent in parents.filter_map(|parent| parent.resolved()) {
                    subtypes.entry(parent.id).or_default().push(component);
                }
            }
            subtypes
        });
        Self { base, subtypes }
    }

    /// Returns the components whose `allOf` refers to a schema, directly or through other components.
    pub(super) fn all(&self, of: Object<'a>) -> Vec<Object<'a>> {
        let [base, revision] = &self.subtypes;
        let subtypes = if std::ptr::eq(of.model(), self.base) { base } else { revision };
        let (mut found, mut seen) = (Vec::new(), HashSet::new());
        let mut open = vec![of.id];
        while let Some(of) = open.pop() {
            for subtype in subtypes.get(&of).into_iter().flatten() {
                if seen.insert(subtype.id) {
                    found.push(*subtype);
                    open.push(subtype.id);
                }
            }
        }
        found
    }
}
