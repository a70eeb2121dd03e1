//! `encoding`: how the properties of a form are written (OpenAPI 3.0.3, section 4.7.15). What the section says is
//! ignored is not compared: the `encoding` of other bodies, `headers` outside of `multipart`, `style`, `explode` and
//! `allowReserved` inside of it.

use std::collections::HashMap;

use document::openapi::{Encoding, Header, Object, normal_media_type};

use super::comparer::Comparer;
use super::data::pairs;
use super::matching::named;
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
    let [old_objects, new_objects] =
        [old, new].map(|media| -> HashMap<_, _> { named(media, "encoding").into_iter().collect() });
    for (before, after) in pairs(before, after).both {
        let encoding = |objects: &HashMap<&str, Object<'a>>, property: Object<'a>| Encoding {
            object: objects.get(property.name()).copied(),
            property,
        };
        let encodings = (encoding(&old_objects, before), encoding(&new_objects, after));
        if let (Some(old), Some(new)) = (encodings.0.object, encodings.1.object) {
            unknown::compare(cx, &old, &new, &[]);
        }
        effective(cx, (old, new), &encodings, is_multipart);
        if is_multipart {
            headers(cx, (old, new), &encodings);
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
    match encoding.object {
        Some(object) => At::value_or_object(&object, keyword),
        None => At::value_or_object(media, "encoding"),
    }
}

/// Compares the keywords that have an effect, with their defaults.
fn effective<'a>(
    cx: &mut Comparer<'a>,
    (old_media, new_media): (&Object<'a>, &Object<'a>),
    (old, new): &(Encoding<'a>, Encoding<'a>),
    is_multipart: bool,
) {
    let types = |encoding: &Encoding<'a>| encoding.content_types().join(", ");
    let ((style, explode), (new_style, new_explode)) = (old.serialization(), new.serialization());
    let (explode, new_explode) = explode.zip(new_explode).filter(|_| style == new_style).unwrap_or_default();
    let reserved = |encoding: &Encoding<'a>| encoding.object.is_some_and(|one| one.flag("allowReserved"));
    let (reserved, new_reserved) = (reserved(old), reserved(new));
    // Each with the values before and after, and whether the old ways and no others are still accepted.
    let (keeps, adds_none) = (new.covers_content_types_of(old), old.covers_content_types_of(new));
    let text = |flag: bool| flag.to_string();
    let keywords = [
        ("contentType", types(old), types(new), (keeps, adds_none)),
        ("style", style.to_owned(), new_style.to_owned(), (style == new_style, true)),
        ("explode", text(explode), text(new_explode), (explode == new_explode, true)),
        (
            "allowReserved",
            text(reserved),
            text(new_reserved),
            (!reserved || new_reserved, reserved || !new_reserved),
        ),
    ];
    for (keyword, was, is, (keeps, adds_none)) in keywords {
        if (keyword != "contentType" && is_multipart) || (keeps && adds_none) {
            continue;
        }
        let rule = if keeps { &rules::ENCODING_WIDENED } else { &rules::ENCODING_CHANGED };
        let what =
            format!("`{keyword}` of property `{}` changed from `{was}` to `{is}`", old.property.name());
        let places = (place(old_media, old, keyword), place(new_media, new, keyword));
        cx.report(rule, Some(places.0), Some(places.1), what);
    }
}

fn headers<'a>(
    cx: &mut Comparer<'a>,
    (old_media, new_media): (&Object<'a>, &Object<'a>),
    (old, new): &(Encoding<'a>, Encoding<'a>),
) {
    let property = old.property.name();
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
