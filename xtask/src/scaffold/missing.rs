//! The operations and schemas that the document has and the code lacks.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use contract::openapi::{Kind, Model, Object, Operation, Schema};

/// Which messages contain a schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Uses {
    /// Requests contain it.
    pub(super) read: bool,
    /// Responses contain it.
    pub(super) written: bool,
}

pub(super) struct Missing<'a> {
    pub(super) operations: Vec<Operation<'a>>,
    pub(super) schemas: BTreeMap<&'a str, (Schema<'a>, Uses)>,
}

impl<'a> Missing<'a> {
    /// Everything that is missing, or of that the operation with this `operationId` and its schemas. `None`
    /// if the document does not have the operation.
    pub(super) fn find(document: &'a Model<'a>, code: &Model<'_>, only: Option<&str>) -> Option<Self> {
        let wanted: Vec<_> = match only {
            Some(id) => Vec::from([document.operation(id)?]),
            None => document.operations().collect(),
        };
        let is_missing = |operation: &Operation<'_>| {
            let mut items = code.path_items().filter(|item| item.path() == operation.path());
            !items.any(|item| item.operation(operation.method()).is_some())
        };
        let operations: Vec<_> = wanted.into_iter().filter(is_missing).collect();
        let known: BTreeSet<_> = code.schemas().map(|(name, _)| name).collect();
        let used: BTreeSet<_> = operations.iter().flat_map(|operation| schemas_of([**operation])).collect();
        let uses = uses(document);
        let schemas = document
            .schemas()
            .filter(|(name, _)| !known.contains(name) && (only.is_none() || used.contains(name)));
        // Unreferenced: assume both request and response.
        let both = Uses { read: true, written: true };
        let schemas = schemas.map(|(name, of)| (name, (of, uses.get(name).copied().unwrap_or(both))));
        Some(Self { operations, schemas: schemas.collect() })
    }
}

/// In which messages each schema is, over all operations.
fn uses<'a>(document: &'a Model<'a>) -> BTreeMap<&'a str, Uses> {
    let mut uses: BTreeMap<&str, Uses> = BTreeMap::new();
    for operation in document.operations() {
        let parameters = operation.parameters().into_iter().map(|parameter| parameter.declared());
        let request = parameters.chain(operation.child("requestBody"));
        for name in schemas_of(request) {
            uses.entry(name).or_default().read = true;
        }
        for name in schemas_of(operation.child("responses")) {
            uses.entry(name).or_default().written = true;
        }
    }
    uses
}

/// The schemas under `components/schemas` that these objects refer to, directly or through others.
pub(super) fn schemas_of<'a>(objects: impl IntoIterator<Item = Object<'a>>) -> BTreeSet<&'a str> {
    let mut open: Vec<Object<'a>> = objects.into_iter().collect();
    let (mut seen, mut names) = (HashSet::new(), BTreeSet::new());
    while let Some(object) = open.pop() {
        if !seen.insert(object.id) {
            continue;
        }
        names.extend(component(object));
        if object.kind() == Kind::Operation {
            // With those of the path item.
            open.extend(
                object.parent().into_iter().flat_map(|item| item.children("parameters").collect::<Vec<_>>()),
            );
        }
        match object.is_reference() {
            true => open.extend(object.model().target(object.id)),
            false => open.extend(object.parts()),
        }
    }
    names
}

/// The name of a schema that is directly under `components/schemas`.
pub(super) fn component<'a>(object: Object<'a>) -> Option<&'a str> {
    let is_component = object.parent().is_some_and(|parent| parent.kind() == Kind::Components);
    (is_component && object.kind() == Kind::Schema).then(|| object.name())
}
