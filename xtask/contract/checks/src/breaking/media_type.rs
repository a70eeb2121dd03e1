//! The media types of a body, and their schemas.

use document::openapi::{Kind, Object, covering_media_types, normal_media_type};

use super::comparer::Comparer;
use super::matching::matched;
use super::place::At;
use super::rules::{self, Role};
use super::{encoding, schema, unknown};

/// Compares the `content` of two bodies.
pub(super) fn compare<'a>(cx: &mut Comparer<'a>, old: &Object<'a>, new: &Object<'a>, role: Role) {
    let (added, removed) = match old.kind() == Kind::RequestBody {
        true => (&rules::REQUEST_MEDIA_ADDED, &rules::REQUEST_MEDIA_REMOVED),
        false => (&rules::RESPONSE_MEDIA_ADDED, &rules::RESPONSE_MEDIA_REMOVED),
    };
    let has_others = |owner: &&Object<'a>| {
        let written = owner.get("content").map_or(0, |content| content.entries().len());
        written != owner.children("content").count()
    };
    if [old, new].iter().any(has_others) {
        // Everything else under `content` is reported as not understood.
        return;
    }
    let matched = matched(&content(old), &content(new), covering_media_types);
    for (old, new) in matched.both {
        values(cx, &old, &new, role);
    }
    let remaining = At::value_or_object(new, "content");
    for (old, in_part) in matched.removed {
        let name = old.name();
        // A response in a narrower range is one that the old version described.
        let (rule, what) = match in_part && !role.is_request() {
            true => {
                (rules::VALUES_NARROWED.rule(role), format!("only a part of `{name}` is still described"))
            }
            false => (removed, format!("the media type `{name}` was removed")),
        };
        cx.report(rule, Some(At::of(&old)), Some(remaining), what);
    }
    for new in matched.added {
        cx.report(added, None, Some(At::of(&new)), "it was added");
    }
}

/// The Media Type Objects, with their names in normal form.
pub(super) fn content<'a>(owner: &Object<'a>) -> Vec<(String, Object<'a>)> {
    owner.children("content").map(|object| (normal_media_type(object.name()), object)).collect()
}

/// Compares the values of a media type.
pub(super) fn values<'a>(cx: &mut Comparer<'a>, old: &Object<'a>, new: &Object<'a>, role: Role) {
    if old.has("$ref") || new.has("$ref") {
        // Reported as not understood: the specification allows no reference here.
        return;
    }
    unknown::compare(cx, old, new, &[]);
    // `encoding` applies to request bodies only (section 4.7.14).
    if new.within(Kind::RequestBody).is_some() {
        encoding::compare(cx, old, new);
    }
    let names = [old, new].map(|media| normal_media_type(media.name()));
    let is_xml = |name: &String| {
        ["/xml", "+xml"].iter().any(|end| name.split(';').next().is_some_and(|it| it.ends_with(end)))
    };
    let before = std::mem::replace(&mut cx.in_xml, names.iter().any(is_xml));
    let role = role.in_media_type(&names[1]);
    schema::compare_children(cx, (old, new), "schema", role);
    cx.in_xml = before;
}
