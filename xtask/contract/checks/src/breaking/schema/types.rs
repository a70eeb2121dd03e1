//! `type`, `format` and `nullable`: the kinds of values that are allowed.

use std::cmp::Ordering::{self, Equal, Greater, Less};

use super::both::{Both, at, is_unclear};
use super::unions::unions;
use crate::breaking::comparer::Comparer;
use crate::breaking::conjunction::{Schema, TYPES, Verdict};
use crate::breaking::place::At;
use crate::breaking::rules;
use crate::subschema::restricts_strings;

/// A `type` or `format`, and its place. `None` allows all.
type Kind<'a> = Option<(&'a str, At<'a>)>;

/// Returns whether the types or formats differ.
pub(super) fn compare<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) -> bool {
    let (base, revision) = (kind(&both.base), kind(&both.revision));
    let (old_format, new_format) = (format(&both.base), format(&both.revision));
    let text = |kind: Kind<'a>| kind.map(|(text, _)| text);
    let types = order(text(base), text(revision), |wide, narrow| {
        is_wider(wide, narrow) || (both.role.is_text() && wide == "string" && is_scalar(narrow))
    });
    let formats = order(text(old_format), text(new_format), is_wider_format);
    let family = match (types, formats) {
        (Some(Equal), Some(Equal)) => return false,
        (Some(Greater | Equal), Some(Greater | Equal)) => &rules::TYPE_GENERALIZED,
        (Some(Greater), _) if base.is_some() && revision.is_none() => &rules::TYPE_GENERALIZED,
        (Some(Less | Equal), Some(Less | Equal)) => &rules::TYPE_SPECIALIZED,
        _ => &rules::TYPE_CHANGED,
    };
    let describe = |kind: Kind<'a>, format: Kind<'a>| match (kind, format) {
        (None, None) => "any type".to_owned(),
        (Some((kind, _)), None) => format!("`{kind}`"),
        (None, Some((format, _))) => format!("any type in the format `{format}`"),
        (Some((kind, _)), Some((format, _))) => format!("`{kind}` in the format `{format}`"),
    };
    let what =
        format!("its type changed from {} to {}", describe(base, old_format), describe(revision, new_format));
    let differs = types != Some(Equal);
    let place = |kind: Kind<'a>, format: Kind<'a>| match differs {
        true => kind.map(|(_, node)| node),
        false => format.map(|(_, node)| node),
    };
    both.report(cx, family, place(base, old_format), place(revision, new_format), what);
    true
}

/// Reports a value that became an object or a list, or no longer is one. Returns whether it did: then the other keywords
/// have nothing in common.
pub(super) fn reshaped<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) -> bool {
    let (Some((old, was)), Some((new, is))) = (shape(&both.base), shape(&both.revision)) else {
        return false;
    };
    let is_scalar = |kind| !matches!(kind, "array" | "object");
    if old == new || (is_scalar(old) && is_scalar(new)) || both.verdict != Verdict::Breaking {
        return false;
    }
    let how = match (old, new) {
        ("array", _) if is_item(cx, &both.base, &both.revision) => ": the list became one such value",
        (_, "array") if is_item(cx, &both.revision, &both.base) => ": the value became a list of such values",
        ("object", "array") => ": the object became a list",
        ("array", "object") => ": the list became an object",
        _ => "",
    };
    let what = format!("its type changed from `{old}` to `{new}`{how}");
    both.report(cx, &rules::TYPE_CHANGED, Some(was), Some(is), what);
    true
}

/// The type of a schema, or of all the alternatives of its union.
fn shape<'a>(schema: &Schema<'a>) -> Kind<'a> {
    kind(schema).or_else(|| {
        let unions = unions(schema);
        let [union] = unions.as_slice() else { return None };
        let mut kinds = union.alternatives.iter().map(|one| one.resolved()?.text("type"));
        let first = kinds.next()??;
        kinds.all(|kind| kind == Some(first)).then_some((first, union.list))
    })
}

/// Whether the items of the list on one side are the whole value of the other side.
fn is_item<'a>(cx: &mut Comparer<'a>, list: &Schema<'a>, value: &Schema<'a>) -> bool {
    let items = list.children("items");
    if items.is_empty() || items.iter().any(is_unclear) {
        return false;
    }
    let items = at(cx, &items, list.anchor);
    let items = cx.schema(items).values;
    cx.inclusion.are_equal(items, value.values)
}

/// Whether both schemas say whether the value may be null: both types are known, or `nullable` changed. If not, null is
/// compared as a value of `enum`.
pub(super) fn decide_null(both: &Both<'_>) -> bool {
    let is_set = |schema: &Schema<'_>| schema.flag("nullable").is_some();
    let are_known = kind(&both.base).is_some() && kind(&both.revision).is_some();
    are_known || is_set(&both.base) != is_set(&both.revision)
}

/// Compares whether the value may be null.
pub(super) fn null<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
    let place =
        |schema: &Schema<'a>| schema.flag("nullable").or(schema.first("nullable")).or(schema.first("type"));
    let places = (place(&both.base), place(&both.revision));
    // Text cannot express null.
    if both.role.is_text() || !decide_null(both) {
        return;
    }
    let is_null = [&both.base, &both.revision]
        .map(|schema| cx.inclusion.schemas.accepts(schema.values, &serde_json::Value::Null));
    match is_null {
        [Some(false), Some(true)] => {
            both.report(cx, &rules::NULLABLE, None, places.1, "it may now be null");
        }
        [Some(true), Some(false)] => {
            both.report(cx, &rules::NOT_NULLABLE, places.0, places.1, "it may no longer be null");
        }
        _ => {}
    }
}

/// Compares two names of types or formats: the greater one allows more. A missing name allows more than any name.
fn order(
    base: Option<&str>,
    revision: Option<&str>,
    is_wider: impl Fn(&str, &str) -> bool,
) -> Option<Ordering> {
    match (base, revision) {
        (base, revision) if base == revision => Some(Equal),
        (_, None) => Some(Greater),
        (None, _) => Some(Less),
        (Some(base), Some(revision)) if is_wider(revision, base) => Some(Greater),
        (Some(base), Some(revision)) if is_wider(base, revision) => Some(Less),
        _ => None,
    }
}

/// The type of a schema. Of `number` and `integer` in one `allOf`, `integer` counts.
fn kind<'a>(schema: &Schema<'a>) -> Kind<'a> {
    let kinds = schema.all("type").filter_map(|at| Some((at.node().as_str()?, at)));
    let mut kinds = kinds.filter(|(kind, _)| TYPES.contains(kind));
    let first = kinds.next()?;
    Some(kinds.find(|(kind, _)| is_wider(first.0, kind)).unwrap_or(first))
}

/// The format of a schema that has an effect. The widths of integers have none on numbers.
fn format<'a>(schema: &Schema<'a>) -> Kind<'a> {
    let kind = kind(schema).map(|(kind, _)| kind);
    let mut formats = schema.all("format").filter_map(|at| Some((at.node().as_str()?, at)));
    formats.find(|(format, _)| match *format {
        "int32" | "int64" => kind != Some("number"),
        "float" | "double" => true,
        format => restricts_strings(format),
    })
}

fn is_wider(wide: &str, narrow: &str) -> bool {
    wide == "number" && narrow == "integer"
}

fn is_scalar(kind: &str) -> bool {
    matches!(kind, "integer" | "number" | "boolean")
}

fn is_wider_format(wide: &str, narrow: &str) -> bool {
    matches!((wide, narrow), ("int64", "int32") | ("double", "float"))
}
