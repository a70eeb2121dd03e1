//! Reads what the recorder needs from the document.

use std::collections::BTreeMap;

use serde_json::Value;

use super::wire::RequestLine;

/// Returns the parameters of an operation: its own, and those of its path item that it does not override.
pub(super) fn parameters(document: &Value, item: &Value, operation: &Value) -> Vec<Value> {
    let mut found: Vec<Value> = Vec::new();
    for list in [&operation["parameters"], &item["parameters"]] {
        for parameter in list.as_array().into_iter().flatten() {
            let parameter = resolve(document, parameter);
            let key = |one: &Value| (one["name"].clone(), one["in"].clone());
            if found.iter().all(|known| key(known) != key(parameter)) {
                found.push(parameter.clone());
            }
        }
    }
    found
}

pub(super) fn entries(object: &Value) -> impl Iterator<Item = (&String, &Value)> {
    object.as_object().into_iter().flatten()
}

pub(super) fn resolve<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    match value["$ref"].as_str() {
        Some(reference) => {
            let pointer = reference.strip_prefix('#').expect("references stay in the document");
            document.pointer(pointer).unwrap_or_else(|| panic!("{reference} does not exist"))
        }
        None => value,
    }
}

/// Returns the path that all server URLs have in common.
pub(super) fn base_path(document: &Value) -> String {
    let servers = document["servers"].as_array().expect("the document has servers");
    let mut paths = servers.iter().map(|server| {
        let variables = entries(&server["variables"]);
        let url =
            variables.fold(server["url"].as_str().unwrap_or_default().to_owned(), |url, (name, variable)| {
                url.replace(&format!("{{{name}}}"), variable["default"].as_str().unwrap_or_default())
            });
        RequestLine { target: url, ..RequestLine::default() }.path().to_owned()
    });
    let first = paths.next().expect("the document has a server");
    assert!(paths.all(|path| path == first), "the servers have different base paths");
    first
}

/// Reads the rows `| code | status | ...` of the description.
pub(super) fn codes(document: &Value) -> BTreeMap<String, u16> {
    let description = document["info"]["description"].as_str().expect("the document has a description");
    let codes: BTreeMap<_, _> = description
        .lines()
        .filter_map(|line| {
            let mut cells = line.split('|').map(str::trim).skip(1);
            let code = cells.next()?.strip_prefix('`')?.strip_suffix('`')?;
            Some((code.to_owned(), cells.next()?.parse().ok()?))
        })
        .collect();
    assert!(!codes.is_empty(), "the description has no table of codes");
    codes
}
