//! The documents that the tests edit.

use checks::breaking::{Change, compare};
use document::Document;
pub(crate) use fixtures::{LIBRARY, TODAY};

/// A document with constructs that `LIBRARY` does not use.
pub(crate) const SHAPES: &str = include_str!("shapes.yaml");

pub(crate) fn document(path: &str, text: &str) -> Document {
    Document::parse(path, text).unwrap_or_else(|unreadable| panic!("{path}: {:?}", unreadable.problem))
}

pub(crate) fn changes(base: &str, revision: &str) -> Vec<Change> {
    compare(&document("base.yaml", base), &document("new.yaml", revision), TODAY)
}

/// Replaces the first `find` after `after`. Returns the text and the offset after the replacement.
pub(crate) fn edit(text: &str, after: &str, find: &str, replace: &str) -> (String, usize) {
    let from = text.find(after).unwrap_or_else(|| panic!("there is no {after:?}"));
    edit_from(text, from, find, replace)
}

pub(crate) fn edit_from(text: &str, from: usize, find: &str, replace: &str) -> (String, usize) {
    let at = from + text[from..].find(find).unwrap_or_else(|| panic!("there is no {find:?}"));
    (format!("{}{replace}{}", &text[..at], &text[at + find.len()..]), at + replace.len())
}

/// Returns a small document with these paths and components.
pub(crate) fn small(paths: &str, components: &str) -> String {
    format!("openapi: 3.0.3\ninfo: {{title: t, version: 1.0.0}}\npaths: {paths}\ncomponents: {components}\n")
}

/// Returns a document whose only operation has this schema in its request and response.
pub(crate) fn with_schema(schema: &str, schemas: &str) -> String {
    let content = format!("content: {{application/json: {{schema: {schema}}}}}");
    let paths = format!(
        "{{/a: {{post: {{requestBody: {{{content}}}, responses: {{'200': {{description: d, {content}}}}}}}}}}}"
    );
    small(&paths, &format!("{{schemas: {schemas}}}"))
}
