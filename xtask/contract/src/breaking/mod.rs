//! Compares two OpenAPI documents: what changed, and the impact on clients.
//!
//! The base is the document that clients rely on, the revision the one that they will get. Whether a change
//! breaks clients depends on the direction: from one version to the next, a request may be accepted in more
//! cases but not in fewer, and a response may promise more but not less. So each schema is compared in each
//! [`Role`](rules::Role) that it plays, and one line of the file can break one operation and not another.
//!
//! The names of the rules are those of oasdiff where it has the same rule. Where the severity differs, the
//! table in `tests/breaking` gives the reason. Running oasdiff itself was rejected: it ignores servers and
//! `additionalProperties`, takes a change of credentials for harmless, and is one more program to install.
//!
//! Every difference is reported: keywords that no rule knows are compared as data. Ignored are titles,
//! summaries, descriptions, examples, and the order of keys.
//!
//! Reading order: [`paths`] and [`operation`] walk down the document, [`schema`] compares values, [`comparer`]
//! collects the changes, [`version`] and [`waivers`] judge them.

mod change;
pub mod changelog;
mod comparer;
mod components;
mod data;
mod deprecation;
mod header;
mod media_type;
mod operation;
mod outcome;
mod parameter;
mod paths;
mod place;
mod released;
mod response;
mod rules;
mod schema;
mod security;
mod security_schemes;
mod servers;
mod unknown;
pub mod version;
pub mod waivers;

pub use change::{Change, Location};
pub use changelog::changelog;
pub use outcome::{FailOn, Outcome};
pub use released::newest;
pub use rules::{Bump, ChangeRule, Chapter, change_rules};

use jiff::civil::Date;

use crate::document::{Document, Node};
use crate::finding::{Finding, Subject};
use crate::openapi::Model;
use crate::rule::{Findings, Rule};
use comparer::Comparer;

/// The rules of [`Model::of`] whose findings mean that a part of the document is not understood.
const NOT_UNDERSTOOD: [&str; 4] = ["struct-type", "struct-key", "invalid-ref", "no-circular-refs"];
/// From here on a count is not exact, since findings of a rule are limited.
const MANY: usize = 100;

/// All rules.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    change_rules().map(|rule| &rule.rule)
}

/// What changed from `base` to `revision`, the most severe first, then in the order of the file. `today`
/// decides which sunset dates have passed. The version is judged by [`version::judge`].
pub fn compare(base: &Document, revision: &Document, today: Date) -> Vec<Change> {
    let (mut in_base, mut in_revision) = (Findings::default(), Findings::default());
    let models = (Model::of(base, &mut in_base), Model::of(revision, &mut in_revision));
    let mut changes = Vec::new();
    let mut understood = true;
    for (document, findings) in [(base, in_base), (revision, in_revision)] {
        let version = document.root.get("openapi");
        let is_3_0 = |text: &str| text == "3.0" || text.starts_with("3.0.");
        if version.and_then(Node::as_str).is_some_and(is_3_0) {
            changes.extend(not_understood(document, findings.sorted()));
        } else {
            understood = false;
            let what = "only documents with `openapi: 3.0.x` can be compared".to_owned();
            let span = version.map_or(document.root.span, |node| node.span);
            let pointer = version.map_or("", |_| "/openapi").to_owned();
            let place = Location { file: document.path.clone(), pointer, span };
            changes.push(change(Subject::document(), place, what));
        }
    }
    if understood {
        let mut cx = Comparer::new(&models.0, &models.1, today);
        let (old, new) = (models.0.root(), models.1.root());
        unknown::compare(&mut cx, &old, &new, &[]);
        for (old, new) in old.child("info").into_iter().zip(new.child("info")) {
            unknown::compare(&mut cx, &old, &new, &[]);
        }
        servers::compare(&mut cx, &old, &new);
        components::compare(&mut cx);
        paths::compare(&mut cx);
        schema::compare_waiting(&mut cx);
        components::compare_unused(&mut cx);
        changes.extend(cx.finish(base, revision));
    }
    changes.sort_by(|one, other| {
        let place =
            |change: &Change| (change.place.span.start, change.base.as_ref().map(|base| base.span.start));
        let severity = other.rule.severity.cmp(&one.rule.severity);
        severity.then_with(|| place(one).cmp(&place(other))).then_with(|| one.rule.name.cmp(other.rule.name))
    });
    changes
}

/// One change for all places of a document that are not understood, at the first of them.
fn not_understood(document: &Document, findings: Vec<Finding>) -> Option<Change> {
    let mut places: Vec<_> =
        findings.into_iter().filter(|finding| NOT_UNDERSTOOD.contains(&finding.rule.as_str())).collect();
    places.sort_by_key(|finding| finding.span.start);
    let count = match places.len() {
        1 => "1 place is".to_owned(),
        count if count > MANY => format!("more than {MANY} places are"),
        count => format!("{count} places are"),
    };
    let first = places.into_iter().next()?;
    let what = format!("{count} not understood, first this: {}", first.message.trim_end_matches('.'));
    let place = Location { file: document.path.clone(), pointer: first.pointer, span: first.span };
    Some(change(first.subject, place, what))
}

fn change(subject: Subject, place: Location, what: String) -> Change {
    let rule = &rules::NOT_UNDERSTOOD;
    Change { rule, subject, what, place, base: None, operations: Vec::new(), waived: None }
}
