//! Mentions in descriptions and summaries.

use std::sync::LazyLock;

use document::finding::shortened;
use document::openapi::{Kind, Model};
use document::rule::Findings;
use http::StatusCode;
use regex::Regex;

use super::known::{Known, operation};
use super::{CODE, HEADER, NAME, OPERATION, Prose, STATUS};
use checks::lint::{is_camel, is_header};

/// Headers that the document need not declare: the HTTP library sends them, OpenAPI declares them by the keys
/// of `content`, or, as for `Allow`, only responses outside of operations have them.
const UNDECLARED: &[&str] = &["accept", "allow", "content-type", "date", "content-length", "host"];

/// Headers of one word. Other capitalised words are not treated as headers.
const ONE_WORD: &str = "\
    Accept Age Allow Authorization Connection Cookie Date Deprecation ETag Expect Expires Forwarded From \
    Host Link Location Origin Prefer Range Referer Server Sunset Trailer Upgrade Vary Via Warning";

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
/// Two words or more in lower case, with underscores between.
static SNAKE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new("^[a-z0-9]+(_[a-z0-9]+)+$").ok());
static CODE_SPANS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"`[A-Za-z][A-Za-z0-9_-]*`").ok());

pub(crate) fn check(model: &Model<'_>, known: &Known<'_>, findings: &mut Findings) {
    for owner in model.everything().filter(|object| !object.is_reference()) {
        for prose in ["summary", "description"].into_iter().filter_map(|keyword| Prose::of(owner, keyword)) {
            operations(prose, known, findings);
            statuses(prose, known, findings);
            words(prose, known, findings);
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
            None => known.statuses.contains(key) || known.listed.contains(key),
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

fn words(prose: Prose<'_>, known: &Known<'_>, findings: &mut Findings) {
    for span in CODE_SPANS.iter().flat_map(|regex| regex.find_iter(prose.text)) {
        let word = span.start() + 1..span.end() - 1;
        let text = &prose.text[word.clone()];
        let lower = text.to_ascii_lowercase();
        let looks_like_header =
            is_header(text) && (text.contains('-') || ONE_WORD.split(' ').any(|word| word == text));
        let is_declared = UNDECLARED.contains(&lower.as_str()) || known.headers.contains(&lower);
        let (rule, what, fix) = if known.names.contains(text) || (looks_like_header && is_declared) {
            continue;
        } else if looks_like_header {
            (&HEADER, "a declared header", "Declare it where it is sent, or correct the text.")
        } else if SNAKE.as_ref().is_some_and(|snake| snake.is_match(text)) {
            let fix = "Add it to the table of codes in `info.description`, or correct the text.";
            (&CODE, "an error code or a name in the document", fix)
        } else if is_camel(text) && text.contains(|c: char| c.is_ascii_uppercase()) {
            (&NAME, "a name in the document", "Correct the spelling, or the text.")
        } else {
            continue;
        };
        findings.add(rule, prose.spot(word), format!("`{text}` is mentioned, but is not {what}."), fix);
    }
}
