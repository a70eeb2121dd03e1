//! Compares two OpenAPI documents: what changed, and the impact on clients.
//!
//! The base is the document that clients rely on, the revision the one that they will get. Whether a change
//! breaks clients depends on the direction: a new version may accept more requests but not fewer, and may send
//! fewer kinds of responses but not more. So each schema is compared in each [`Role`](rules::Role) that it has,
//! and one edit can break one operation and leave another compatible.
//!
//! The names of the rules are those of oasdiff where it has the same rule. Where the severity differs, the
//! table in `tests/checks/breaking` gives the reason. Running oasdiff itself was rejected: it ignores servers and
//! `additionalProperties`, reports a change of credentials as harmless, and is one more program to install.
//!
//! Keywords without a rule are compared as data. Titles, summaries, descriptions, examples, the order of keys, and
//! keywords that are written in another way with the same meaning are ignored.
//!
//! Reading order: [`paths`] and [`operation`] traverse the document, [`matching`] pairs items of the two documents,
//! [`schema`] compares values, [`comparer`] collects the changes, [`version`] and [`waivers`] evaluate them.

mod callback;
mod change;
pub mod changelog;
mod comparer;
mod components;
mod conjunction;
mod data;
mod deprecation;
mod encoding;
mod exploded;
pub(crate) mod fix;
mod found;
mod lists;
mod matching;
mod media_type;
mod operation;
mod parameter;
mod paths;
mod place;
mod response;
mod rules;
mod schema;
mod schemes;
mod security;
mod servers;
mod stability;
mod subtypes;
pub(crate) mod undo;
mod unknown;
mod users;
pub mod version;
pub(crate) mod waivers;

pub use change::Change;
pub use changelog::changelog;
pub use rules::{Bump, ChangeRule, Chapter, change_rules};
pub use users::MAX_OPERATIONS;

use std::cmp::Reverse;

use jiff::civil::Date;

use comparer::Comparer;
use document::Document;
use document::openapi::{Invalid, Model, Reason};
use place::At;

use crate::finding::{Location, Severity, capitalised};
use crate::rule::Rule;
use crate::understood::LeftOut;

/// All rules.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    change_rules().map(|rule| &rule.rule)
}

/// One of the two documents of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// The document.
    pub document: &'a Document,
    /// Its model.
    pub model: &'a Model<'a>,
}

/// Returns the changes from `base` to `revision`, the most severe first, then in the order of the file. `today`
/// decides which sunset dates have passed. [`version::judge`] checks the version.
pub fn compare(base: &Document, revision: &Document, today: Date) -> Vec<Change> {
    let [old, new] = [base, revision].map(Model::of);
    let (base, revision) = (Side { document: base, model: &old }, Side { document: revision, model: &new });
    compare_sides(base, revision, today)
}

/// [`compare`] for documents whose models exist.
pub fn compare_sides(base: Side<'_>, revision: Side<'_>, today: Date) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    for (side, other) in [(base, revision), (revision, base)] {
        let left_out = LeftOut::of(side.model, |place| is_unchanged(place, side, other));
        changes.extend(left_out.map(|left_out| not_understood(side.document, left_out)));
    }
    let is_harmless =
        |place: &Invalid<'_>| place.reason != Some(Reason::OtherFile) || !is_unchanged(place, revision, base);
    let elsewhere = LeftOut::of(revision.model, is_harmless);
    // The other file may have changed.
    changes.extend(elsewhere.map(|left_out| Change {
        severity: Severity::Warning,
        ..not_understood(revision.document, left_out)
    }));
    let mut cx = Comparer::new(base.model, revision.model, today);
    let (old, new) = (base.model.root(), revision.model.root());
    unknown::compare(&mut cx, &old, &new, &[]);
    for (old, new) in old.child("info").into_iter().zip(new.child("info")) {
        unknown::compare(&mut cx, &old, &new, &[]);
    }
    components::compare(&mut cx);
    paths::compare(&mut cx);
    schema::compare_waiting(&mut cx);
    let root = At::of(&cx.revision.root());
    let documents = (base.document, revision.document);
    changes.extend(cx.found.into_changes(&cx.users, documents, root));
    changes.sort_by_cached_key(|change| {
        let base = change.base.as_ref().map(|base| base.span.start);
        (Reverse(change.severity), change.place.span.start, base, change.rule.name)
    });
    changes
}

/// Whether the other document has the same value at a place that is not understood, and so no change there.
fn is_unchanged(place: &Invalid<'_>, side: Side<'_>, other: Side<'_>) -> bool {
    let pointer = place.spot(side.model).pointer;
    let value = |side: Side<'_>| side.document.root.pointer(&pointer).map(data::canonical);
    value(side).is_some() && value(side) == value(other)
}

/// Returns one change for all the places of a document that are not understood.
fn not_understood(document: &Document, LeftOut { first, message, .. }: LeftOut) -> Change {
    // Some messages begin with the subject, which every change names.
    let what = message.strip_prefix(&capitalised(&first.subject.to_string())).unwrap_or(&message);
    let what = what.trim().trim_end_matches('.').to_owned();
    let place = Location { file: document.path.clone(), pointer: first.pointer, span: first.span };
    Change::new(&rules::NOT_UNDERSTOOD, first.subject, what, place)
}
