//! Descriptions that mention operations, status codes or names that do not exist.
//!
//! A mention is `GET /pets`, a number that is a status code by its context, or a word in backticks that is spelled
//! like an error code, a property or a header. Ambiguous words are not checked.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::LazyLock;

use checks::lint::items;
use checks::rule::{Findings, rules};
use document::openapi::{Kind, Model, Object, Step};
use document::place::Spot;
use document::shortened;
use document::{Node, Span};
use http::StatusCode;
use regex::Regex;

rules! {
    OPERATION: Strict Error "prose-operation", "this project",
        "Each operation that a description mentions, such as `GET /pets`, exists.";
    STATUS: Strict Error "prose-status", "this project",
        "Each status code that a description mentions is a response of that operation; elsewhere, of any \
         operation or in the table of error codes.";
    NAME: Strict Error "prose-name", "this project",
        "Each word in backticks that is in camelCase or snake_case, or written like a header with a hyphen, \
         is a name in the document or an error code of the table in `info.description`.";
}

/// Headers that the document need not declare: the HTTP library sends them, or OpenAPI declares them by the keys of
/// `content`.
const UNDECLARED: [&str; 2] = ["Content-Type", "Content-Length"];

static OPERATIONS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"\b(GET|PUT|POST|DELETE|OPTIONS|HEAD|PATCH|TRACE) (/[^\s`'")\]>,;?]*)"#).ok()
});
/// A number after a word for a status, in backticks or in a cell of a table. A noun after it makes it a count.
static STATUSES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let before = r"\b(?:answers?|answered|code|gets?|gives|returns?|returned|status) |`|\| *";
    let after =
        r"[`.;:)|]|,\s|\s*(?:$|\|)|\s+(?:an?|and|because|for|if|or|unless|until|when|while|with|without)\b";
    Regex::new(&format!("(?im)(?:{before})([1-5][0-9][0-9])(?:{after})")).ok()
});
static NAMES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let (snake, camel) = ("[a-z0-9]+(?:_[a-z0-9]+)+", "[a-z][a-z0-9]*[A-Z][A-Za-z0-9]*");
    let header = "x(?:-[a-z0-9]+)+|[A-Z][A-Za-z0-9]*(?:-[A-Z][A-Za-z0-9]*)+";
    Regex::new(&format!("`({snake}|{camel}|{header})`")).ok()
});

/// The names in a document that descriptions may mention.
struct Known<'a> {
    /// `GET /pets/{}`.
    operations: HashSet<String>,
    /// The statuses of all responses, including `4XX` and `default`, and those of the table of error codes.
    statuses: HashSet<&'a str>,
    /// Fields, parameters, headers, operations, components, variables, values, error codes.
    names: HashSet<&'a str>,
    /// Those of the names that have a hyphen, in lower case: names of headers are case-insensitive.
    hyphenated: HashSet<String>,
}

impl<'a> Known<'a> {
    fn of(model: &'a Model<'a>, codes: &HashMap<&'a str, &'a str>) -> Self {
        let mut operations = HashSet::new();
        let mut statuses: HashSet<&str> = codes.values().copied().collect();
        let mut names: HashSet<&str> = codes.keys().copied().chain(UNDECLARED).collect();
        for object in model.everything() {
            let is_component = object.parent().is_some_and(|parent| parent.kind() == Kind::Components);
            if is_component || matches!(object.keyword(), "properties" | "variables" | "headers") {
                names.insert(object.name());
            }
            match object.kind() {
                Kind::Operation => {
                    names.extend(object.text("operationId"));
                    let path = object.parent().map(|path| path.name()).unwrap_or_default();
                    operations.insert(operation(object.name(), path));
                    if object.name() == "get" {
                        operations.insert(operation("head", path));
                    }
                }
                Kind::Responses => statuses.extend(object.parts().map(|response| response.name())),
                Kind::Parameter | Kind::SecurityScheme => names.extend(object.text("name")),
                Kind::Schema => names.extend(items(object, "enum").iter().filter_map(Node::as_str)),
                _ => {}
            }
        }
        let hyphenated = names.iter().filter(|name| name.contains('-'));
        let hyphenated = hyphenated.map(|name| name.to_ascii_lowercase()).collect();
        Self { operations, statuses, names, hyphenated }
    }
}

/// The key of an operation, without the names of its parameters.
fn operation(method: &str, path: &str) -> String {
    let is_value = |part: &str| {
        part.starts_with('{') || (!part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let path: Vec<_> = path.split('/').map(|part| if is_value(part) { "{}" } else { part }).collect();
    format!("{} {}", method.to_ascii_uppercase(), path.join("/"))
}

pub(super) fn check(model: &Model<'_>, findings: &mut Findings) {
    let known = Known::of(model, &super::errors::codes(model));
    for owner in model.everything().filter(|object| !object.is_reference()) {
        for keyword in ["summary", "description"] {
            if let Some((node, text)) = owner.get(keyword).and_then(|node| Some((node, node.as_str()?))) {
                let prose = Prose { owner, keyword, node, text };
                operations(prose, &known, findings);
                statuses(prose, &known, findings);
                names(prose, &known, findings);
            }
        }
    }
}

fn operations(prose: Prose<'_>, known: &Known<'_>, findings: &mut Findings) {
    for found in OPERATIONS.iter().flat_map(|regex| regex.captures_iter(prose.text)) {
        let (Some(method), Some(path)) = (found.get(1), found.get(2)) else { continue };
        let name = path.as_str().trim_end_matches(['.', ':', '!']);
        if !known.operations.contains(&operation(method.as_str(), name)) {
            let message = format!("The operation `{} {}` does not exist.", method.as_str(), shortened(name));
            let fix = "Write a method and a path that are in `paths`.";
            findings.add(&OPERATION, prose.spot(method.start()..path.start() + name.len()), message, fix);
        }
    }
}

fn statuses(prose: Prose<'_>, known: &Known<'_>, findings: &mut Findings) {
    let operation = prose.owner.within(Kind::Operation);
    for number in STATUSES.iter().flat_map(|regex| regex.captures_iter(prose.text)) {
        let Some(number) = number.get(1).filter(|number| is_assigned(number.as_str())) else { continue };
        let status = number.as_str();
        let has = |key: &str| match operation {
            Some(own) => own.get("responses").is_some_and(|responses| responses.get(key).is_some()),
            None => known.statuses.contains(key),
        };
        if ![status, &format!("{}XX", &status[..1]), "default"].into_iter().any(has) {
            let owner = operation.map_or("any operation".to_owned(), |own| own.subject().to_string());
            let message = format!("{status} is mentioned, but is not a response of {owner}.");
            let fix = "Add it to `responses`, or correct the text.";
            findings.add(&STATUS, prose.spot(number.range()), message, fix);
        }
    }
}

fn is_assigned(status: &str) -> bool {
    StatusCode::from_bytes(status.as_bytes()).is_ok_and(|status| status.canonical_reason().is_some())
}

fn names(prose: Prose<'_>, known: &Known<'_>, findings: &mut Findings) {
    let is_known =
        |name: &str| known.names.contains(name) || known.hyphenated.contains(&name.to_ascii_lowercase());
    let found = NAMES.iter().flat_map(|regex| regex.captures_iter(prose.text));
    for name in found.filter_map(|found| found.get(1)).filter(|name| !is_known(name.as_str())) {
        let message = format!("`{}` is mentioned, but is not a name in the document.", name.as_str());
        let fix = "Correct the text, declare the header, or add the code to the table in `info.description`.";
        findings.add(&NAME, prose.spot(name.range()), message, fix);
    }
}

/// In a text of more bytes than this, a finding marks the whole text instead of the word.
const MAX_BYTES: usize = 1 << 16;

/// A description or summary and its place.
#[derive(Clone, Copy)]
struct Prose<'a> {
    owner: Object<'a>,
    keyword: &'static str,
    node: &'a Node,
    text: &'a str,
}

impl Prose<'_> {
    /// Returns the place of a part of the text. The part must be within one line, because the text does not
    /// contain the indentation and quotes of the file.
    fn spot(&self, part: Range<usize>) -> Spot {
        if self.text.len() > MAX_BYTES {
            return self.owner.value_spot(self.keyword);
        }
        let whole = self.node.span;
        let word = &self.text[part.clone()];
        let before = self.text[..part.start].matches(word).count();
        let raw = self.owner.model().source().get(whole.start..whole.end).unwrap_or_default();
        let span = match raw.match_indices(word).nth(before) {
            Some((offset, _)) => {
                let inner = Span::within(raw, offset..offset + word.len());
                let column = if inner.line == 1 { whole.column - 1 } else { 0 };
                Span {
                    start: whole.start + inner.start,
                    end: whole.start + inner.end,
                    line: whole.line + inner.line - 1,
                    column: column + inner.column,
                }
            }
            None => whole,
        };
        self.owner.spot_at(&[Step::Key(self.keyword)], span)
    }
}
