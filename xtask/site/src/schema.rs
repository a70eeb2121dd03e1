//! Schemas: the type and the bounds in one line, then properties and parts. A reference to a component is a link with the
//! bounds of the component. Bodies show its properties too, those below the second level folded.

use document::{Node, Value};
use maud::{Markup, html};

use crate::markdown;
use crate::spec::{Spec, anchor, entries, flag, items, json, text, word};

/// The keywords that [`type_name`], [`bounds`] and [`details`] show in words. Others are shown as they are.
const SHOWN: &str = "$ref type format description enum default nullable readOnly writeOnly deprecated minimum maximum \
    exclusiveMinimum exclusiveMaximum minLength maxLength pattern minItems maxItems uniqueItems minProperties \
    maxProperties properties required additionalProperties items allOf oneOf anyOf not example";

/// A keyword of one or several other schemas, and the words before them.
const PARTS: [(&str, &str); 5] = [
    ("additionalProperties", "Other fields:"),
    ("allOf", "All of these apply:"),
    ("oneOf", "Exactly one of these:"),
    ("anyOf", "One or more of these:"),
    ("not", "But not:"),
];

/// The level of properties below which they are folded.
const FOLDED: usize = 2;
/// The level of properties below which a reference is only a link.
const DEEPEST: usize = 5;

/// Where a schema is shown: the level of its properties, and the components that it is in.
#[derive(Clone, Copy)]
pub(crate) struct Nesting<'n> {
    level: usize,
    inside: &'n [&'n str],
}

impl Nesting<'_> {
    /// A body.
    pub(crate) const BODY: Nesting<'static> = Nesting { level: 0, inside: &[] };
    /// The list of components, which has each of them.
    pub(crate) const COMPONENTS: Nesting<'static> = Nesting { level: DEEPEST, inside: &[] };
}

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
}

/// Returns the bounds of the values of a schema, each in words.
fn bounds(schema: &Node) -> Vec<Markup> {
    let mut bounds = Vec::new();
    let above = if flag(schema, "exclusiveMinimum") { "more than" } else { "at least" };
    let below = if flag(schema, "exclusiveMaximum") { "less than" } else { "at most" };
    for (least, most, unit) in [
        ("minimum", "maximum", ""),
        ("minLength", "maxLength", " characters"),
        ("minItems", "maxItems", " items"),
        ("minProperties", "maxProperties", " fields"),
    ] {
        let is_inclusive = !unit.is_empty() || (above, below) == ("at least", "at most");
        let [above, below] = if unit.is_empty() { [above, below] } else { ["at least", "at most"] };
        bounds.push(match [least, most].map(|keyword| schema.get(keyword).map(json)) {
            [Some(least), Some(most)] if least == most => html! { "exactly " (least) (unit) },
            [Some(least), Some(most)] if is_inclusive => html! { (least) " to " (most) (unit) },
            [Some(least), Some(most)] => html! { (above) " " (least) " and " (below) " " (most) },
            [Some(least), None] => html! { (above) " " (least) (unit) },
            [None, Some(most)] => html! { (below) " " (most) (unit) },
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

/// Returns what a line cannot show: properties, parts and items without a name, and other keywords.
pub(crate) fn details(spec: &Spec<'_>, schema: &Node, at: Nesting<'_>) -> Markup {
    if schema.get("$ref").is_some() {
        return match shown(spec, schema, at) {
            Some((name, target)) => {
                details(spec, target, Nesting { inside: &[at.inside, &[name]].concat(), ..at })
            }
            None => html! {},
        };
    }
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
                        li { (field(spec, name, property, "", required, below)) }
                    }
                }
            };
            @if (FOLDED..DEEPEST).contains(&at.level) { details { summary { "Fields" } (fields) } } @else { (fields) }
        }
        @for name in undescribed { p { "The field " code { (name) } " is required." } }
        @if let Some(items) = schema.get("items") {
            // The list's own line has their type.
            @if !bounds(spec.resolve(items)).is_empty() { p { "Each item: " (summary(spec, items)) } }
            (nested(spec, items, at))
        }
        @for (keyword, words) in PARTS {
            @match schema.get(keyword).map(|parts| (&parts.value, parts)) {
                Some((Value::Bool(false), _)) => { p.bound { "No other fields." } }
                Some((Value::Mapping(_), part)) => { p { (words) } ul.fields { li { (part_of(spec, part, at)) } } }
                Some((Value::Sequence(_), parts)) => {
                    p { (words) }
                    ul.fields { @for part in parts.items() { li { (part_of(spec, part, at)) } } }
                }
                _ => {}
            }
        }
        (others(schema, SHOWN))
    }
}

/// Returns the name and the target of a reference to a component whose properties are shown here.
fn shown<'a>(spec: &Spec<'a>, schema: &'a Node, at: Nesting<'_>) -> Option<(&'a str, &'a Node)> {
    spec.component(schema).filter(|(name, _)| at.level < DEEPEST && !at.inside.contains(name))
}

/// Returns the line and the details of the schema of a body.
pub(crate) fn whole(spec: &Spec<'_>, schema: &Node) -> Markup {
    html! { p { (summary(spec, schema)) } (nested(spec, schema, Nesting::BODY)) }
}

fn part_of(spec: &Spec<'_>, schema: &Node, at: Nesting<'_>) -> Markup {
    html! { (summary(spec, schema)) (nested(spec, schema, at)) }
}

/// Returns the description and the details of a schema in another one.
fn nested(spec: &Spec<'_>, schema: &Node, at: Nesting<'_>) -> Markup {
    let described =
        if schema.get("$ref").is_none() { Some(schema) } else { shown(spec, schema, at).map(|it| it.1) };
    html! {
        @if let Some(schema) = described { (markdown::block(text(schema, "description"))) }
        (details(spec, schema, at))
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
    at: Nesting<'_>,
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
        (details(spec, schema, at))
    }
}

/// Returns the keywords of a node that are not in `shown`, as they are.
pub(crate) fn others(node: &Node, shown: &str) -> Markup {
    let is_shown = |keyword: &str| shown.split_whitespace().any(|known| known == keyword);
    let rest = node.entries().iter().filter(|entry| !is_shown(&entry.key));
    html! { @for entry in rest { p.other { code { (entry.key) ": " (json(&entry.value)) } } } }
}
