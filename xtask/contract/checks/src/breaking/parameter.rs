//! Parameters of an operation. Two are the same if they have the same location and name, or, in the path, the
//! same position.

use std::collections::HashSet;

use document::openapi::{Object, Operation, Parameter, Serialization, template};

use super::comparer::Comparer;
use super::data::canonical;
use super::matching::{pairs_then, renamed};
use super::place::At;
use super::rules::{self, ChangeRule, Role};
use super::{deprecation, exploded, media_type, schema, unknown};

pub(super) fn compare<'a>(cx: &mut Comparer<'a>, old: &Operation<'a>, new: &Operation<'a>) {
    // An unpaired parameter with the same name moved to another location.
    let mut is_object = |(_, parameter): &(_, Parameter<'a>)| exploded::properties(cx, parameter).is_some();
    let (old_objects, before): (Vec<_>, Vec<_>) = parameters(old).into_iter().partition(&mut is_object);
    let (new_objects, after): (Vec<_>, Vec<_>) = parameters(new).into_iter().partition(is_object);
    let second = |parameter: Parameter<'a>| match parameter.location() {
        // The template lacks it in one of the documents, or had no parameter for its place.
        "path" => "{}",
        _ => parameter.name(),
    };
    let (same, mut rest) = pairs_then(before, after, second);
    for (old, new) in same.into_iter().chain(rest.both) {
        let declared = (old.declared(), new.declared());
        if old.location() != new.location() {
            let what = format!("it moved from {} to {}", old.location(), new.location());
            let places = (At::of(&declared.0), At::of(&declared.1));
            cx.report(&rules::PARAMETER_MOVED, Some(places.0), Some(places.1), what);
        }
        cx.through(declared, |cx| both(cx, &old, &new));
    }
    let remaining = At::value_or_object(new, "parameters");
    // What is reported as not understood could be any parameter.
    let is_clear = |operation: &Operation<'a>| {
        let item = operation.item();
        let mut written = operation.children("parameters").chain(item.children("parameters"));
        written.all(|parameter| Parameter::new(parameter).is_some())
    };
    let (old_is_clear, new_is_clear) = (is_clear(old), is_clear(new));
    if !(old_objects.is_empty() && new_objects.is_empty()) {
        let with_objects = |objects: Vec<(_, Parameter<'a>)>, rest: &mut Vec<Parameter<'a>>| {
            let others = rest.extract_if(.., |parameter| parameter.location() == "query");
            let objects = objects.into_iter().map(|(_, parameter)| parameter);
            others.chain(objects).collect::<Vec<_>>()
        };
        let sent = (with_objects(old_objects, &mut rest.removed), with_objects(new_objects, &mut rest.added));
        exploded::compare(cx, sent, (old_is_clear, new_is_clear), remaining);
    }
    let mut renamed_components = HashSet::new();
    for old in rest.removed.into_iter().filter(|_| new_is_clear) {
        let mut what = format!("the {} parameter `{}` was removed", old.location(), old.name());
        let new = rest.added.iter().filter(|new| new.location() == old.location());
        let is_component = |new: &&Parameter<'a>| {
            let reference = |parameter: &Parameter<'a>| parameter.declared().text("$ref");
            reference(&old).is_some() && reference(&old) == reference(new)
        };
        let mut places = (At::of(&old.declared()), remaining);
        if let Some(new) = new.clone().find(is_component) {
            what = format!("it was renamed; it was `{}`", old.name());
            renamed_components.insert(new.id);
            places = (At::value_or_object(&old, "name"), At::value_or_object(new, "name"));
        } else {
            let schemas = |parameter: &Parameter<'a>| parameter.schema().into_iter().collect::<Vec<_>>();
            let named = new.map(|new| (new.name(), schemas(new)));
            if let Some(name) = renamed((old.name(), &schemas(&old)), named) {
                what += &format!("; perhaps it is `{name}` now");
            }
        }
        cx.report(deprecation::removal(cx, &old), Some(places.0), Some(places.1), what);
    }
    let is_new = |new: &Parameter<'a>| old_is_clear && !renamed_components.contains(&new.id);
    for new in rest.added.into_iter().filter(is_new) {
        exploded::added(cx, &new.declared(), new.location(), new.is_required());
    }
}

/// Returns the parameters that are not ignored, with a key that identifies each in both documents.
fn parameters<'a>(operation: &Operation<'a>) -> Vec<((&'a str, String), Parameter<'a>)> {
    let (_, names) = template(operation.path());
    let identity = |parameter: &Parameter<'a>| {
        let (location, name) = parameter.key();
        let position = names.iter().position(|known| *known == name).filter(|_| location == "path");
        (location, position.map_or_else(|| name.to_string(), |position| format!("{{{position}}}")))
    };
    let parameters = operation.parameters().into_iter().filter(|parameter| !parameter.is_ignored());
    parameters.map(|parameter| (identity(&parameter), parameter)).collect()
}

fn both<'a>(cx: &mut Comparer<'a>, old: &Parameter<'a>, new: &Parameter<'a>) {
    unknown::compare(cx, old, new, &[]);
    // A path parameter is always required.
    if new.location() != "path" {
        let rules = (&rules::PARAMETER_REQUIRED, &rules::PARAMETER_OPTIONAL);
        cx.report_flag(rules, (old, new), "required", ("it became required", "it became optional"));
    }
    // The default of a required parameter has no effect.
    let role = match old.is_required() || new.is_required() || new.location() == "path" {
        true => Role::RequiredParameter,
        false => Role::Parameter,
    };
    let role = cx.role(role);
    deprecated(cx, (old, new), role);
    if old.location() == new.location() {
        let written = [old.serialization(), new.serialization()];
        serialization(cx, (old, new), &rules::PARAMETER_SERIALIZATION, written);
    }
    for keyword in ["allowReserved", "allowEmptyValue"] {
        // They apply to parameters in the query only (section 4.7.12.2).
        if new.location() == "query" {
            let rules = (&rules::PARAMETER_SPELLING_WIDENED, &rules::PARAMETER_SPELLING_NARROWED);
            let what = (format!("`{keyword}` was set"), format!("`{keyword}` was removed"));
            cx.report_flag(rules, (old, new), keyword, (&what.0, &what.1));
        }
    }
    match became_list(old, new).filter(|_| role.is_request()) {
        Some((one, list)) => {
            let is_split = one.text("type") == Some("string") && new.serialization().1 != Some(true);
            let rule =
                if is_split { &rules::PARAMETER_BECAME_SPLIT_LIST } else { &rules::PARAMETER_BECAME_LIST };
            let what = "the value became a list of such values";
            cx.report_keyword(rule, (&one, &list), "type", what);
            // The default is compared already.
            schema::compare_item(cx, one, list, Role::RequiredParameter);
        }
        None => value(cx, (old, new), &rules::PARAMETER_SERIALIZATION, role),
    }
}

/// Returns the schema of one value in the query or a header, and that of a list in which it is the only item, written in
/// the same way (section 4.7.12.2, the table of examples).
fn became_list<'a>(old: &Parameter<'a>, new: &Parameter<'a>) -> Option<(Object<'a>, Object<'a>)> {
    let is_written_alike = match (old.location(), new.location()) {
        ("query", "query") => new.serialization().0 == "form",
        locations => locations == ("header", "header"),
    };
    let (one, list): (Object<'a>, Object<'a>) = (old.schema()?.resolved()?, new.schema()?.resolved()?);
    let is_scalar = matches!(one.text("type"), Some("string" | "number" | "integer" | "boolean"));
    let is_list = list.text("type") == Some("array");
    // Other keywords could refuse a list of one value.
    let is_plain = ["allOf", "oneOf", "anyOf", "not", "enum"].iter().all(|keyword| !list.has(keyword));
    let limit = |keyword: &str| list.get(keyword).map(canonical);
    let takes_one = matches!(limit("minItems").as_deref(), None | Some("0" | "1"))
        && limit("maxItems").as_deref() != Some("0");
    let was_default = one.get("default").map(|value| format!("[{}]", canonical(value)));
    let has_same_default = was_default == list.get("default").map(canonical);
    (is_written_alike && is_scalar && is_list && is_plain && takes_one && has_same_default)
        .then_some((one, list))
}

/// Compares how the value of a parameter or a header is written.
pub(super) fn serialization<'a>(
    cx: &mut Comparer<'a>,
    both: (&Object<'a>, &Object<'a>),
    changed: &'static ChangeRule,
    [(style, explode), (new_style, new_explode)]: [Serialization<'a>; 2],
) {
    if style != new_style {
        let what = format!("its style changed from `{style}` to `{new_style}`");
        cx.report_keyword(changed, both, "style", what);
    } else if let (Some(old), Some(new)) = (explode, new_explode)
        && old != new
    {
        cx.report_keyword(changed, both, "explode", format!("`explode` changed from {old} to {new}"));
    }
}

/// Compares whether a parameter or a header is deprecated.
pub(super) fn deprecated<'a>(cx: &mut Comparer<'a>, both: (&Object<'a>, &Object<'a>), role: Role) {
    let rules = (rules::SCHEMA_DEPRECATED.rule(role), rules::SCHEMA_REACTIVATED.rule(role));
    cx.report_flag(rules, both, "deprecated", ("it is now deprecated", "it is no longer deprecated"));
}

/// Compares the value of a parameter or a header: a `schema`, or a `content` with one media type.
pub(super) fn value<'a>(
    cx: &mut Comparer<'a>,
    (old, new): (&Object<'a>, &Object<'a>),
    changed: &'static ChangeRule,
    role: Role,
) {
    // `content` has exactly one media type (section 4.7.12.2).
    let (before, after) = (media_type::content(old).pop(), media_type::content(new).pop());
    let keyword = |content: &Option<_>| if content.is_some() { "content" } else { "schema" };
    let described = |content: &Option<(String, Object<'a>)>| match content {
        Some((name, _)) => format!("the media type `{name}`"),
        None => "`schema`".to_owned(),
    };
    let (from, to) = (described(&before), described(&after));
    if from != to {
        let what = format!("it is described by {to} instead of {from}");
        let place = At::value_or_object(new, keyword(&after));
        return cx.report(changed, At::value(old, keyword(&before)), Some(place), what);
    }
    match (before, after) {
        (Some((_, old)), Some((_, new))) => media_type::values(cx, &old, &new, role),
        _ => schema::compare_children(cx, (old, new), "schema", role),
    }
}
