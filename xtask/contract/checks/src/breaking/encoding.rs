//! `encoding`: how the properties of a form are written (OpenAPI 3.0.3, section 4.7.15). What the section says is
//! ignored is not compared: the `encoding` of other bodies, `headers` outside of `multipart`, `style`, `explode` and
//! `allowReserved` inside of it.

use std::collections::HashMap;
use std::iter::successors;

use document::openapi::{Object, covering_media_types, normal_media_type, serialization};

use super::comparer::Comparer;
use super::data::pairs;
use super::matching::{headers, named};
use super::place::At;
use super::rules::{self, Role};
use super::{parameter, unknown};
use crate::subschema::flattened;

/// The Encoding Object of a property, if there is one, in a media type.
#[derive(Clone, Copy)]
struct Encoding<'a> {
    media: Object<'a>,
    object: Option<Object<'a>>,
    property: Object<'a>,
}

/// Compares the encodings of the properties that both media types have. A new property is reported without its
/// encoding.
pub(super) fn compare<'a>(cx: &mut Comparer<'a>, old: &Object<'a>, new: &Object<'a>) {
    let name = normal_media_type(new.name());
    let is_multipart = name.starts_with("multipart/");
    if !is_multipart && name != "application/x-www-form-urlencoded" {
        return;
    }
    let (before, after) = (encodings(cx, *old), encodings(cx, *new));
    for (old, new) in pairs(before, after).both {
        if let (Some(old), Some(new)) = (old.object, new.object) {
            unknown::compare(cx, &old, &new, &[]);
        }
        let (types, new_types) = (old.content_types(), new.content_types());
        let (keeps, adds_none) = (covers(&new_types, &types), covers(&types, &new_types));
        report(cx, (&old, &new), "contentType", [types.join(", "), new_types.join(", ")], (keeps, adds_none));
        if is_multipart {
            compare_headers(cx, &old, &new);
        } else {
            pairs_of_form(cx, &old, &new);
        }
    }
}

/// Returns the encoding of each property of a form, with the name of the property.
fn encodings<'a>(cx: &mut Comparer<'a>, media: Object<'a>) -> Vec<(&'a str, Encoding<'a>)> {
    let objects: HashMap<_, _> = named(&media, "encoding").into_iter().collect();
    let parts = flattened(media.child("schema"), &mut || cx.may_go_on());
    let properties = parts.iter().flat_map(|part| named(part, "properties"));
    let encoding =
        |(name, property)| (name, Encoding { media, object: objects.get(name).copied(), property });
    properties.map(encoding).collect()
}

impl<'a> Encoding<'a> {
    /// The keyword, or the nearest object that could have it.
    fn place(&self, keyword: &str) -> At<'a> {
        match self.object {
            Some(object) => At::value_or_object(&object, keyword),
            None => At::value_or_object(&self.media, "encoding"),
        }
    }

    /// Returns the media types and ranges that the value may have, in normal form and sorted.
    fn content_types(&self) -> Vec<String> {
        let written = self.object.and_then(|object| object.text("contentType"));
        let written = written.unwrap_or_else(|| default_content_type(self.property));
        let mut types: Vec<String> = written.split(',').map(normal_media_type).collect();
        types.sort_unstable();
        types.dedup();
        types
    }
}

/// Returns the media type of a value without `contentType`. That of an array is the media type of its items.
fn default_content_type<'a>(schema: Object<'a>) -> &'static str {
    const MAX_LEVELS: usize = 10;
    let items = |schema: &Object<'a>| match schema.text("type") {
        Some("array") => schema.child("items")?.resolved(),
        _ => None,
    };
    let innermost = successors(schema.resolved(), items).take(MAX_LEVELS).last();
    match innermost.map(|schema| (schema.text("type"), schema.text("format"))) {
        Some((Some("string"), Some("binary"))) => "application/octet-stream",
        Some((Some("string" | "number" | "integer" | "boolean"), _)) => "text/plain",
        _ => "application/json",
    }
}

/// Whether each of some media types is one of the known ones, or in a range of these.
fn covers(known: &[String], types: &[String]) -> bool {
    types.iter().all(|name| covering_media_types(name).iter().any(|one| known.contains(one)))
}

/// Reports a keyword whose value changed, given whether the old ways and no others are still accepted.
fn report<'a>(
    cx: &mut Comparer<'a>,
    (old, new): (&Encoding<'a>, &Encoding<'a>),
    keyword: &str,
    [was, is]: [String; 2],
    (keeps, adds_none): (bool, bool),
) {
    if !keeps || !adds_none {
        let rule = if keeps { &rules::ENCODING_WIDENED } else { &rules::ENCODING_CHANGED };
        let name = old.property.name();
        let what = format!("`{keyword}` of property `{name}` changed from `{was}` to `{is}`");
        cx.report(rule, Some(old.place(keyword)), Some(new.place(keyword)), what);
    }
}

/// Compares how a property is written in the `name=value` pairs of a form, with the defaults.
fn pairs_of_form<'a>(cx: &mut Comparer<'a>, old: &Encoding<'a>, new: &Encoding<'a>) {
    let [(style, explode), (new_style, new_explode)] =
        [old, new].map(|encoding| serialization(encoding.object, true, Some(encoding.property)));
    let [reserved, new_reserved] =
        [old, new].map(|encoding| encoding.object.is_some_and(|object| object.flag("allowReserved")));
    if style != new_style {
        report(cx, (old, new), "style", [style, new_style].map(str::to_owned), (false, true));
    } else if let (Some(explode), Some(new_explode)) = (explode, new_explode) {
        let texts = [explode, new_explode].map(|flag| flag.to_string());
        report(cx, (old, new), "explode", texts, (explode == new_explode, true));
    }
    let texts = [reserved, new_reserved].map(|flag| flag.to_string());
    report(cx, (old, new), "allowReserved", texts, (!reserved || new_reserved, reserved || !new_reserved));
}

/// Compares the headers of a part in `multipart`.
fn compare_headers<'a>(cx: &mut Comparer<'a>, old: &Encoding<'a>, new: &Encoding<'a>) {
    let all = |encoding: &Encoding<'a>| encoding.object.as_ref().map(headers).unwrap_or_default();
    let paired = pairs(all(old), all(new));
    for (old, new) in paired.both.into_iter().filter_map(|(old, new)| old.resolved().zip(new.resolved())) {
        unknown::compare(cx, &old, &new, &[]);
        let rules = (&rules::ENCODING_CHANGED, &rules::ENCODING_WIDENED);
        cx.report_flag(rules, (&old, &new), "required", ("it became required", "it became optional"));
        let role = cx.role(Role::RequiredParameter);
        parameter::value(cx, (&old, &new), &rules::ENCODING_CHANGED, role);
    }
    let what = |header: &Object<'a>, verb: &str| {
        format!("the header `{}` of property `{}` was {verb}", header.name(), old.property.name())
    };
    for header in paired.removed.into_iter().filter(|header| header.resolved().is_some()) {
        let places = (At::of(&header), new.place("headers"));
        cx.report(&rules::ENCODING_CHANGED, Some(places.0), Some(places.1), what(&header, "removed"));
    }
    for header in paired.added {
        let Some(resolved) = header.resolved() else { continue };
        let rule = if resolved.is_required() { &rules::ENCODING_CHANGED } else { &rules::ENCODING_WIDENED };
        cx.report(rule, Some(old.place("headers")), Some(At::of(&header)), what(&header, "added"));
    }
}
