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

/// How a value is written: the style, and `explode` if it has an effect.
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

    /// Returns how the value is written.
    pub fn serialization(&self) -> Serialization<'a> {
        serialization(Some(self.object), matches!(self.location, "query" | "cookie"), self.schema())
    }
}

/// Returns how a value is written, given the object with its `style` and `explode`, and whether it is in `name=value`
/// pairs. There all styles write a string, a number or a boolean like `form`. `explode` has no effect on these, nor in
/// some styles (section 4.7.12.2, the table of examples).
pub fn serialization<'a>(
    object: Option<Object<'a>>,
    is_in_pairs: bool,
    schema: Option<Object<'_>>,
) -> Serialization<'a> {
    let default = if is_in_pairs { "form" } else { "simple" };
    let style = object.and_then(|object| object.text("style")).unwrap_or(default);
    let explode = object.and_then(|object| object.get("explode")?.as_bool()).unwrap_or(style == "form");
    match schema.and_then(value_type) {
        Some("string" | "number" | "integer" | "boolean") => (if is_in_pairs { "form" } else { style }, None),
        Some("array") if matches!(style, "simple" | "label") => (style, None),
        _ => (style, Some(explode).filter(|_| style != "deepObject")),
    }
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
