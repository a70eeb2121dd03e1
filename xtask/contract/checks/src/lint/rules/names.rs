//! The spelling of names and keys.

use heck::{ToLowerCamelCase, ToPascalCase};

use document::finding::{Spot, shortened};
use document::openapi::{Kind, Model};
use document::pointer;
use document::rule::{Findings, rules};

rules! {
    OPERATION: Strict Error "operation-id-case", "this tool",
        "An `operationId` is in camelCase.";
    SCHEMA: Strict Error "schema-name-case", "this tool",
        "The names of `components/schemas` are in PascalCase.";
    FIELD: Strict Error "field-name-case", "this tool",
        "Property names, and parameter names except those of headers, are in camelCase.";
    MERGE_KEY: Spec Warning "yaml-merge-key", "OpenAPI 3.0.3, 4.3; YAML 1.1",
        "No mapping has a merge key (`<<`), because YAML 1.2 has none.";
}

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    if model.source().contains("<<") {
        merge_keys(model, findings);
    }
    for object in model.everything() {
        let (rule, what, keyword) = match (object.kind(), object.keyword()) {
            (Kind::Operation, _) => (&OPERATION, "`operationId`", "operationId"),
            (Kind::Schema, "schemas") => (&SCHEMA, "schema name", ""),
            (Kind::Schema, "properties") => (&FIELD, "property", ""),
            (Kind::Parameter, _) if object.text("in") != Some("header") => (&FIELD, "parameter", "name"),
            _ => continue,
        };
        let name = if keyword.is_empty() { Some(object.name()) } else { object.text(keyword) };
        let Some(name) = name else { continue };
        let (case, right) = match object.keyword() {
            "schemas" => ("PascalCase", name.to_pascal_case()),
            _ => ("camelCase", name.to_lower_camel_case()),
        };
        // A word of ASCII letters and digits that begins with a letter of the right case. It may have more capitals than
        // the conversion, such as `petID`.
        let is_right = |name: &str| {
            let is_first =
                if case == "PascalCase" { char::is_ascii_uppercase } else { char::is_ascii_lowercase };
            name.starts_with(|first| is_first(&first))
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
        };
        if is_right(name) {
            continue;
        }
        let message = format!("The {what} `{}` is not in {case}.", shortened(name));
        let spot = object.value_spot(keyword);
        if is_right(&right) {
            findings.add(rule, spot, message, format!("Write `{}`.", shortened(&right))).rename(&right);
        } else {
            let fix = "Write a name of ASCII letters and digits that begins with a letter.";
            findings.add(rule, spot, message, fix);
        }
    }
}

fn merge_keys(model: &Model<'_>, findings: &mut Findings) {
    let mut open = vec![(model.root(), String::new(), model.root().node())];
    while let Some((owner, pointer, node)) = open.pop() {
        let owner = model.at(node).unwrap_or(owner);
        if let Some(span) = node.merge_key() {
            let subject = owner.subject();
            let message = format!(
                "{subject} has the merge key `<<` of YAML 1.1. Tools for YAML 1.2 do not merge, and read a key `<<`."
            );
            let spot = Spot { pointer: pointer.clone(), span, subject, alias: None };
            findings.add(&MERGE_KEY, spot, message, "Write the keys out, or use a `$ref`.");
        }
        let own = node.entries().iter().filter(|entry| node.inherited(entry).is_none());
        let values = own.map(|entry| (pointer::below(pointer.as_str(), &entry.key), &entry.value));
        let items = node.items().iter().enumerate();
        let items = items.map(|(number, item)| (pointer::below(pointer.as_str(), &number.to_string()), item));
        let parts = values.chain(items).filter(|(_, node)| node.alias.is_none());
        open.extend(parts.map(|(pointer, node)| (owner, pointer, node)));
    }
}
