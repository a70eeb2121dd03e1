//! The names in a document that descriptions may mention.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use document::Node;
use document::openapi::{Kind, Model};

use super::Prose;
use checks::lint::items;

/// A row of the table of error codes.
pub(crate) struct Listed<'a> {
    pub(crate) status: &'a str,
    /// The range of the row in the description.
    pub(crate) row: Range<usize>,
}

#[derive(Default)]
pub(crate) struct Known<'a> {
    /// `GET /pets/{}`.
    pub(crate) operations: HashSet<String>,
    /// The statuses of all responses, including `4XX` and `default`.
    pub(crate) statuses: HashSet<&'a str>,
    /// The statuses that the table of error codes lists.
    pub(crate) listed: HashSet<&'a str>,
    /// The table of error codes, if there is one.
    pub(crate) codes: BTreeMap<&'a str, Listed<'a>>,
    /// In lower case.
    pub(crate) headers: HashSet<String>,
    /// Fields, parameters, operations, components, variables, values.
    pub(crate) names: HashSet<&'a str>,
}

impl<'a> Known<'a> {
    pub(crate) fn of(model: &'a Model<'a>) -> Self {
        let mut known = Self::default();
        for object in model.everything() {
            let is_component = object.parent().is_some_and(|parent| parent.kind() == Kind::Components);
            if is_component || matches!(object.keyword(), "properties" | "variables") {
                known.names.insert(object.name());
            }
            let is_header = object.text("in") == Some("header");
            known.headers.extend(object.text("name").filter(|_| is_header).map(str::to_ascii_lowercase));
            match object.kind() {
                Kind::Operation => {
                    known.names.extend(object.text("operationId"));
                    let path = object.parent().map(|path| path.name()).unwrap_or_default();
                    known.operations.insert(operation(object.name(), path));
                    if object.name() == "get" {
                        known.operations.insert(operation("head", path));
                    }
                }
                Kind::Responses => known.statuses.extend(object.parts().map(|response| response.name())),
                Kind::Parameter => known.names.extend(object.text("name")),
                Kind::Schema => known.names.extend(items(object, "enum").iter().filter_map(Node::as_str)),
                Kind::Header => drop(known.headers.insert(object.name().to_ascii_lowercase())),
                Kind::SecurityScheme if !is_header => drop(known.headers.insert("authorization".to_owned())),
                _ => {}
            }
        }
        for prose in model.all(Kind::Info).filter_map(|info| Prose::of(info, "description")) {
            known.codes.extend(table(prose.text));
        }
        known.names.extend(known.codes.keys());
        known.listed = known.codes.values().map(|code| code.status).collect();
        known
    }
}

/// The key of an operation, without the names of its parameters.
pub(crate) fn operation(method: &str, path: &str) -> String {
    let is_value = |part: &str| {
        part.starts_with('{') || (!part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let path: Vec<_> = path.split('/').map(|part| if is_value(part) { "{}" } else { part }).collect();
    format!("{} {}", method.to_ascii_uppercase(), path.join("/"))
}

/// The rows ``| `code` | status | ...`` of a Markdown table.
static ROWS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?m)^[ \t]*\|[ \t]*`([^|\n]*)`[ \t]*\|[ \t]*([0-9]{3})[ \t]*(?:\|.*)?$").ok()
});

fn table(text: &str) -> BTreeMap<&str, Listed<'_>> {
    let mut codes = BTreeMap::new();
    for row in ROWS.iter().flat_map(|rows| rows.captures_iter(text)) {
        let (whole, [code, status]) = row.extract();
        let start = row.get(0).map_or(0, |row| row.start());
        let row = start..start + whole.trim_end().len();
        codes.entry(code).or_insert(Listed { status, row });
    }
    codes
}
