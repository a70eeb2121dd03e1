//! Checks single values and keys: type, form, and suggestions for misspelt keys.

use crate::finding::nearest;
use crate::repair::Repair;
pub use crate::text::type_of;
use crate::text::{Node, Value};

use super::{Keys, Kind, METHODS, Shape};

const NOTHING: &str = "Remove it: OpenAPI 3.0 has nothing like it.";
/// Keywords of other versions, whether removing them is enough, and the equivalent in OpenAPI 3.0.
const ELSEWHERE: &[(&[&str], bool, &str)] = &[
    (&["const"], false, "Write an `enum` of one value."),
    (
        &["examples"],
        false,
        "Write one `example` in a schema. The examples of a response belong to its media types.",
    ),
    (&["identifier"], false, "Write the license's `url`: `identifier` came with OpenAPI 3.1."),
    (&["webhooks", "jsonSchemaDialect", "contains", "$schema", "$id"], true, NOTHING),
    (&["dependentRequired", "propertyNames"], true, NOTHING),
    (
        &["patternProperties", "unevaluatedProperties"],
        false,
        "Write `additionalProperties`: this keyword came with OpenAPI 3.1.",
    ),
    (&["prefixItems"], false, "Write one schema for all `items`: OpenAPI 3.0 has no tuples."),
    (&["if", "then", "else"], false, "Write `oneOf`: conditions came with OpenAPI 3.1."),
    (&["$defs", "definitions"], false, "Move it to `components/schemas`."),
    (&["contentEncoding", "contentMediaType"], false, "Write `format: byte` or `format: binary`."),
    (&["pathItems"], false, "Write the path under `paths`: `pathItems` came with OpenAPI 3.1."),
    (
        &["swagger", "host", "basePath", "consumes", "produces", "securityDefinitions", "collectionFormat"],
        false,
        "Convert the document, for example with `swagger2openapi`: this keyword is of Swagger 2.0.",
    ),
    (&["$ref"], false, "Write it out: the specification allows no reference here."),
];

/// Returns the keyword of an object that is the most similar to a misspelt key.
pub fn meant(kind: Kind, key: &str) -> Option<&'static str> {
    let keywords = kind.table().keywords.iter().map(|(keyword, ..)| *keyword);
    nearest(key, keywords)
}

/// The fix for a key that is not a keyword.
pub(crate) fn instead_of(kind: Kind, key: &str) -> String {
    let elsewhere = ELSEWHERE.iter().find(|(keywords, ..)| keywords.contains(&key));
    match (elsewhere, meant(kind, key)) {
        (Some((.., fix)), _) => (*fix).to_owned(),
        (None, Some(keyword)) => format!("Did you mean `{keyword}`?"),
        (None, None) if kind == Kind::Discriminator => "Remove it.".to_owned(),
        (None, None) => "Remove it, or begin its name with `x-` if tools of your own read it.".to_owned(),
    }
}

/// Returns the repair of an entry whose key is not a keyword, if [`instead_of`] names exactly that. `at` is the pointer of
/// its value.
pub(crate) fn repair_of(kind: Kind, key: &str, at: String) -> Option<Repair> {
    let elsewhere = ELSEWHERE.iter().find(|(keywords, ..)| keywords.contains(&key));
    match (elsewhere, meant(kind, key)) {
        (Some((_, false, _)), _) => None,
        (None, Some(keyword)) => Some(Repair::Rename { at, to: keyword.to_owned() }),
        _ => Some(Repair::Remove { at }),
    }
}

/// Returns a scalar as the expected type, if it is written like one of that type: `'true'` as a boolean, `1.10` as the
/// same text. `written` may begin with an anchor or a tag.
pub(super) fn converted(expected: &str, node: &Node, written: &str) -> Option<serde_json::Value> {
    match (expected, &node.value) {
        ("a string", Value::Number(_) | Value::Bool(_)) => written.split_whitespace().last().map(Into::into),
        ("`true` or `false`", Value::String(text)) => text.parse::<bool>().ok().map(Into::into),
        ("a number", Value::String(text)) => text.parse::<serde_json::Number>().ok().map(Into::into),
        _ => None,
    }
}

/// The fix for a key of the wrong form; `None` if its form is right.
pub fn wrong_key(keys: Keys, key: &str) -> Option<&'static str> {
    match keys {
        Keys::Paths if !key.starts_with('/') => Some("Begin the path with a slash."),
        Keys::Statuses if !is_status(key) => {
            Some("Write a status from 100 to 599, a range such as `4XX`, or `default`.")
        }
        // A path item without the expression above it.
        Keys::Expressions if METHODS.contains(&key) => {
            Some("Write the operation below a URL or a runtime expression, such as `{$request.body#/url}`.")
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

/// A problem with a value.
pub enum Wrong {
    /// The type is wrong. Contains the expected type.
    Type(&'static str),
    /// The type is right, but the value is wrong. Contains the fix.
    Value(String),
}

/// Returns the problem with a value that is not an object, list or map.
pub fn wrong_value(shape: &Shape, node: &Node) -> Option<Wrong> {
    let form = |right: bool, fix: &str| (!right).then(|| Wrong::Value(fix.to_owned()));
    let text = node.as_str();
    match (shape, &node.value) {
        (Shape::Text | Shape::Uri | Shape::Email | Shape::Word(_), _) if text.is_none() => {
            Some(Wrong::Type("a string"))
        }
        (Shape::Uri, Value::String(text)) => form(
            fluent_uri::IriRef::parse(text.as_str()).is_ok(),
            "Write a URL such as `https://example.com/terms`, percent-encoded where necessary.",
        ),
        (Shape::Email, Value::String(text)) => {
            form(is_email(text), "Write an email address such as `api@example.com`.")
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
        (Shape::Count, Value::Number(number)) => form(number.is_u64(), "Write a non-negative integer."),
        _ => None,
    }
}

fn is_email(text: &str) -> bool {
    let parts = text.rsplit_once('@').filter(|(name, host)| !name.is_empty() && !host.is_empty());
    parts.is_some() && !text.contains(char::is_whitespace)
}

/// A scalar as text.
pub fn text_of(node: &Node) -> String {
    match &node.value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Bool(value) => value.to_string(),
        _ => type_of(node).to_owned(),
    }
}

/// An explanation for common mistakes, to append to the fix.
pub fn hint(keyword: &str, node: &Node) -> &'static str {
    match (keyword, &node.value) {
        ("type", Value::Sequence(_)) => ": OpenAPI 3.0 has one type and `nullable: true`",
        ("exclusiveMinimum" | "exclusiveMaximum", Value::Number(_)) => {
            ": in OpenAPI 3.0 it is `true` if `minimum` or `maximum` itself is excluded"
        }
        ("$ref", Value::Null) => ", in quotes: without them, `#` begins a comment",
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
