//! The media types of a body, and the values that each of them holds.

use super::comparer::Comparer;
use super::place::At;
use super::rules::{self, Role};
use super::{schema, unknown};
use crate::openapi::Object;

/// Compares the `content` of two bodies.
pub(super) fn compare<'a>(cx: &mut Comparer<'a>, old: &Object<'a>, new: &Object<'a>, role: Role) {
    let rules = match role.is_request() {
        true => (&rules::REQUEST_MEDIA_ADDED, &rules::REQUEST_MEDIA_REMOVED),
        false => (&rules::RESPONSE_MEDIA_ADDED, &rules::RESPONSE_MEDIA_REMOVED),
    };
    let survivor = At::value_or_object(new, "content");
    for (old, new) in cx.in_both("media type", rules, (content(old), content(new)), survivor) {
        values(cx, &old, &new, role);
    }
}

/// The Media Type Objects. Case and spaces of a media type have no meaning (RFC 9110, section 8.3.1).
pub(super) fn content<'a>(owner: &Object<'a>) -> impl Iterator<Item = (String, Object<'a>)> {
    let name = |name: &str| name.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    owner.children("content").map(move |object| (name(object.name()).to_ascii_lowercase(), object))
}

/// Compares the values of a media type.
pub(super) fn values<'a>(cx: &mut Comparer<'a>, old: &Object<'a>, new: &Object<'a>, role: Role) {
    unknown::compare(cx, old, new, &[]);
    cx.compare_keyword(&rules::ENCODING_CHANGED, (old, new), "encoding");
    schema::compare_children(cx, (old, new), "schema", role);
}
