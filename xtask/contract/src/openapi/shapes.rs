//! Single values and keys: of which type they are, what form they have, and what was meant.

use crate::document::{Node, Value};

use super::kind::{Keys, Kind, Shape};

/// Keywords of other versions, and what says the same in OpenAPI 3.0.
const ELSEWHERE: &[(&str, &str)] = &[
    ("const", "Write an `enum` of one value."),
    ("examples", "Write one `example`: a list of examples in a schema came with OpenAPI 3.1."),
    ("identifier", "Write the license's `url`: `identifier` came with OpenAPI 3.1."),
    ("webhooks", "Take it out: webhooks came with OpenAPI 3.1."),
    ("jsonSchemaDialect", "Take it out: it came with OpenAPI 3.1."),
    (
        "patternProperties",
        "Write `additionalProperties` with a schema: OpenAPI 3.0 has no patterns for names.",
    ),
    ("propertyNames", "Take it out: OpenAPI 3.0 has no schema for names."),
    ("prefixItems", "Write one schema for all `items`: OpenAPI 3.0 has no tuples."),
    ("contains", "Take it out: it came with OpenAPI 3.1."),
    ("dependentRequired", "Take it out: it came with OpenAPI 3.1."),
    ("if", "Write `oneOf`: conditions came with OpenAPI 3.1."),
    ("then", "Write `oneOf`: conditions came with OpenAPI 3.1."),
    ("else", "Write `oneOf`: conditions came with OpenAPI 3.1."),
    ("unevaluatedProperties", "Write `additionalProperties`: the other came with OpenAPI 3.1."),
    ("$defs", "Move it to `components/schemas`."),
    ("definitions", "Move it to `components/schemas`."),
    ("$schema", "Take it out: OpenAPI 3.0 has one dialect of schemas."),
    ("$id", "Take it out: schemas are named by their place."),
    ("contentEncoding", "Write `format: byte`."),
    ("contentMediaType", "Write `format: binary`."),
    ("pathItems", "Write the path under `paths`: `pathItems` came with OpenAPI 3.1."),
    ("swagger", "Write `openapi: 3.0.3`: the other is of OpenAPI 2."),
    ("host", "Write `servers`: the other is of OpenAPI 2."),
    ("basePath", "Write `servers`: the other is of OpenAPI 2."),
    ("consumes", "Write the media types under `requestBody`: the other is of OpenAPI 2."),
    ("produces", "Write the media types under each response: the other is of OpenAPI 2."),
    ("securityDefinitions", "Write `components/securitySchemes`: the other is of OpenAPI 2."),
    ("collectionFormat", "Write `style` and `explode`: the other is of OpenAPI 2."),
    ("$ref", "Write it out: the specification allows no reference here."),
];

/// How unlike a keyword may be and still be meant.
const ALIKE: usize = 2;

/// What would mend a key that is no keyword.
pub fn instead_of(kind: Kind, key: &str) -> String {
    let keywords = || kind.table().keywords.iter().map(|(keyword, ..)| *keyword);
    let folded = key.to_ascii_lowercase().replace(['-', '_'], "");
    // A keyword is short, and so is what is like one.
    let meant = (key.len() <= 40).then(|| {
        let distance = |keyword: &str| strsim::damerau_levenshtein(&folded, &keyword.to_ascii_lowercase());
        keywords().map(|keyword| (distance(keyword), keyword)).min()
    });
    let near = |distance: usize| distance <= ALIKE.min(key.len() / 3);
    if let Some((_, keyword)) = meant.flatten().filter(|(distance, _)| near(*distance)) {
        return format!("Did you mean `{keyword}`?");
    }
    if let Some((_, fix)) = ELSEWHERE.iter().find(|(keyword, _)| *keyword == key) {
        return (*fix).to_owned();
    }
    if kind == Kind::Discriminator {
        return "Take it out.".to_owned();
    }
    "Take it out, or begin its name with `x-` if tools of your own read it.".to_owned()
}

/// What would mend a key that has not the form it must have.
pub fn wrong_key(keys: Keys, key: &str) -> Option<&'static str> {
    match keys {
        Keys::Paths if !key.starts_with('/') => Some("Begin the path with a slash."),
        Keys::Statuses if !is_status(key) => {
            Some("Write a status from 100 to 599, a range such as `4XX`, or `default`.")
        }
        Keys::ComponentNames if !is_component_name(key) => {
            Some("Use letters, digits, `.`, `-` and `_` only, so that a reference can name it.")
        }
        _ => None,
    }
}

fn is_status(key: &str) -> bool {
    let Some((first, rest)) = key.split_at_checked(1) else { return false };
    let digits = rest.len() == 2 && rest.bytes().all(|byte| byte.is_ascii_digit());
    key == "default" || (("1"..="5").contains(&first) && (digits || rest == "XX"))
}

fn is_component_name(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte))
}

/// What is wrong with a value.
pub enum Wrong {
    /// It should be this instead.
    Type(&'static str),
    /// Its type is right. What would mend it.
    Value(String),
}

/// What is wrong with a value that is no object, list or map.
pub fn wrong_value(shape: &Shape, node: &Node) -> Option<Wrong> {
    let form = |right: bool, fix: &str| (!right).then(|| Wrong::Value(fix.to_owned()));
    let text = node.as_str();
    match (shape, &node.value) {
        (Shape::Text | Shape::Uri | Shape::Email | Shape::Word(_), _) if text.is_none() => {
            Some(Wrong::Type("text"))
        }
        (Shape::Uri, Value::String(text)) => form(
            fluent_uri::Uri::parse(text.as_str()).is_ok(),
            "Write a URL, such as `https://example.com/terms`.",
        ),
        (Shape::Email, Value::String(text)) => {
            form(is_email(text), "Write an address, such as `api@example.com`.")
        }
        (Shape::Word(words), Value::String(text)) if !words.contains(&text.as_str()) => {
            let fix = match words {
                [one] => format!("Write `{one}`."),
                _ => format!("Write one of `{}`.", words.join("`, `")),
            };
            Some(Wrong::Value(fix))
        }
        (Shape::Boolean, value) if !matches!(value, Value::Bool(_)) => Some(Wrong::Type("`true` or `false`")),
        (Shape::Number | Shape::Count, value) if !matches!(value, Value::Number(_)) => {
            Some(Wrong::Type("a number"))
        }
        (Shape::Count, Value::Number(number)) => {
            form(number.is_u64(), "Write an integer that is not negative.")
        }
        _ => None,
    }
}

fn is_email(text: &str) -> bool {
    let parts = text.split_once('@').filter(|(name, host)| !name.is_empty() && !host.contains('@'));
    parts.is_some_and(|(_, host)| host.contains('.')) && !text.contains(char::is_whitespace)
}

/// What a sentence calls the type of a value.
pub fn type_of(node: &Node) -> &'static str {
    match &node.value {
        Value::Null => "nothing",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Sequence(_) => "a list",
        Value::Mapping(_) => "a mapping",
    }
}

/// How a scalar reads.
pub fn text_of(node: &Node) -> String {
    match &node.value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Bool(value) => value.to_string(),
        _ => type_of(node).to_owned(),
    }
}

/// Of what is commonly mistaken, why it is wrong.
pub fn hint(keyword: &str, node: &Node) -> &'static str {
    match (keyword, &node.value) {
        ("type", Value::Sequence(_)) => ": OpenAPI 3.0 has one type and `nullable: true`",
        ("exclusiveMinimum" | "exclusiveMaximum", Value::Number(_)) => {
            ": in OpenAPI 3.0 it says whether `minimum` or `maximum` itself is excluded"
        }
        ("required", Value::Bool(_)) => ": a schema lists the names of the properties it requires",
        ("items", Value::Sequence(_)) => ": OpenAPI 3.0 has one schema for all items",
        ("version" | "openapi", Value::Number(_)) => ", in quotes",
        _ => "",
    }
}

pub(super) fn with_article(name: &str) -> String {
    let article = if name.starts_with(['A', 'E', 'I', 'O', 'U', 'X']) { "an" } else { "a" };
    format!("{article} {name}")
}
