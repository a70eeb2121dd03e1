//! Finds the operations and schemas that the document has and the code lacks.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use document::openapi::{Kind, Model, Object, Operation, Schema};

/// A schema that the code lacks.
pub(super) struct MissingSchema<'a> {
    pub(super) schema: Schema<'a>,
    /// Whether requests contain it.
    pub(super) is_read: bool,
    /// Whether responses contain it.
    pub(super) is_written: bool,
}

/// Returns the missing operations, or only the one with this `operationId`. Returns `None` if the document does not have
/// it.
pub(super) fn operations<'a>(
    document: &'a Model<'a>,
    code: &Model<'_>,
    only: Option<&str>,
) -> Option<Vec<Operation<'a>>> {
    let mut operations: Vec<_> = match only {
        Some(id) => Vec::from([document.operation(id)?]),
        None => document.operations().collect(),
    };
    operations.retain(|operation| {
        let mut items = code.path_items().filter(|item| item.path() == operation.path());
        !items.any(|item| item.operation(operation.method()).is_some())
    });
    Some(operations)
}

/// Returns the missing schemas by name.
pub(super) fn schemas<'a>(document: &'a Model<'a>, code: &Model<'_>) -> BTreeMap<&'a str, MissingSchema<'a>> {
    let requests = document.operations().flat_map(|operation| {
        let parameters = operation.parameters().into_iter().map(|parameter| parameter.declared());
        parameters.chain(operation.child("requestBody"))
    });
    let responses = document.operations().filter_map(|operation| operation.child("responses"));
    let (read, written) = (schemas_of(requests), schemas_of(responses));
    let known: BTreeSet<_> = code.schemas().map(|(name, _)| name).collect();
    let missing = document.schemas().filter(|(name, _)| !known.contains(name));
    let missing = missing.map(|(name, schema)| {
        let (is_read, is_written) = (read.contains(name), written.contains(name));
        // Unreferenced: assume both request and response.
        let both = !is_read && !is_written;
        (name, MissingSchema { schema, is_read: is_read || both, is_written: is_written || both })
    });
    missing.collect()
}

/// Returns the names of the schemas that an operation uses, directly or indirectly.
pub(super) fn schemas_used<'a>(operation: &Operation<'a>) -> BTreeSet<&'a str> {
    schemas_of(operation.item().children("parameters").chain([**operation]))
}

/// Returns the names of the schemas in these objects and in what they refer to.
pub(super) fn schemas_of<'a>(objects: impl Iterator<Item = Object<'a>>) -> BTreeSet<&'a str> {
    let mut open: Vec<Object<'a>> = objects.collect();
    let (mut seen, mut names) = (HashSet::new(), BTreeSet::new());
    while let Some(object) = open.pop() {
        if seen.insert(object.id) {
            names.extend(component(object));
            open.extend(object.parts().chain(object.model().target(object.id)));
        }
    }
    names
}

/// Returns the name of a schema that is defined directly under `components/schemas`.
pub(super) fn component<'a>(object: Object<'a>) -> Option<&'a str> {
    let is_component = object.parent().is_some_and(|parent| parent.kind() == Kind::Components);
    (is_component && object.kind() == Kind::Schema).then(|| object.name())
}
