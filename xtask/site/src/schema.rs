//! Schemas: the type and the bounds in one line, then properties and parts. A reference to a component is a link with the
//! bounds of the component; its properties are shown where the component is.

use contract::document::{Node, Value};
use maud::{Markup, html};

use crate::markdown::{self, Headings};
use crate::spec::{Spec, anchor, component, entries, flag, items, text};

/// The keywords that [`type_name`], [`bounds`] and [`details`] show in words. Others are shown as they are.
const SHOWN: [&str; 32] = [
    "$ref",
    "type",
    "format",
    "description",
    "enum",
    "default",
    "nullable",
    "readOnly",
    "writeOnly",
    "deprecated",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "allOf",
    "oneOf",
    "anyOf",
    "not",
    "example",
];

/// A keyword of parts, and the words before its list.
const PARTS: [(&str, &str); 3] = [
    ("allOf", "All of these apply:"),
    ("oneOf", "Exactly one of these:"),
    ("anyOf", "One or more of these:"),
];

/// Returns a value as JSON in one line.
pub(crate) fn json(node: &Node) -> String {
    // Cannot fail: a tree has only strings as keys.
    serde_json::to_string(node).unwrap_or_default()
}

/// Returns a value as text of an example: text as it is, anything else as indented JSON.
pub(crate) fn sample(node: &Node) -> String {
    match node.as_str() {
        Some(text) => text.to_owned(),
        None => serde_json::to_string_pretty(node).unwrap_or_default(),
    }
}

/// Returns the type and the bounds in one line.
pub(crate) fn summary(spec: &Spec<'_>, schema: &Node) -> Markup {
    let target = spec.resolve(schema);
    html! {
        span.type { (type_name(spec, schema)) }
        @for bound in bounds(target) { " " span.bound { (bound) } }
    }
}

/// Returns the name of the type, with a link if it is a component.
fn type_name(spec: &Spec<'_>, schema: &Node) -> Markup {
    if let Some(name) = component(schema) {
        let kind = text(spec.resolve(schema), "type");
        let is_known = schema
            .get("$ref")
            .and_then(Node::as_str)
            .is_some_and(|it| it.starts_with("#/components/schemas/"))
            && spec.components("schemas").any(|(known, _)| known == name);
        return html! {
            @if is_known { a href={ "#" (anchor("schema", name)) } { (name) } } @else { (name) }
            @if !kind.is_empty() { " (" (kind) ")" }
        };
    }
    let format = text(schema, "format");
    html! {
        @match text(schema, "type") {
            "" if schema.get("$ref").is_some() => { code { (text(schema, "$ref")) } }
            "" if schema.get("properties").is_some() => "object",
            "" if PARTS.iter().any(|(keyword, _)| schema.get(keyword).is_some()) => "see below",
            "" => "any value",
            "array" => { "array of " @match schema.get("items") {
                Some(items) => (type_name(spec, items)),
                None => "any values",
            } }
            kind => (kind),
        }
        @if !format.is_empty() { " (" (format) ")" }
    }
}

/// Returns the bounds of the values of a schema, each in words.
fn bounds(schema: &Node) -> Vec<Markup> {
    let mut bounds = Vec::new();
    let mut add = |words: Option<String>| bounds.extend(words.map(|words| html! { (words) }));
    let exclusive = ["exclusiveMinimum", "exclusiveMaximum"].map(|keyword| flag(schema, keyword));
    let number = |keyword| schema.get(keyword).map(json);
    add(match (number("minimum"), number("maximum"), exclusive) {
        (Some(least), Some(most), [false, false]) => Some(format!("{least} to {most}")),
        (least, most, [above, below]) => {
            let words = [
                least.map(|least| format!("{} {least}", if above { "more than" } else { "at least" })),
                most.map(|most| format!("{} {most}", if below { "less than" } else { "at most" })),
            ];
            let words: Vec<String> = words.into_iter().flatten().collect();
            Some(words.join(" and ")).filter(|words| !words.is_empty())
        }
    });
    add(number("multipleOf").map(|step| format!("a multiple of {step}")));
    for (least, most, unit) in [
        ("minLength", "maxLength", "characters"),
        ("minItems", "maxItems", "items"),
        ("minProperties", "maxProperties", "fields"),
    ] {
        add(match (number(least), number(most)) {
            (Some(least), Some(most)) if least == most => Some(format!("exactly {least} {unit}")),
            (Some(least), Some(most)) => Some(format!("{least} to {most} {unit}")),
            (Some(least), None) => Some(format!("at least {least} {unit}")),
            (None, Some(most)) => Some(format!("at most {most} {unit}")),
            (None, None) => None,
        });
    }
    add(flag(schema, "uniqueItems").then(|| "no item twice".to_owned()));
    let values: Vec<&Node> = items(schema, "enum").collect();
    if !values.is_empty() {
        bounds.push(html! {
            @if values.len() > 1 { "one of " } @else { "always " }
            @for (position, value) in values.iter().enumerate() {
                @if position > 0 { ", " } code { (word(value)) }
            }
        });
    }
    if let Some(pattern) = schema.get("pattern") {
        bounds.push(html! { "pattern " code { (word(pattern)) } });
    }
    if let Some(default) = schema.get("default") {
        bounds.push(html! { "default " code { (word(default)) } });
    }
    for (keyword, words) in [
        ("nullable", "may be null"),
        ("readOnly", "only in responses"),
        ("writeOnly", "only in requests"),
        ("deprecated", "deprecated"),
    ] {
        if flag(schema, keyword) {
            bounds.push(html! { (words) });
        }
    }
    bounds
}

/// Returns text without quotes, and any other value as JSON.
fn word(value: &Node) -> String {
    value.as_str().map_or_else(|| json(value), str::to_owned)
}

/// Returns what a line cannot show: properties, parts and items without a name, and other keywords. Nothing for a
/// reference.
pub(crate) fn details(spec: &Spec<'_>, schema: &Node) -> Markup {
    if schema.get("$ref").is_some() {
        return html! {};
    }
    let properties: Vec<_> = entries(schema, "properties").collect();
    let required: Vec<&str> = items(schema, "required").filter_map(Node::as_str).collect();
    let undescribed = required.iter().filter(|name| properties.iter().all(|(known, _)| known != *name));
    html! {
        @if !properties.is_empty() {
            ul.fields {
                @for (name, property) in &properties {
                    li { (field(spec, name, property, property, "", required.contains(name).then_some("required"))) }
                }
            }
        }
        @for name in undescribed { p { "The field " code { (name) } " is required." } }
        @match schema.get("additionalProperties").map(|node| (&node.value, node)) {
            Some((Value::Bool(false), _)) => { p.bound { "No other fields." } }
            Some((Value::Mapping(_), other)) => {
                p { "Other fields: " (summary(spec, other)) }
                (nested(spec, other))
            }
            _ => {}
        }
        @if let Some(items) = schema.get("items") { (element(spec, items)) }
        @for (keyword, words) in PARTS {
            @if schema.get(keyword).is_some() {
                p { (words) }
                ul.fields { @for part in items(schema, keyword) { li { (part_of(spec, part)) } } }
            }
        }
        @if let Some(not) = schema.get("not") { p { "But not:" } ul.fields { li { (part_of(spec, not)) } } }
        (others(schema, &SHOWN))
    }
}

/// Returns the line and the details of a schema without a name.
pub(crate) fn whole(spec: &Spec<'_>, schema: &Node) -> Markup {
    html! { p { (summary(spec, schema)) } (nested(spec, schema)) }
}

fn part_of(spec: &Spec<'_>, schema: &Node) -> Markup {
    html! { (summary(spec, schema)) (nested(spec, schema)) }
}

/// Returns the bounds and the details of the items of a list. The list's own line has their type.
fn element(spec: &Spec<'_>, items: &Node) -> Markup {
    let has_bounds = !bounds(spec.resolve(items)).is_empty();
    html! {
        @if has_bounds { p { "Each item: " (summary(spec, items)) } }
        (nested(spec, items))
    }
}

/// Returns the description and the details of a schema in another one.
fn nested(spec: &Spec<'_>, schema: &Node) -> Markup {
    if schema.get("$ref").is_some() {
        return html! {};
    }
    html! { (markdown::block(text(schema, "description"), Headings::Bold)) (details(spec, schema)) }
}

/// Returns a named value: a property, a parameter or a header. `owner` has the description, the example and the mark of
/// deprecation, `schema` the type. `place` says where it is sent.
pub(crate) fn field(
    spec: &Spec<'_>,
    name: &str,
    owner: &Node,
    schema: &Node,
    place: &str,
    required: Option<&str>,
) -> Markup {
    let described = spec.resolve(owner);
    let is_property = std::ptr::eq(owner, schema);
    html! {
        div.head {
            code.name { (name) } " " (summary(spec, schema))
            @if !place.is_empty() { " " span.bound { "in " (place) } }
            @if let Some(required) = required { " " strong.required { (required) } }
            @if flag(described, "deprecated") && !is_property { " " strong.deprecated { "deprecated" } }
        }
        (markdown::block(text(described, "description"), Headings::Bold))
        @if let Some(example) = described.get("example") { p.example { "Example: " code { (word(example)) } } }
        @if !is_property && !std::ptr::eq(described, spec.resolve(schema)) && component(schema).is_none() {
            (markdown::block(text(schema, "description"), Headings::Bold))
        }
        (details(spec, schema))
    }
}

/// Returns the keywords of a node that are not in `shown`, as they are.
pub(crate) fn others(node: &Node, shown: &[&str]) -> Markup {
    let rest = node.entries().iter().filter(|entry| !shown.contains(&&*entry.key));
    html! { @for entry in rest { p.other { code { (entry.key) ": " (json(&entry.value)) } } } }
}
