//! `encoding`: how the properties of a form are written (OpenAPI 3.0.3, section 4.7.15). What the section says is
//! ignored is not compared: the `encoding` of other bodies, `headers` outside of `multipart`, `style`, `explode` and
//! `allowReserved` inside of it.

use document::openapi::{Encoding, Header, Object, normal_media_type};

use super::comparer::Comparer;
use super::data::pairs;
use super::lists::named;
use super::parameter;
use super::place::At;
use super::rules::{self, Role};
use super::unknown;
use crate::subschema::flattened;

/// Compares the encodings of the properties that both media types have. A new property is reported without its
/// encoding.
pub(super) fn compare<'a>(cx: &mut Comparer<'a>, old: &Object<'a>, new: &Object<'a>) {
    let name = normal_media_type(new.name());
    let is_multipart = name.starts_with("multipart/");
    if !is_multipart && name != "application/x-www-form-urlencoded" {
        return;
    }
    let (before, after) = (properties(cx, old), properties(cx, new));
    for (before, after) in pairs(before, after).both {
        let encodings = (Encoding::new(*old, before), Encoding::new(*new, after));
        if let (Some(old), Some(new)) = (encodings.0.object(), encodings.1.object()) {
            unknown::compare(cx, &old, &new, &[]);
        }
        let places = (place(old, &encodings.0, "contentType"), place(new, &encodings.1, "contentType"));
        content_types(cx, &encodings, places);
        match is_multipart {
            true => headers(cx, (old, new), &encodings),
            false => serialization(cx, (old, new), &encodings),
        }
    }
}

/// The properties of a form, with their names.
fn properties<'a>(cx: &mut Comparer<'a>, media: &Object<'a>) -> Vec<(&'a str, Object<'a>)> {
    let parts = flattened(media.child("schema"), &mut || cx.may_go_on());
    parts.iter().flat_map(|part| named(part, "properties")).collect()
}

/// The keyword of an encoding, or the nearest object that could have it.
fn place<'a>(media: &Object<'a>, encoding: &Encoding<'a>, keyword: &str) -> At<'a> {
    match encoding.object() {
        Some(object) => At::value_or_object(&object, keyword),
        None => At::value_or_object(media, "encoding"),
    }
}

fn content_types<'a>(
    cx: &mut Comparer<'a>,
    (old, new): &(Encoding<'a>, Encoding<'a>),
    places: (At<'a>, At<'a>),
) {
    let is_lost = !new.covers_content_types_of(old);
    if is_lost || !old.covers_content_types_of(new) {
        let rule = if is_lost { &rules::ENCODING_CHANGED } else { &rules::ENCODING_WIDENED };
        let list = |encoding: &Encoding<'a>| format!("`{}`", encoding.content_types().join("`, `"));
        let what = format!(
            "the media type of property `{}` changed from {} to {}",
            old.property().name(),
            list(old),
            list(new)
        );
        cx.report(rule, Some(places.0), Some(places.1), what);
    }
}

fn serialization<'a>(
    cx: &mut Comparer<'a>,
    (old_media, new_media): (&Object<'a>, &Object<'a>),
    (old, new): &(Encoding<'a>, Encoding<'a>),
) {
    let mut report = |rule, keyword: &str, what| {
        let places = (place(old_media, old, keyword), place(new_media, new, keyword));
        cx.report(rule, Some(places.0), Some(places.1), what);
    };
    let property = old.property().name();
    let ((style, explode), (new_style, new_explode)) = (old.serialization(), new.serialization());
    if style != new_style {
        let what = format!("the style of property `{property}` changed from `{style}` to `{new_style}`");
        report(&rules::ENCODING_CHANGED, "style", what);
    } else if let (Some(old), Some(new)) = (explode, new_explode)
        && old != new
    {
        let what = format!("`explode` of property `{property}` changed from {old} to {new}");
        report(&rules::ENCODING_CHANGED, "explode", what);
    }
    let reserved = |encoding: &Encoding<'a>| encoding.object().is_some_and(|one| one.flag("allowReserved"));
    match (reserved(old), reserved(new)) {
        (false, true) => {
            let what = format!("`allowReserved` of property `{property}` was set");
            report(&rules::ENCODING_WIDENED, "allowReserved", what);
        }
        (true, false) => {
            let what = format!("`allowReserved` of property `{property}` was removed");
            report(&rules::ENCODING_CHANGED, "allowReserved", what);
        }
        _ => {}
    }
}

fn headers<'a>(
    cx: &mut Comparer<'a>,
    (old_media, new_media): (&Object<'a>, &Object<'a>),
    (old, new): &(Encoding<'a>, Encoding<'a>),
) {
    let property = old.property().name();
    let paired = pairs(old.headers(), new.headers());
    for (old, new) in paired.both {
        unknown::compare(cx, &old, &new, &[]);
        let rules = (&rules::ENCODING_CHANGED, &rules::ENCODING_WIDENED);
        cx.report_flag(rules, (&old, &new), "required", ("it became required", "it became optional"));
        let role = cx.role(Role::RequiredParameter);
        parameter::value(cx, (&old, &new), &rules::ENCODING_CHANGED, role);
    }
    let what = |header: &Header<'a>, verb: &str| {
        format!("the header `{}` of property `{property}` was {verb}", header.declared().name())
    };
    for header in paired.removed {
        let places = (At::of(&header.declared()), place(new_media, new, "headers"));
        cx.report(&rules::ENCODING_CHANGED, Some(places.0), Some(places.1), what(&header, "removed"));
    }
    for header in paired.added {
        let is_required = header.is_required();
        let rule = if is_required { &rules::ENCODING_CHANGED } else { &rules::ENCODING_WIDENED };
        let places = (place(old_media, old, "headers"), At::of(&header.declared()));
        cx.report(rule, Some(places.0), Some(places.1), what(&header, "added"));
    }
}
