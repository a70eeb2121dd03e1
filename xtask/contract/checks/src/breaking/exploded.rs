//! Objects in the query with the style `form` and `explode`, the default: each property is a parameter of its own on the wire
//! (OpenAPI 3.0.3, section 4.7.12.2). So an object can take the place of parameters, and its own name does not matter.

use std::collections::HashSet;

use document::openapi::{Object, Parameter};

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
    name: &'a str,
    /// The parameter, or the one with the object that it is a property of.
    parameter: Parameter<'a>,
    /// The property.
    property: Option<Object<'a>>,
    is_required: bool,
}

/// Returns the properties of an object that is sent as several parameters, with whether they are required. `None` for other
/// parameters, and for objects with properties that are not listed or in alternatives.
pub(super) fn properties<'a>(
    cx: &mut Comparer<'a>,
    parameter: &Parameter<'a>,
) -> Option<Vec<(Object<'a>, bool)>> {
    let is_exploded = parameter.location() == "query" && parameter.style() == "form" && parameter.explode();
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

fn sent<'a>(cx: &mut Comparer<'a>, parameters: Vec<Parameter<'a>>) -> Vec<(&'a str, Sent<'a>)> {
    let each = |parameter: Parameter<'a>| match properties(cx, &parameter) {
        Some(properties) => properties
            .into_iter()
            .map(|(property, is_required)| Sent {
                name: property.name(),
                parameter,
                property: Some(property),
                is_required,
            })
            .collect(),
        None => {
            vec![Sent {
                name: parameter.name(),
                parameter,
                property: None,
                is_required: parameter.is_required(),
            }]
        }
    };
    parameters.into_iter().flat_map(each).map(|sent| (sent.name, sent)).collect()
}

impl<'a> Sent<'a> {
    fn place(&self) -> At<'a> {
        At::of(&self.property.unwrap_or(self.parameter.declared()))
    }

    fn schema(&self) -> Option<Object<'a>> {
        self.property.or(self.parameter.child("schema"))
    }
}

/// Compares parameters of which some are objects, by the names that are sent. What only one version has is reported if the
/// parameters of the other are all understood.
pub(super) fn compare<'a>(
    cx: &mut Comparer<'a>,
    (old, new): (Vec<Parameter<'a>>, Vec<Parameter<'a>>),
    (old_is_clear, new_is_clear): (bool, bool),
    remaining: At<'a>,
) {
    let (before, after) = (sent(cx, old), sent(cx, new));
    let paired = pairs(before, after);
    for (old, new) in paired.both {
        match (old.is_required, new.is_required) {
            (false, true) => {
                let what = "it became required";
                cx.report(&rules::PARAMETER_REQUIRED, Some(old.place()), Some(new.place()), what);
            }
            (true, false) => {
                let what = "it became optional";
                cx.report(&rules::PARAMETER_OPTIONAL, Some(old.place()), Some(new.place()), what);
            }
            _ => {}
        }
        let role = if old.is_required || new.is_required { Role::RequiredParameter } else { Role::Parameter };
        let owners = (*old.parameter, *new.parameter);
        schema::compare_schemas(cx, (old.schema(), new.schema()), owners, cx.role(role));
    }
    for old in paired.removed.into_iter().filter(|_| new_is_clear) {
        let what = format!("the query parameter `{}` was removed", old.name);
        cx.report(removal(cx, &old.parameter), Some(old.place()), Some(remaining), what);
    }
    for new in paired.added.into_iter().filter(|_| old_is_clear) {
        let (rule, required) = match new.is_required {
            true => (&rules::PARAMETER_ADDED_REQUIRED, " and required"),
            false => (&rules::PARAMETER_ADDED_OPTIONAL, ""),
        };
        cx.report(rule, None, Some(new.place()), format!("it is new{required}, in query"));
    }
}
