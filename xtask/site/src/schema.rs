//! Schemas: the type and the bounds in one line, then properties and items. A reference to a component is a link with the
//! bounds of the component; that of a body shows its properties too. Keywords that combine schemas are shown as JSON.

use document::{Node, Value};
use maud::{Markup, html};

use crate::markdown;
use crate::spec::{Spec, anchor, entries, flag, items, json, text, word};

/// The keywords that [`type_name`], [`bounds`] and [`details`] show in words. Others are shown as they are.
const SHOWN: &str = "$ref type format description enum default nullable readOnly writeOnly deprecated minimum maximum \
    exclusiveMinimum exclusiveMaximum minLength maxLength pattern minItems maxItems uniqueItems \
    minProperties maxProperties properties required items example";

/// The longest chain of references from a body to the object whose properties are shown.
pub(crate) const BODY: usize = 3;

/// Returns the type and the bounds in one line.
pub(crate) fn summary(spec: &Spec<'_>, schema: &Node) -> Markup {
    html! {
        span.type { (type_name(spec, schema)) }
        @for bound in bounds(spec.resolve(schema)) { " " span.bound { (bound) } }
    }
}

/// Returns the name of the type, with a link if it is a component.
fn type_name(spec: &Spec<'_>, schema: &Node) -> Markup {
    let format = text(schema, "format");
    html! {
        @if let Some((name, target)) = spec.component(schema) {
            a href={ "#" (anchor("schema", name)) } { (name) }
            @if !text(target, "type").is_empty() { " (" (text(target, "type")) ")" }
        } @else {
            @match text(schema, "type") {
                "" if schema.get("$ref").is_some() => { code { (text(schema, "$ref")) } }
                "" if schema.get("properties").is_some() => "object",
                "" if ["allOf", "oneOf", "anyOf", "not"].iter().any(|it| schema.get(it).is_some()) => "see below",
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
}

/// Returns the bounds of the values of a schema, each in words.
fn bounds(schema: &Node) -> Vec<Markup> {
    let mut bounds = Vec::new();
    for (least, most, unit) in [
        ("minimum", "maximum", ""),
        ("minLength", "maxLength", " characters"),
        ("minItems", "maxItems", " items"),
        ("minProperties", "maxProperties", " fields"),
    ] {
        bounds.push(match [least, most].map(|keyword| schema.get(keyword).map(json)) {
            [Some(least), Some(most)] if least == most => html! { "exactly " (least) (unit) },
            [Some(least), Some(most)] => html! { (least) " to " (most) (unit) },
            [Some(least), None] => html! { "at least " (least) (unit) },
            [None, Some(most)] => html! { "at most " (most) (unit) },
            [None, None] => continue,
        });
    }
    let values: Vec<&Node> = items(schema, "enum").collect();
    if !values.is_empty() {
        bounds.push(html! {
            @if values.len() > 1 { "one of " } @else { "always " }
            @for (position, value) in values.iter().enumerate() {
                @if position > 0 { ", " } code { (word(value)) }
            }
        });
    }
    for keyword in ["pattern", "default"] {
        bounds.extend(schema.get(keyword).map(|value| html! { (keyword) " " code { (word(value)) } }));
    }
    for (keyword, words) in [
        ("exclusiveMinimum", "the minimum excluded"),
        ("exclusiveMaximum", "the maximum excluded"),
        ("uniqueItems", "no item twice"),
        ("nullable", "may be null"),
        ("readOnly", "only in responses"),
        ("writeOnly", "only in requests"),
        ("deprecated", "deprecated"),
    ] {
        bounds.extend(flag(schema, keyword).then(|| html! { (words) }));
    }
    bounds
}

/// Returns what a line cannot show: properties, items without a name, and other keywords. So many references in a chain are
/// replaced by their targets.
pub(crate) fn details(spec: &Spec<'_>, schema: &Node, references: usize) -> Markup {
    if schema.get("$ref").is_some() {
        let target = spec.component(schema).filter(|_| references > 0);
        return target.map_or_else(|| html! {}, |(_, target)| details(spec, target, references - 1));
    }
    let required: Vec<&str> = items(schema, "required").filter_map(Node::as_str).collect();
    let undescribed =
        required.iter().filter(|name| entries(schema, "properties").all(|(known, _)| known != **name));
    let is_closed =
        matches!(schema.get("additionalProperties"), Some(Node { value: Value::Bool(false), .. }));
    let shown = format!("{SHOWN}{}", if is_closed { " additionalProperties" } else { "" });
    html! {
        @if entries(schema, "properties").next().is_some() {
            ul.fields {
                @for (name, property) in entries(schema, "properties") {
                    li { (field(spec, name, property, "", required.contains(&name).then_some("required"))) }
                }
            }
        }
        @for name in undescribed { p { "The field " code { (name) } " is required." } }
        @if let Some(items) = schema.get("items") {
            // The list's own line has their type.
            @if !bounds(spec.resolve(items)).is_empty() { p { "Each item: " (summary(spec, items)) } }
            (nested(spec, items, references))
        }
        @if is_closed { p.bound { "No other fields." } }
        (others(schema, &shown))
    }
}

/// Returns the description and the details of the schema of a body or of items.
pub(crate) fn nested(spec: &Spec<'_>, schema: &Node, references: usize) -> Markup {
    let is_shown = references > 0 || schema.get("$ref").is_none();
    html! {
        @if is_shown { (markdown::block(text(spec.resolve(schema), "description"))) }
        (details(spec, schema, references))
    }
}

/// Returns a named value: a property, a parameter or a header. A parameter or a header has its type in `schema` or in the
/// first media type of `content`. `place` says where it is sent.
pub(crate) fn field(
    spec: &Spec<'_>,
    name: &str,
    owner: &Node,
    place: &str,
    required: Option<&str>,
) -> Markup {
    let described = spec.resolve(owner);
    let own = owner.get("schema").or_else(|| entries(owner, "content").next()?.1.get("schema"));
    let schema = own.unwrap_or(owner);
    html! {
        div.head {
            code.name { (name) } " " (summary(spec, schema))
            @if !place.is_empty() { " " span.bound { "in " (place) } }
            @if let Some(required) = required { " " strong.required { (required) } }
            @if flag(described, "deprecated") && own.is_some() { " " strong.deprecated { "deprecated" } }
        }
        (markdown::block(text(described, "description")))
        @for (title, example) in spec.examples(described) { p.example { (title) ": " code { (word(example)) } } }
        @if let Some(own) = own { (markdown::block(text(own, "description"))) }
        (details(spec, schema, 0))
    }
}

/// Returns the keywords of a node that are not in `shown`, as they are.
pub(crate) fn others(node: &Node, shown: &str) -> Markup {
    let is_shown = |keyword: &str| shown.split_whitespace().any(|known| known == keyword);
    let rest = node.entries().iter().filter(|entry| !is_shown(&entry.key));
    html! { @for entry in rest { p.other { code { (entry.key) ": " (json(&entry.value)) } } } }
}
