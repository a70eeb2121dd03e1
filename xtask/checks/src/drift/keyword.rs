//! Compares keywords that hold plain data.

use document::Node;
use document::finding::{Spot, shortened};
use document::openapi::{Kind, Object, Parameter, Shape, Step};
use document::repair::Repair;
use serde_json::Value;

use super::rules::differs;
use super::{Comparison, Pair};
use crate::subschema::canonical;

impl Comparison<'_> {
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
        let here = line(keyword, document.as_ref(), code.as_ref());
        let there = line(keyword, code.as_ref(), document.as_ref());
        let mut item = None;
        let mut spot = match (&document, &code) {
            (Some(_), None) => written.key_spot(keyword),
            _ => written.value_spot(keyword),
        };
        let message = match (&document, &code) {
            (Some(all @ Value::Array(document)), Some(of_code @ Value::Array(code))) if is_set => {
                let extra = document.iter().position(|item| !has(code, item));
                let missing = code.iter().find(|item| !has(document, item));
                if let Some(number) = extra {
                    spot = item_spot(*written, keyword, number);
                }
                let extra = extra.map(|number| &document[number]);
                item = missing.or(extra).map(|item| display(item, None));
                let extra = extra.map(|item| display(item, Some(of_code)));
                let missing = missing.map(|item| display(item, Some(all)));
                let start = format!("`{keyword}` of {subject} has");
                match (extra, missing) {
                    (Some(extra), Some(missing)) => {
                        format!("{start} `{extra}` in the document, where the code has `{missing}`.")
                    }
                    (Some(extra), None) => format!("{start} `{extra}` in the document, but not in the code."),
                    (None, missing) => {
                        let missing = missing.unwrap_or_default();
                        format!("{start} `{missing}` in the code, but not in the document.")
                    }
                }
            }
            (Some(document), Some(code)) => {
                let by_default = |object: &Object<'_>| if object.has(keyword) { "" } else { " by default" };
                format!(
                    "`{keyword}` of {subject} is `{}`{} in the document and `{}`{} in the code.",
                    display(document, Some(code)),
                    by_default(written),
                    display(code, Some(document)),
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
        let is_empty = |value: &Value| value.as_array().is_some_and(Vec::is_empty);
        let (at, key) = (written.pointer(), keyword.to_owned());
        let place = || written.key_spot(keyword).pointer;
        let repair = match (document, code) {
            // The default of a list; most lists must not be empty.
            (Some(_), Some(value)) if is_empty(&value) && written.has(keyword) => {
                Some(Repair::Remove { at: place() })
            }
            // `operationId` is the name of the operation.
            (Some(_), Some(Value::String(to)))
                if (written.kind(), keyword) == (Kind::Operation, "operationId") =>
            {
                Some(Repair::Rename { at: place(), to })
            }
            (Some(_), Some(value)) if written.has(keyword) => Some(Repair::Write { at: place(), value }),
            (_, Some(value)) => Some(Repair::Add { at, key, value }),
            (Some(_), None) => Some(Repair::Remove { at: place() }),
            (None, None) => None,
        };
        self.add(finding.sides(here, there).fix(fix).instead(item).repair(repair));
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
    let value = value.filter(|value| keyword != "additionalProperties" || *value != serde_json::json!({}));
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

fn item_spot(object: Object<'_>, keyword: &str, number: usize) -> Spot {
    match object.get(keyword).and_then(|list| list.items().get(number)) {
        Some(item) => object.spot_at(&[Step::Key(keyword), Step::Item(number)], item.span),
        None => object.key_spot(keyword),
    }
}

/// A keyword and its value on one line. Text is quoted if the other side has something that is not text.
pub(super) fn line(keyword: &str, value: Option<&Value>, other: Option<&Value>) -> String {
    match value {
        Some(value) => format!("{keyword}: {}", display(value, other)),
        None => format!("no {keyword}"),
    }
}

/// Returns a value for use in a sentence.
pub(super) fn display(value: &Value, other: Option<&Value>) -> String {
    match value {
        Value::String(text) if text.is_empty() || other.is_some_and(|other| !is_text(other)) => quoted(text),
        Value::String(text) => shortened(text),
        Value::Array(items) if items.iter().all(|item| !item.is_object() && !item.is_array()) => {
            let item =
                |item: &Value| match item.as_str().filter(|text| text.contains([',', '[', ']', ':', '#'])) {
                    Some(text) => quoted(text),
                    None => display(item, other),
                };
            let items: Vec<_> = items.iter().map(item).collect();
            shortened(&format!("[{}]", items.join(", ")))
        }
        _ => shortened(&value.to_string()),
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", shortened(&text.replace('\'', "''")))
}

fn is_text(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().all(is_text),
        _ => value.is_string(),
    }
}

/// Whether two lists have the same items, in any order.
fn unordered(one: &Value, other: &Value) -> bool {
    let (Value::Array(one), Value::Array(other)) = (one, other) else { return false };
    one.iter().all(|item| has(other, item)) && other.iter().all(|item| has(one, item))
}

fn has(list: &[Value], item: &Value) -> bool {
    list.iter().any(|other| canonical(other) == canonical(item))
}
