//! Objects in the query with the style `form` and `explode`, the default: each property is a parameter of its own on the wire
//! (OpenAPI 3.0.3, section 4.7.12.2). So an object can take the place of parameters, and its own name does not matter.

use std::collections::HashSet;

use document::openapi::{Kind, Object, Parameter};

use super::comparer::Comparer;
use super::data::pairs;
use super::deprecation::removal;
use super::place::At;
use super::rules::{self, Role};
use super::schema;
use crate::subschema::flattened;

/// A parameter as it is sent.
#[derive(Clone, Copy)]
struct Sent<'a> {
    /// The parameter, or the one with the object that it is a property of.
    parameter: Parameter<'a>,
    /// The parameter, or the property.
    object: Object<'a>,
    schema: Option<Object<'a>>,
    is_required: bool,
}

/// Returns the properties of an object that is sent as several parameters, with whether they are required. `None` for other
/// parameters, and for objects with properties that are not listed or in alternatives.
pub(super) fn properties<'a>(
    cx: &mut Comparer<'a>,
    parameter: &Parameter<'a>,
) -> Option<Vec<(Object<'a>, bool)>> {
    let is_exploded = parameter.location() == "query" && parameter.serialization() == ("form", Some(true));
    let schema = parameter.schema().filter(|_| is_exploded)?;
    let parts = flattened([schema], &mut || cx.may_go_on());
    let has = |keyword: &str| parts.iter().any(|part| part.has(keyword));
    let others = ["oneOf", "anyOf", "not", "additionalProperties", "minProperties", "maxProperties", "enum"];
    if others.into_iter().any(has) || !parts.iter().any(|part| part.text("type") == Some("object")) {
        return None;
    }
    let required: HashSet<&str> = parts
        .iter()
        .filter_map(|part| part.get("required"))
        .flat_map(|names| names.items().iter().filter_map(|name| name.as_str()))
        .collect();
    let is_required = |name: &str| parameter.is_required() && required.contains(name);
    let properties = parts.iter().flat_map(|part| part.children("properties"));
    let properties: Vec<_> = properties.map(|property| (property, is_required(property.name()))).collect();
    (!properties.is_empty()).then_some(properties)
}

/// Returns the parameters that are sent for one of the document, with their names.
fn sent<'a>(cx: &mut Comparer<'a>, parameter: Parameter<'a>) -> Vec<(&'a str, Sent<'a>)> {
    let Some(properties) = properties(cx, &parameter) else {
        let (object, schema, is_required) =
            (parameter.declared(), parameter.schema(), parameter.is_required());
        return vec![(parameter.name(), Sent { parameter, object, schema, is_required })];
    };
    let property = |(object, is_required): (Object<'a>, _)| {
        (object.name(), Sent { parameter, object, schema: Some(object), is_required })
    };
    properties.into_iter().map(property).collect()
}

/// Compares parameters of which some are objects, by the names that are sent. What only one version has is reported if the
/// parameters of the other are all understood.
pub(super) fn compare<'a>(
    cx: &mut Comparer<'a>,
    (old, new): (Vec<Parameter<'a>>, Vec<Parameter<'a>>),
    (old_is_clear, new_is_clear): (bool, bool),
    remaining: At<'a>,
) {
    let [before, after] =
        [old, new].map(|all| all.into_iter().flat_map(|one| sent(cx, one)).collect::<Vec<_>>());
    let paired = pairs(before, after);
    for (old, new) in paired.both {
        let places = (Some(At::of(&old.object)), Some(At::of(&new.object)));
        match (old.is_required, new.is_required) {
            (false, true) => cx.report(&rules::PARAMETER_REQUIRED, places.0, places.1, "it became required"),
            (true, false) => cx.report(&rules::PARAMETER_OPTIONAL, places.0, places.1, "it became optional"),
            _ => {}
        }
        let role = if old.is_required || new.is_required { Role::RequiredParameter } else { Role::Parameter };
        let owners = (*old.parameter, *new.parameter);
        schema::compare_schemas(cx, (old.schema, new.schema), owners, cx.role(role));
    }
    for old in paired.removed.into_iter().filter(|_| new_is_clear) {
        let name = if old.object.kind() == Kind::Schema { old.object.name() } else { old.parameter.name() };
        let what = format!("the query parameter `{name}` was removed");
        cx.report(removal(cx, &old.parameter), Some(At::of(&old.object)), Some(remaining), what);
    }
    for new in paired.added.into_iter().filter(|_| old_is_clear) {
        added(cx, &new.object, "query", new.is_required);
    }
}

/// Reports a parameter that only the revision has.
pub(super) fn added<'a>(cx: &mut Comparer<'a>, new: &Object<'a>, location: &str, is_required: bool) {
    let (rule, required) = match (location, is_required) {
        ("path", _) => (&rules::PATH_PARAMETER_ADDED, " and required"),
        (_, true) => (&rules::PARAMETER_ADDED_REQUIRED, " and required"),
        (_, false) => (&rules::PARAMETER_ADDED_OPTIONAL, ""),
    };
    cx.report(rule, None, Some(At::of(new)), format!("it is new{required}, in {location}"));
}
