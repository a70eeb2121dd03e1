//! The spelling of names and keys.

use heck::{ToLowerCamelCase, ToPascalCase};

use document::openapi::{Kind, Model};
use document::shortened;

use checks::rule::{Findings, rules};

rules! {
    OPERATION: Strict Error fix Unsafe "operation-id-case", "this project",
        "An `operationId` is in camelCase.";
    SCHEMA: Strict Error fix Unsafe "schema-name-case", "this project",
        "The names of `components/schemas` are in PascalCase.";
    FIELD: Strict Error fix Unsafe "field-name-case", "this project",
        "Property names, and parameter names except those of headers, are in camelCase.";
}

pub(super) fn check(model: &Model<'_>, findings: &mut Findings) {
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
