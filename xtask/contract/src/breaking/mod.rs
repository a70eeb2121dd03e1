//! `cargo xtask breaking`: what changed between two OpenAPI documents, and whom it breaks.
//!
//! The base is what clients rely on, the revision what they will get. Whether a change breaks them is a
//! question of direction: a request may take more from one version to the next but never less, an answer
//! may promise more but never less. So every schema is looked at in each [`role`](role::Role) it plays,
//! request or response, and one line of the file can break one operation and please another.
//!
//! Names of rules are those of oasdiff, the field's reference, wherever it has one. Where we find a change
//! worse or better than it does, the table in the tests says why. Rejected: running oasdiff itself. It
//! knows nothing of servers or of `additionalProperties`, calls a change of credentials harmless, and
//! would be one more program to have at hand.
//!
//! Nothing that differs is passed over: keywords that no rule knows are compared as data. Words are not
//! looked at: titles, summaries, descriptions, examples, and the order of keys.
//!
//! Reading order: [`paths`] and [`operation`] walk down the document, [`schema`] compares what travels,
//! [`comparer`] collects, [`locate`] finds line and column, [`version`] and [`waivers`] judge.

pub mod change;
pub mod changelog;
mod comparer;
mod components;
mod deprecation;
mod families;
mod header;
mod locate;
mod media_type;
mod operation;
mod outcome;
mod parameter;
mod paths;
mod released;
mod request_body;
mod response;
mod role;
pub mod rules;
mod schema;
mod security;
mod security_schemes;
mod servers;
mod unknown;
mod values;
pub mod version;
pub mod waivers;

pub use change::{Change, Location};
pub use changelog::changelog;
pub use outcome::{FailOn, Outcome};
pub use released::newest;

use jiff::civil::Date;

use crate::document::Document;
use comparer::{Comparer, Side};

/// The keywords of the root, OpenAPI 3.0.3, section 4.7.1.
const KEYWORDS: [&str; 8] =
    ["openapi", "info", "servers", "paths", "components", "security", "tags", "externalDocs"];

/// What changed from `base` to `revision`, the worst first, then in the order of the file. `today` decides
/// which sunset dates are past. The version is judged apart, by [`version::judge`].
pub fn compare(base: &Document, revision: &Document, today: Date) -> Vec<Change> {
    let mut cx = Comparer::new(base, revision, today);
    if is_understood(&mut cx, Side::Base) & is_understood(&mut cx, Side::Revision) {
        let (old, new) = (&base.root, &revision.root);
        unknown::compare(&mut cx, (old, new), &KEYWORDS);
        if let (Some(old), Some(new)) = (old.get("info"), new.get("info")) {
            let known = ["title", "description", "termsOfService", "contact", "license", "version"];
            unknown::compare(&mut cx, (old, new), &known);
        }
        servers::compare(&mut cx, old, new);
        components::compare(&mut cx);
        paths::compare(&mut cx);
        schema::compare_waiting(&mut cx);
        components::compare_unused(&mut cx);
    }
    let (raws, operations) = cx.finish();
    let mut changes = locate::locate(base, revision, raws, &operations);
    changes.sort_by(|one, other| {
        let place =
            |change: &Change| (change.place.span.start, change.base.as_ref().map(|base| base.span.start));
        let severity = other.rule.severity.cmp(&one.rule.severity);
        severity.then_with(|| place(one).cmp(&place(other))).then_with(|| one.rule.name.cmp(&other.rule.name))
    });
    changes
}

/// Whether this is OpenAPI 3.0, whose rules are the ones known here.
fn is_understood(cx: &mut Comparer<'_>, side: Side) -> bool {
    let document = cx.document(side);
    let Some(version) = document.root.get("openapi") else {
        cx.not_understood(side, &document.root, "`openapi` is missing");
        return false;
    };
    let understood = version.as_str().is_some_and(|text| text == "3.0" || text.starts_with("3.0."));
    if !understood {
        cx.not_understood(side, version, "only OpenAPI 3.0 can be compared");
    }
    understood
}
