//! What the document has and the code lacks.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::operation::Operation;

const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/// Who holds a schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Uses {
    /// Requests do.
    pub(super) read: bool,
    /// Answers do.
    pub(super) written: bool,
}

pub(super) struct Missing {
    pub(super) operations: Vec<Operation>,
    pub(super) schemas: BTreeMap<String, Uses>,
}

impl Missing {
    /// All of it, or the operation with this `operationId`, whether it is missing or not.
    pub(super) fn find(document: &Value, served: &Value, only: Option<&str>) -> Result<Self, String> {
        let all = operations(document);
        let (operations, schemas): (Vec<Operation>, BTreeSet<String>) = match only {
            Some(id) => {
                let named = |operation: &&Operation| operation.object["operationId"] == id;
                let operation = all.iter().find(named).cloned();
                let operation = operation.ok_or(format!("the document has no operation `{id}`"))?;
                let schemas = schemas_of(document, &operation.object);
                (vec![operation], schemas)
            }
            None => {
                let lacks = |operation: &&Operation| {
                    served["paths"]
                        .get(&operation.path)
                        .and_then(|item| item.get(&operation.method))
                        .is_none()
                };
                (all.iter().filter(lacks).cloned().collect(), names(document))
            }
        };
        let known = names(served);
        let lacking = schemas.into_iter().filter(|name| !known.contains(name));
        let uses = uses(document, &all);
        // What nobody holds may be held by anybody.
        let either = Uses { read: true, written: true };
        let schemas = lacking.map(|name| {
            let uses = uses.get(&name).copied().unwrap_or(either);
            (name, uses)
        });
        let schemas = schemas.collect();
        Ok(Self { operations, schemas })
    }
}

fn operations(document: &Value) -> Vec<Operation> {
    let mut operations = Vec::new();
    for (path, item) in document["paths"].as_object().into_iter().flatten() {
        let entries = item.as_object().into_iter().flatten();
        for (method, object) in entries.filter(|(method, _)| METHODS.contains(&method.as_str())) {
            let mut object = object.clone();
            share(document, item, &mut object);
            operations.push(Operation { path: path.clone(), method: method.clone(), object });
        }
    }
    operations
}

/// Gives an operation the parameters of its path item, unless it has its own of that name and place.
fn share(document: &Value, item: &Value, operation: &mut Value) {
    let resolved = |parameter: &Value| {
        let pointer = parameter["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
        pointer.and_then(|pointer| document.pointer(pointer)).unwrap_or(parameter).clone()
    };
    let key = |parameter: &Value| (parameter["in"].clone(), parameter["name"].clone());
    let own = operation["parameters"].as_array().into_iter().flatten();
    let mut all: Vec<Value> = own.map(resolved).collect();
    for shared in item["parameters"].as_array().into_iter().flatten().map(resolved) {
        if !all.iter().any(|own| key(own) == key(&shared)) {
            all.push(shared);
        }
    }
    if let (Some(operation), false) = (operation.as_object_mut(), all.is_empty()) {
        operation.insert("parameters".to_owned(), Value::Array(all));
    }
}

fn names(document: &Value) -> BTreeSet<String> {
    let schemas = document.pointer("/components/schemas").and_then(Value::as_object);
    schemas.into_iter().flatten().map(|(name, _)| name.clone()).collect()
}

/// Who holds each schema, over all operations.
fn uses(document: &Value, operations: &[Operation]) -> BTreeMap<String, Uses> {
    let mut uses: BTreeMap<String, Uses> = BTreeMap::new();
    for operation in operations {
        let request = [&operation.object["parameters"], &operation.object["requestBody"]];
        for name in request.into_iter().flat_map(|part| schemas_of(document, part)) {
            uses.entry(name).or_default().read = true;
        }
        for name in schemas_of(document, &operation.object["responses"]) {
            uses.entry(name).or_default().written = true;
        }
    }
    uses
}

/// The schemas that something refers to, through whatever else it refers to.
pub(super) fn schemas_of(document: &Value, part: &Value) -> BTreeSet<String> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![part]);
    while let Some(next) = open.pop() {
        match next {
            Value::Array(items) => open.extend(items),
            Value::Object(entries) => {
                open.extend(entries.values());
                let reference = entries.get("$ref").and_then(Value::as_str);
                let target = reference.and_then(|reference| Some((reference, reference.strip_prefix('#')?)));
                if let Some((reference, pointer)) = target
                    && seen.insert(reference)
                {
                    open.extend(document.pointer(pointer));
                }
            }
            _ => {}
        }
    }
    let names = seen.into_iter().filter_map(|reference| reference.strip_prefix("#/components/schemas/"));
    names.map(str::to_owned).collect()
}
