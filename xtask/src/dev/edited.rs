//! The operations whose text differs between two versions of the document.

use std::collections::{BTreeMap, BTreeSet};

use document::Document;
use document::openapi::{Model, Object, Operation};
use document::rule::Findings;
use serde_json::Value;

/// What an edit of the document concerns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Edited {
    /// These operations, by operationId or else by method and path. None, if only comments or unused parts differ.
    Operations(BTreeSet<String>),
    /// The whole document, such as its servers; or an operation was removed.
    Everything,
}

/// An operation of the document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Route {
    /// The operationId, or else method and path.
    pub(super) name: String,
    /// The path template.
    pub(super) path: String,
}

/// Returns the operations of a document.
pub(super) fn routes(document: &Document) -> Vec<Route> {
    let model = Model::of(document, &mut Findings::default());
    model.operations().map(|it| Route { name: it.name(), path: it.path().to_owned() }).collect()
}

/// Compares the texts of the operations, with everything that they refer to.
pub(super) fn edited(old: &Document, new: &Document) -> Edited {
    let models = [old, new].map(|document| Model::of(document, &mut Findings::default()));
    let [before, after] = models.each_ref().map(operations);
    let is_removed = before.keys().any(|name| !after.contains_key(name));
    if is_removed || rest(old) != rest(new) {
        return Edited::Everything;
    }
    let differs = |(name, text): &(String, _)| before.get(name) != Some(text);
    Edited::Operations(after.into_iter().filter(differs).map(|(name, _)| name).collect())
}

/// The values that make up an operation, by their JSON pointers.
type Text = BTreeMap<String, Value>;

fn operations(model: &Model<'_>) -> BTreeMap<String, Text> {
    model.operations().map(|operation| (operation.name(), text(&operation))).collect()
}

/// Returns an operation, the parameters that it inherits, and all components that it refers to.
fn text(operation: &Operation<'_>) -> Text {
    let mut text = Text::new();
    let mut roots: Vec<Object<'_>> = operation.parameters().iter().map(|parameter| **parameter).collect();
    roots.push(**operation);
    while let Some(root) = roots.pop() {
        if text.insert(root.pointer(), root.node().to_json()).is_some() {
            continue;
        }
        let mut parts = vec![root];
        while let Some(part) = parts.pop() {
            match part.is_reference() {
                true => roots.extend(part.resolved()),
                false => parts.extend(part.parts()),
            }
        }
    }
    text
}

/// Returns what belongs to no single operation. Security schemes are referred to by name, not by `$ref`.
fn rest(document: &Document) -> Value {
    let mut rest = document.root.to_json();
    let security = rest.pointer("/components/securitySchemes").cloned();
    if let Some(rest) = rest.as_object_mut() {
        rest.remove("paths");
        rest.insert("components".to_owned(), security.unwrap_or_default());
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "openapi: 3.0.3
info: {title: T, version: 1.0.0}
paths:
  /toys:
    parameters: [{$ref: '#/components/parameters/Page'}]
    get:
      operationId: listToys
      responses: {'200': {description: d, content: {application/json: {schema: {$ref: '#/components/schemas/Toys'}}}}}
    post:
      operationId: createToy
      parameters: [{name: page, in: query, schema: {type: string}}]
      responses: {'201': {description: d, content: {application/json: {schema: {$ref: '#/components/schemas/Toy'}}}}}
  /about:
    get:
      operationId: about
      responses: {'200': {description: about}}
components:
  parameters:
    Page: {name: page, in: query, schema: {type: integer}}
  schemas:
    Toys: {type: array, items: {$ref: '#/components/schemas/Toy'}}
    Toy: {type: object, properties: {parts: {$ref: '#/components/schemas/Toys'}, name: {type: string}}}
    Unused: {type: string}
  securitySchemes:
    key: {type: http, scheme: bearer}
";

    fn after(old: &str, new: &str) -> Edited {
        assert_eq!(TEXT.matches(old).count(), 1, "{old}");
        let document = |text: &str| Document::parse("toys.yaml", text).unwrap();
        edited(&document(TEXT), &document(&TEXT.replace(old, new)))
    }

    #[test]
    fn an_edit_concerns_the_operations_that_use_its_place() {
        for (old, new, names) in [
            ("description: about", "description: who", &["about"][..]),
            // Through two schemas that refer to each other.
            ("name: {type: string}", "name: {type: integer}", &["createToy", "listToys"]),
            ("Toys: {type: array, ", "Toys: {type: array, maxItems: 9, ", &["createToy", "listToys"]),
            // `createToy` replaces the parameter of its path.
            (
                "Page: {name: page, in: query, schema: {type: integer",
                "Page: {name: page, in: query, schema: {type: number",
                &["listToys"],
            ),
            ("Unused: {type: string}", "Unused: {type: integer}", &[]),
            ("openapi: 3.0.3\n", "# A comment.\nopenapi: 3.0.3\n", &[]),
            ("  /about:\n", "  /new:\n    get: {operationId: added, responses: {}}\n  /about:\n", &["added"]),
        ] {
            let names = names.iter().map(|&name| name.to_owned()).collect();
            assert_eq!(after(old, new), Edited::Operations(names), "{new}");
        }
    }

    #[test]
    fn what_belongs_to_no_operation_concerns_everything() {
        for (old, new) in [
            ("version: 1.0.0", "version: 1.1.0"),
            ("scheme: bearer", "scheme: basic"),
            ("operationId: about", "operationId: aboutUs"),
        ] {
            assert_eq!(after(old, new), Edited::Everything, "{new}");
        }
    }
}
