//! Checks single values and keys: type, form, and suggestions for misspelt keys.

use crate::names::nearest;
pub use crate::text::type_of;
use crate::text::{Node, Value};

use super::{Flaw, Keys, Kind, METHODS, Shape};

/// Returns the keyword of an object that is the most similar to a misspelt key.
pub fn meant(kind: Kind, key: &str) -> Option<&'static str> {
    let keywords = kind.table().keywords.iter().map(|(keyword, ..)| *keyword);
    nearest(key, keywords)
}

/// Whether a key has a form.
pub fn has_form(keys: Keys, key: &str) -> bool {
    match keys {
        Keys::Paths => key.starts_with('/'),
        Keys::Statuses => is_status(key),
        Keys::ComponentNames => is_component_name(key),
        // A method is the key of a path item without the expression above it.
        Keys::Expressions => !METHODS.contains(&key),
        Keys::Names | Keys::Extensions | Keys::Nothing => true,
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

/// Returns what is wrong with the type of a value, or with a value that contains no others.
pub fn wrong_value<'a>(shape: &Shape, node: &'a Node) -> Option<Flaw<'a>> {
    let has_form = match (shape, &node.value) {
        (Shape::Uri, Value::String(text)) => fluent_uri::IriRef::parse(text.as_str()).is_ok(),
        (Shape::Email, Value::String(text)) => is_email(text),
        (Shape::Word(words), Value::String(text)) => words.contains(&text.as_str()),
        (Shape::Count, Value::Number(number)) => number.is_u64(),
        (Shape::Any, _)
        | (Shape::Text, Value::String(_))
        | (Shape::Number, Value::Number(_))
        | (Shape::Boolean | Shape::SchemaOrBoolean, Value::Bool(_))
        | (Shape::List(_), Value::Sequence(_)) => true,
        (
            Shape::Map(..) | Shape::Object(_) | Shape::Either(_) | Shape::SchemaOrBoolean,
            Value::Mapping(_),
        ) => true,
        _ => return Some(Flaw::Type(*shape, node)),
    };
    (!has_form).then_some(Flaw::Value(*shape, node))
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
