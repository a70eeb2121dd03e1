//! Whether what the prose mentions exists: operations, statuses, error codes, headers, fields.
//!
//! Prose goes stale silently. A description may say that something is answered 409 long after nothing is,
//! or name a field by what it used to be called. So each mention is looked up: an operation as
//! `GET /pets`, a status by its number, and in backticks a code or field by its spelling and a header by
//! its capitals. Words that could be anything are left alone.
//!
//! The other way round, each error in an example has a code that the table in `info.description` lists,
//! under the status that it is answered with.

mod codes;
mod known;
mod mentions;

use crate::document::{Node, Span};

use self::known::Known;
use crate::finding::Spot;
use crate::openapi::{Model, Object, Step};
use crate::rule::{Findings, Rule};

pub(crate) const RULES: &[&Rule] = &[
    &mentions::OPERATION,
    &mentions::STATUS,
    &mentions::CODE,
    &mentions::HEADER,
    &mentions::NAME,
    &codes::LISTED,
    &codes::STATUS,
    &codes::USED,
];

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    let known = Known::of(model);
    mentions::check(model, &known, findings);
    codes::check(model, &known, findings);
}

/// In a text longer than this, in bytes, a word is not looked for: the text itself is pointed at.
const LONGEST: usize = 1 << 16;

/// A piece of prose, and where it is.
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

    /// The place of a part of the text. In the file there may be indentation and quotes around it, but what
    /// is on one line reads the same.
    fn spot(&self, part: std::ops::Range<usize>) -> Spot {
        let Span { start, end, .. } = self.node.span;
        let word = &self.text[part.clone()];
        if self.text.len() > LONGEST {
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
