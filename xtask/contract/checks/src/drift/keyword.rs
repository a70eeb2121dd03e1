//! Compares keywords that hold plain data.

use document::Node;
use document::openapi::{Kind, Object, Parameter, Shape};
use document::repair::Repair;
use document::shortened;
use serde_json::{Value, json};

use super::rules::differs;
use super::{Comparison, Pair};
use crate::lint::item_spot;
use crate::subschema::canonical;

impl Comparison {
    /// Compares a keyword that holds plain data.
    pub(super) fn value(&mut self, pair: &Pair<'_>, keyword: &str, shape: &Shape) {
        let Pair { subject, written, coded } = pair;
        let (document, code) = (value(*written, keyword, shape), value(*coded, keyword, shape));
        let is_set = matches!(shape, Shape::List(_));
        let is_same = match (&document, &code) {
            (None, None) => true,
            (Some(document), Some(code)) => {
                canonical(document) == canonical(code) || (is_set && unordered(document, code))
            }
            _ => false,
        };
        if is_same {
            return;
        }
        let (here, there) = (line(keyword, document.as_ref()), line(keyword, code.as_ref()));
        let mut item = None;
        let mut spot = match (&document, &code) {
            (Some(_), None) => written.key_spot(keyword),
            _ => written.value_spot(keyword),
        };
        let message = match (&document, &code) {
            (Some(Value::Array(document)), Some(Value::Array(code))) if is_set => {
                let extra = document.iter().position(|item| !has(code, item));
                if let Some(number) = extra {
                    spot = item_spot(*written, keyword, number);
                }
                let extra = extra.map(|number| display(&document[number]));
                let missing = code.iter().find(|item| !has(document, item)).map(display);
                let only = [("document", &extra), ("code", &missing)].into_iter();
                let only =
                    only.filter_map(|(side, it)| Some(format!("only the {side} has `{}`", it.as_ref()?)));
                let only = only.collect::<Vec<_>>().join(", ");
                item = missing.or(extra);
                format!("`{keyword}` of {subject} differs: {only}.")
            }
            (Some(document), Some(code)) => {
                let by_default = |object: &Object<'_>| if object.has(keyword) { "" } else { " by default" };
                format!(
                    "`{keyword}` of {subject} is `{}`{} in the document and `{}`{} in the code.",
                    display(document),
                    by_default(written),
                    display(code),
                    by_default(coded)
                )
            }
            (Some(_), None) => format!("{subject} has `{here}` in the document, but not in the code."),
            (None, _) => format!("{subject} has `{there}` in the code, but not in the document."),
        };
        let fix = match (&document, &code) {
            (Some(_), Some(_)) => format!("Change the code to `{here}`, or write `{there}` here."),
            (Some(_), None) => format!("Add `{here}` to the code, or remove it here."),
            (None, _) => format!("Remove `{keyword}` from the code, or write `{there}` here."),
        };
        let finding = differs(written.kind()).at(&spot).message(&subject.with("keyword", keyword), message);
        // An empty list is the default of a list; most lists must not be empty.
        let code = code.filter(|value| *value != json!([]));
        let repair = match code {
            None => Repair::Remove { at: written.key_spot(keyword).pointer },
            Some(value) if written.has(keyword) => {
                Repair::Write { at: written.key_spot(keyword).pointer, value }
            }
            Some(value) => Repair::Add { at: written.pointer(), key: keyword.to_owned(), value },
        };
        self.add(finding.sides(here, there).fix(fix).instead(item).repair(Some(repair)));
    }
}

/// The value of a keyword, or its default.
fn value(object: Object<'_>, keyword: &str, shape: &Shape) -> Option<Value> {
    if let (Kind::Parameter, "style" | "explode") = (object.kind(), keyword)
        && let Some(parameter) = Parameter::new(object)
    {
        let style = keyword == "style";
        return Some(if style { parameter.style().into() } else { parameter.explode().into() });
    }
    let value = object.get(keyword).map(Node::to_json);
    // `additionalProperties: {}` is the same as the default `true`.
    let value = value.filter(|value| keyword != "additionalProperties" || *value != json!({}));
    value.or_else(|| match shape {
        Shape::Boolean => Some(false.into()),
        Shape::SchemaOrBoolean => Some(true.into()),
        Shape::Count if keyword.starts_with("min") => Some(0.into()),
        Shape::List(_) if keyword != "enum" => Some(Value::Array(Vec::new())),
        Shape::Map(..) => Some(Value::Object(serde_json::Map::new())),
        Shape::Word(_) if (object.kind(), keyword) == (Kind::Header, "style") => Some("simple".into()),
        _ => None,
    })
}

/// A keyword and its value on one line.
fn line(keyword: &str, value: Option<&Value>) -> String {
    match value {
        Some(value) => format!("{keyword}: {}", display(value)),
        None => format!("no {keyword}"),
    }
}

/// Returns a value for use in a sentence, on one line of YAML.
pub(super) fn display(value: &Value) -> String {
    let is_plain = |text: &str| {
        let is_other = text.parse::<f64>().is_ok() || ["", "true", "false", "null", "~"].contains(&text);
        !is_other && !text.contains([',', '[', ']', ':', '#'])
    };
    shortened(&match value {
        Value::String(text) if is_plain(text) => text.clone(),
        Value::String(text) => format!("'{}'", text.replace('\'', "''")),
        Value::Array(items) => format!("[{}]", items.iter().map(display).collect::<Vec<_>>().join(", ")),
        _ => value.to_string(),
    })
}

/// Whether two lists have the same items, in any order.
fn unordered(one: &Value, other: &Value) -> bool {
    let (Value::Array(one), Value::Array(other)) = (one, other) else { return false };
    one.iter().all(|item| has(other, item)) && other.iter().all(|item| has(one, item))
}

fn has(list: &[Value], item: &Value) -> bool {
    list.iter().any(|other| canonical(other) == canonical(item))
}
