//! Parameters.

use std::borrow::Cow;

use super::Object;

/// A Parameter Object with a name and a location, its reference resolved.
#[derive(Clone, Copy, Debug)]
pub struct Parameter<'a> {
    name: &'a str,
    location: &'a str,
    declared: Object<'a>,
    object: Object<'a>,
}

/// The serialization of a value: the style, and `explode` if it has an effect.
pub type Serialization<'a> = (&'a str, Option<bool>);

impl<'a> Parameter<'a> {
    /// Returns the view of an item of `parameters`. `None` if its reference has no target, or `name` or `in` is
    /// missing.
    pub fn new(declared: Object<'a>) -> Option<Self> {
        let object = declared.resolved()?;
        Some(Self { name: object.text("name")?, location: object.text("in")?, declared, object })
    }

    /// The name.
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// The location: `path`, `query`, `header` or `cookie`.
    pub fn location(&self) -> &'a str {
        self.location
    }

    /// Returns the location and the name, which identify the parameter within an operation. Names of headers are
    /// in lower case, since they are case-insensitive (RFC 9110, section 5.1).
    pub fn key(&self) -> (&'a str, Cow<'a, str>) {
        let name = match self.location {
            "header" => self.name.to_ascii_lowercase().into(),
            _ => self.name.into(),
        };
        (self.location, name)
    }

    /// The item of `parameters`, which may be a reference.
    pub fn declared(&self) -> Object<'a> {
        self.declared
    }

    /// Whether OpenAPI ignores the definition: a header that other keywords describe (section 4.7.12.1).
    pub fn is_ignored(&self) -> bool {
        let elsewhere = ["accept", "content-type", "authorization"];
        self.location == "header" && elsewhere.iter().any(|name| self.name.eq_ignore_ascii_case(name))
    }

    /// The `style`, by default that of the location (section 4.7.12.2).
    pub fn style(&self) -> &'a str {
        let default = if matches!(self.location, "query" | "cookie") { "form" } else { "simple" };
        self.object.text("style").unwrap_or(default)
    }

    /// Whether arrays and objects are split into several values, by default true for the style `form`.
    pub fn explode(&self) -> bool {
        let explode = self.object.get("explode").and_then(|node| node.as_bool());
        explode.unwrap_or(self.style() == "form")
    }

    /// Returns the serialization of the value.
    pub fn serialization(&self) -> Serialization<'a> {
        match self.location {
            "query" | "cookie" => serialization_in_pairs(self.style(), Some(self.explode()), self.schema()),
            _ => {
                let effective = explode_has_effect(self.style(), self.schema());
                (self.style(), Some(self.explode()).filter(|_| effective))
            }
        }
    }
}

/// Returns the serialization of a value in `name=value` pairs. All styles write a string, a number or a boolean like
/// `form`.
pub(super) fn serialization_in_pairs<'a>(
    style: &'a str,
    explode: Option<bool>,
    schema: Option<Object<'a>>,
) -> Serialization<'a> {
    let explode = explode.unwrap_or(style == "form");
    let style = if schema.is_some_and(is_scalar) { "form" } else { style };
    (style, Some(explode).filter(|_| explode_has_effect(style, schema)))
}

/// Whether `explode` affects a value of this style (section 4.7.12.2, the table of examples).
pub(super) fn explode_has_effect(style: &str, schema: Option<Object<'_>>) -> bool {
    let is_list = |schema| value_type(schema) == Some("array");
    match style {
        "deepObject" => false,
        "simple" | "label" if schema.is_some_and(is_list) => false,
        _ => !schema.is_some_and(is_scalar),
    }
}

fn is_scalar(schema: Object<'_>) -> bool {
    matches!(value_type(schema), Some("string" | "number" | "integer" | "boolean"))
}

/// Returns the `type` of a schema, or of a part of its `allOf`.
fn value_type(schema: Object<'_>) -> Option<&str> {
    const MAX_PARTS: usize = 100;
    let mut open = vec![schema];
    for _ in 0..MAX_PARTS {
        let schema = open.pop()?.resolved()?;
        if let Some(kind) = schema.text("type") {
            return Some(kind);
        }
        open.extend(schema.children("allOf"));
    }
    None
}

deref_to_object!(Parameter, object);
