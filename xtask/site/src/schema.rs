//! Schemas: the type and the bounds in one line, then properties and parts. A reference to a component is a link with the
//! bounds of the component. Bodies show its properties too, those below the second level folded.

use document::{Node, Value};
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

/// The level of properties below which they are folded.
const FOLDED: usize = 2;
/// The level of properties below which a reference is only a link.
const DEEPEST: usize = 5;

/// Where a schema is shown: the level of its properties, and the components that it is in.
#[derive(Clone, Copy)]
pub(crate) struct Nesting<'n> {
    level: usize,
    component: Option<&'n str>,
    outer: Option<&'n Nesting<'n>>,
}

impl Nesting<'_> {
    /// A body.
    pub(crate) const BODY: Nesting<'static> = Nesting { level: 0, component: None, outer: None };
    /// The list of components, which has each of them.
    pub(crate) const COMPONENTS: Nesting<'static> = Nesting { level: DEEPEST, component: None, outer: None };

    /// Whether the properties of a component are shown here.
    fn shows(&self, name: &str) -> bool {
        let is_inside = std::iter::successors(Some(self), |it| it.outer).any(|it| it.component == Some(name));
        self.level < DEEPEST && !is_inside
    }
}

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

/// Returns what a line cannot show: properties, parts and items without a name, and other keywords.
pub(crate) fn details(spec: &Spec<'_>, schema: &Node, at: Nesting<'_>) -> Markup {
    if schema.get("$ref").is_some() {
        return match component(schema).filter(|name| at.shows(name)) {
            // The target of a chain that leads nowhere is a reference itself.
            Some(name) if spec.resolve(schema).get("$ref").is_none() => {
                let inside = Nesting { component: Some(name), outer: Some(&at), ..at };
                details(spec, spec.resolve(schema), inside)
            }
            _ => html! {},
        };
    }
    let at = Nesting { outer: Some(&at), component: None, level: at.level };
    let properties: Vec<_> = entries(schema, "properties").collect();
    let required: Vec<&str> = items(schema, "required").filter_map(Node::as_str).collect();
    let undescribed = required.iter().filter(|name| properties.iter().all(|(known, _)| known != *name));
    html! {
        @if !properties.is_empty() {
            @let below = Nesting { level: at.level + 1, ..at };
            @let fields = html! {
                ul.fields {
                    @for (name, property) in &properties {
                        @let required = required.contains(name).then_some("required");
                        li { (field(spec, name, property, property, "", required, below)) }
                    }
                }
            };
            @if (FOLDED..DEEPEST).contains(&at.level) { details { summary { "Fields" } (fields) } } @else { (fields) }
        }
        @for name in undescribed { p { "The field " code { (name) } " is required." } }
        @match schema.get("additionalProperties").map(|node| (&node.value, node)) {
            Some((Value::Bool(false), _)) => { p.bound { "No other fields." } }
            Some((Value::Mapping(_), other)) => {
                p { "Other fields: " (summary(spec, other)) }
                (nested(spec, other, at))
            }
            _ => {}
        }
        @if let Some(items) = schema.get("items") { (element(spec, items, at)) }
        @for (keyword, words) in PARTS {
            @if schema.get(keyword).is_some() {
                p { (words) }
                ul.fields { @for part in items(schema, keyword) { li { (part_of(spec, part, at)) } } }
            }
        }
        @if let Some(not) = schema.get("not") { p { "But not:" } ul.fields { li { (part_of(spec, not, at)) } } }
        (others(schema, &SHOWN))
    }
}

/// Returns the line and the details of the schema of a body.
pub(crate) fn whole(spec: &Spec<'_>, schema: &Node) -> Markup {
    html! { p { (summary(spec, schema)) } (nested(spec, schema, Nesting::BODY)) }
}

fn part_of(spec: &Spec<'_>, schema: &Node, at: Nesting<'_>) -> Markup {
    html! { (summary(spec, schema)) (nested(spec, schema, at)) }
}

/// Returns the bounds and the details of the items of a list. The list's own line has their type.
fn element(spec: &Spec<'_>, items: &Node, at: Nesting<'_>) -> Markup {
    let has_bounds = !bounds(spec.resolve(items)).is_empty();
    html! {
        @if has_bounds { p { "Each item: " (summary(spec, items)) } }
        (nested(spec, items, at))
    }
}

/// Returns the description and the details of a schema in another one.
fn nested(spec: &Spec<'_>, schema: &Node, at: Nesting<'_>) -> Markup {
    let is_shown = schema.get("$ref").is_none() || component(schema).is_some_and(|name| at.shows(name));
    html! {
        @if is_shown { (markdown::block(text(spec.resolve(schema), "description"), Headings::Bold)) }
        (details(spec, schema, at))
    }
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
    at: Nesting<'_>,
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
        (details(spec, schema, at))
    }
}

/// Returns the keywords of a node that are not in `shown`, as they are.
pub(crate) fn others(node: &Node, shown: &[&str]) -> Markup {
    let rest = node.entries().iter().filter(|entry| !shown.contains(&&*entry.key));
    html! { @for entry in rest { p.other { code { (entry.key) ": " (json(&entry.value)) } } } }
}
