//! The keywords of a schema: what each must hold, and what becomes of those that nothing here compares.

use crate::document::{Node, Value};

use super::{Both, Schema};
use crate::breaking::comparer::{Comparer, Side};
use crate::breaking::unknown;

#[derive(Clone, Copy)]
enum Shape {
    Text,
    Number,
    Count,
    Bool,
    List,
    Mapping,
    BoolOrMapping,
    Anything,
}

/// OpenAPI 3.0.3, section 4.7.24. `xml` is left to the keywords that nothing compares.
const KEYWORDS: &[(&str, Shape)] = &[
    ("type", Shape::Text),
    ("properties", Shape::Mapping),
    ("required", Shape::List),
    ("description", Shape::Anything),
    ("format", Shape::Text),
    ("enum", Shape::List),
    ("items", Shape::Mapping),
    ("minimum", Shape::Number),
    ("maximum", Shape::Number),
    ("exclusiveMinimum", Shape::Bool),
    ("exclusiveMaximum", Shape::Bool),
    ("multipleOf", Shape::Number),
    ("minLength", Shape::Count),
    ("maxLength", Shape::Count),
    ("pattern", Shape::Text),
    ("minItems", Shape::Count),
    ("maxItems", Shape::Count),
    ("uniqueItems", Shape::Bool),
    ("minProperties", Shape::Count),
    ("maxProperties", Shape::Count),
    ("additionalProperties", Shape::BoolOrMapping),
    ("allOf", Shape::List),
    ("oneOf", Shape::List),
    ("anyOf", Shape::List),
    ("not", Shape::Mapping),
    ("nullable", Shape::Bool),
    ("readOnly", Shape::Bool),
    ("writeOnly", Shape::Bool),
    ("deprecated", Shape::Bool),
    ("discriminator", Shape::Mapping),
    ("default", Shape::Anything),
    ("title", Shape::Anything),
    ("example", Shape::Anything),
    ("externalDocs", Shape::Anything),
];

/// Notes every keyword that does not hold what it must.
pub(super) fn check<'a>(cx: &mut Comparer<'a>, side: Side, schema: &Schema<'a>) {
    for part in &schema.parts {
        for entry in part.entries() {
            let Some((keyword, shape)) = KEYWORDS.iter().find(|(keyword, _)| *keyword == entry.key) else {
                continue;
            };
            if let Err(wanted) = fits(&entry.value, *shape) {
                cx.not_understood(side, &entry.value, format!("`{keyword}` must be {wanted}"));
            }
        }
    }
}

fn fits(node: &Node, shape: Shape) -> Result<(), &'static str> {
    let fitting = match (shape, &node.value) {
        (Shape::Anything, _)
        | (Shape::Text, Value::String(_))
        | (Shape::Number, Value::Number(_))
        | (Shape::Bool | Shape::BoolOrMapping, Value::Bool(_))
        | (Shape::List, Value::Sequence(_))
        | (Shape::Mapping | Shape::BoolOrMapping, Value::Mapping(_)) => true,
        (Shape::Count, Value::Number(number)) => number.is_u64(),
        _ => false,
    };
    let wanted = match shape {
        Shape::Text => "text",
        Shape::Number => "a number",
        Shape::Count => "a whole number",
        Shape::Bool => "true or false",
        Shape::List => "a list",
        Shape::Mapping => "a mapping",
        Shape::BoolOrMapping => "true, false or a mapping",
        Shape::Anything => "anything",
    };
    if fitting { Ok(()) } else { Err(wanted) }
}

/// Compares the keywords that are not in the list, as data.
pub(super) fn compare_others<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
    let known = |keyword: &str| KEYWORDS.iter().any(|(name, _)| *name == keyword);
    let others = |schema: &Schema<'a>| -> Vec<(&'a str, &'a Node)> {
        let entries = schema.parts.iter().flat_map(|part| part.entries());
        entries.filter(|entry| !known(&entry.key)).map(|entry| (entry.key.as_str(), &entry.value)).collect()
    };
    unknown::compare_entries(cx, &others(&both.base), &others(&both.revision), both.revision.anchor);
}
