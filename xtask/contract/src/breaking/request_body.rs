//! The body of a request.

use crate::document::Node;

use super::comparer::{Comparer, Side};
use super::role::Role;
use super::{media_type, rules, unknown};

pub(super) fn compare<'a>(cx: &mut Comparer<'a>, old: &'a Node, new: &'a Node) {
    let (before, after) = (old.get("requestBody"), new.get("requestBody"));
    let base = before.and_then(|place| cx.resolve(Side::Base, place));
    let revision = after.and_then(|place| cx.resolve(Side::Revision, place));
    let required = |body: &Node| body.get("required").and_then(Node::as_bool) == Some(true);
    match (base, revision) {
        (None, None) => {}
        (Some(_), None) if after.is_none() => {
            cx.report(&rules::BODY_REMOVED, before, Some(new), "its request body was removed");
        }
        (None, Some(body)) if before.is_none() => {
            let (rule, what) = match required(body) {
                true => (&rules::BODY_ADDED_REQUIRED, "its request body is new and required"),
                false => (&rules::BODY_ADDED_OPTIONAL, "its request body is new and optional"),
            };
            cx.report(rule, None, after, what);
        }
        (Some(base), Some(revision)) => {
            unknown::compare(cx, (base, revision), &["description", "content", "required"]);
            let place = revision.get("required").unwrap_or(revision);
            match (required(base), required(revision)) {
                (false, true) => {
                    let what = "its request body became required";
                    cx.report(&rules::BODY_REQUIRED, base.get("required"), Some(place), what);
                }
                (true, false) => {
                    let what = "its request body became optional";
                    cx.report(&rules::BODY_OPTIONAL, base.get("required"), Some(place), what);
                }
                _ => {}
            }
            media_type::compare(cx, base, revision, Role::RequestBody);
        }
        // A reference leads nowhere, which was noted.
        _ => {}
    }
}
