//! Descriptions that mention operations, status codes, error codes, headers or properties that do not exist.
//!
//! A mention is `GET /pets`, a number that is a status code by its context, or a word in backticks that is spelled
//! like an error code, a property or a header. Ambiguous words are not checked.
//!
//! The error codes of examples are compared with the table in `info.description`.

mod codes;
mod known;
mod mentions;

use document::finding::Spot;
use document::openapi::{Model, Object, Step};
use document::rule::{Findings, rules};
use document::{Node, Span};

use self::known::Known;

rules! {
    OPERATION: Strict Error "prose-operation", "this project",
        "Each operation that a description mentions, such as `GET /pets`, exists.";
    STATUS: Strict Error "prose-status", "this project",
        "Each status code that a description mentions is a response of that operation; elsewhere, of any \
         operation or in the table of error codes.";
    CODE: Strict Error "prose-code", "this project",
        "Each snake_case word in backticks is an error code of the table in `info.description` or a name in \
         the document.";
    HEADER: Strict Error "prose-header", "this project",
        "Each header in backticks is declared by a request or response.";
    NAME: Strict Error "prose-name", "this project",
        "Each camelCase word in backticks is a property, parameter or other name in the document.";
    CODE_LISTED: Strict Error "error-code-listed", "this project",
        "The `code` of each error example is in the table of `info.description`, with the same status.";
    CODE_STATUS: Strict Error "error-example-status", "this project",
        "The `status` of each error example is the status of its response.";
    CODE_USED: Strict Error "error-code-used", "this project",
        "Each code in the table of `info.description` has a status that an operation returns, or is \
         explained elsewhere in `info.description`.";
}

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    let known = Known::of(model);
    mentions::check(model, &known, findings);
    codes::check(model, &known, findings);
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

impl<'a> Prose<'a> {
    fn of(owner: Object<'a>, keyword: &'static str) -> Option<Self> {
        let node = owner.get(keyword)?;
        Some(Self { owner, keyword, node, text: node.as_str()? })
    }

    /// Returns the place of a part of the text. The part must be within one line, because the text does not
    /// contain the indentation and quotes of the file.
    fn spot(&self, part: std::ops::Range<usize>) -> Spot {
        let Span { start, end, .. } = self.node.span;
        let word = &self.text[part.clone()];
        if self.text.len() > MAX_BYTES {
            return self.owner.value_spot(self.keyword);
        }
        let before = self.text[..part.start].matches(word).count();
        let raw = self.owner.model().source().get(start..end).unwrap_or_default();
        let span = match raw.match_indices(word).nth(before) {
            Some((offset, _)) => within(self.node.span, raw, offset, word.len()),
            None => self.node.span,
        };
        self.owner.spot_at(&[Step::Key(self.keyword)], span)
    }
}

fn within(whole: Span, raw: &str, offset: usize, length: usize) -> Span {
    let before = &raw[..offset];
    let (line, column) = match before.rfind('\n') {
        Some(last) => (whole.line + before.matches('\n').count(), before[last + 1..].chars().count() + 1),
        None => (whole.line, whole.column + before.chars().count()),
    };
    let start = whole.start + offset;
    Span { start, end: start + length, line, column }
}
