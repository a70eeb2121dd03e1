//! Keywords that hold plain data: what each side says, and whether that is the same.

use serde_json::Value;

use crate::document::Node;
use crate::finding::{Spot, Subject, shortened};
use crate::openapi::{Kind, Object, Parameter, Shape, Step};

/// A difference between two values of a keyword.
pub(super) struct Difference {
    pub(super) spot: Spot,
    pub(super) message: String,
    /// What the document says.
    pub(super) document: String,
    /// What the code says.
    pub(super) code: String,
    pub(super) fix: String,
    /// The item that only one of two lists has.
    pub(super) item: Option<String>,
}

/// What the document and the code say differently under a keyword.
pub(super) fn difference(
    subject: &Subject,
    written: Object<'_>,
    coded: Object<'_>,
    keyword: &str,
    shape: &Shape,
) -> Option<Difference> {
    let (document, code) = (value(written, keyword, shape), value(coded, keyword, shape));
    let is_set = matches!(shape, Shape::List(_));
    let (document, code) = match (document, code) {
        (None, None) => return None,
        (Some(document), Some(code)) if is_set && unordered(&document, &code) => return None,
        (Some(document), Some(code)) if same(&document, &code) => return None,
        sides => sides,
    };
    let line =
        (line(keyword, document.as_ref(), code.as_ref()), line(keyword, code.as_ref(), document.as_ref()));
    let (here, there) = (&line.0, &line.1);
    let mut item = None;
    let mut spot = match (&document, &code) {
        (Some(_), None) => written.key_spot(keyword),
        _ => written.value_spot(keyword),
    };
    let message = match (&document, &code) {
        (Some(all @ Value::Array(document)), Some(of_code @ Value::Array(code))) if is_set => {
            let extra = document.iter().position(|item| !code.iter().any(|other| same(item, other)));
            let missing = code.iter().find(|item| !document.iter().any(|other| same(item, other)));
            if let Some(number) = extra {
                spot = item_spot(written, keyword, number);
            }
            let extra = extra.map(|number| &document[number]);
            item = missing.or(extra).map(|item| said(item, None));
            let start = format!("`{keyword}` of {subject} has");
            match (extra.map(|item| said(item, Some(of_code))), missing.map(|item| said(item, Some(all)))) {
                (Some(extra), Some(missing)) => {
                    format!("{start} `{extra}` in the document, where the code has `{missing}`.")
                }
                (Some(extra), None) => format!("{start} `{extra}` in the document, but not in the code."),
                (None, missing) => {
                    format!("{start} `{}` in the code, but not in the document.", missing.unwrap_or_default())
                }
            }
        }
        (Some(document), Some(code)) => {
            let by_default = |object: Object<'_>| if object.has(keyword) { "" } else { " by default" };
            format!(
                "`{keyword}` of {subject} is `{}`{} in the document and `{}`{} in the code.",
                said(document, Some(code)),
                by_default(written),
                said(code, Some(document)),
                by_default(coded)
            )
        }
        (Some(_), None) => format!("{subject} has `{here}` in the document, but not in the code."),
        (None, _) => format!("{subject} has `{there}` in the code, but not in the document."),
    };
    let fix = match (&document, &code) {
        (Some(_), Some(_)) => format!("Change the code to `{here}`, or write `{there}` here."),
        (Some(_), None) => format!("Add `{here}` to the code, or take it out here."),
        (None, _) => format!("Take `{keyword}` out of the code, or write `{there}` here."),
    };
    Some(Difference { spot, message, document: line.0, code: line.1, fix, item })
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
    // No restriction, in another spelling.
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
        Some(value) => format!("{keyword}: {}", said(value, other)),
        None => format!("no {keyword}"),
    }
}

/// A value for a sentence.
pub(super) fn said(value: &Value, other: Option<&Value>) -> String {
    match value {
        Value::String(text) if text.is_empty() || other.is_some_and(|other| !is_text(other)) => quoted(text),
        Value::String(text) => shortened(text),
        Value::Array(items) if items.iter().all(|item| !item.is_object() && !item.is_array()) => {
            let item =
                |item: &Value| match item.as_str().filter(|text| text.contains([',', '[', ']', ':', '#'])) {
                    Some(text) => quoted(text),
                    None => said(item, other),
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
    let within =
        |one: &[Value], other: &[Value]| one.iter().all(|item| other.iter().any(|it| same(item, it)));
    within(one, other) && within(other, one)
}

/// Whether two values are the same. Numbers are compared by value, whatever their spelling.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => match (one.as_i128(), other.as_i128()) {
            (Some(one), Some(other)) => one == other,
            _ => one.as_f64() == other.as_f64(),
        },
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, value)| other.get(key).is_some_and(|other| same(value, other)))
        }
        _ => one == other,
    }
}
