//! Schemas.

use crate::text::Node;

use super::{Kind, Model, Object};

/// A Schema Object or a reference to one.
#[derive(Clone, Copy, Debug)]
pub struct Schema<'a>(Object<'a>);

/// The value of `additionalProperties`.
#[derive(Clone, Copy, Debug)]
pub enum Additional<'a> {
    /// Any value is allowed: `true`, or the keyword is missing.
    Any,
    /// No other properties are allowed.
    None,
    /// The values of other properties match this schema.
    Schema(Schema<'a>),
}

impl<'a> Model<'a> {
    /// The schemas under `components/schemas`, with their names.
    pub fn schemas(&'a self) -> impl Iterator<Item = (&'a str, Schema<'a>)> {
        let components = self.root().child("components");
        let schemas = components.into_iter().flat_map(|components| components.children("schemas"));
        schemas.map(|schema| (schema.name(), Schema(schema)))
    }
}

impl<'a> Schema<'a> {
    /// The view of an object of kind [`Kind::Schema`].
    pub fn new(object: Object<'a>) -> Self {
        debug_assert_eq!(object.kind(), Kind::Schema);
        Self(object)
    }

    /// Returns the schema with references resolved. `None` if a reference has no target.
    pub fn resolved(&self) -> Option<Schema<'a>> {
        self.0.resolved().map(Schema)
    }

    /// The name of the component that a reference leads to directly.
    pub fn reference_name(&self) -> Option<&'a str> {
        self.0.text("$ref").filter(|_| self.0.is_reference())?.rsplit('/').next()
    }

    /// The `type`.
    pub fn type_name(&self) -> Option<&'a str> {
        self.0.text("type")
    }

    /// The `format`.
    pub fn format(&self) -> Option<&'a str> {
        self.0.text("format")
    }

    /// The `properties`, references not resolved.
    pub fn properties(&self) -> impl Iterator<Item = (&'a str, Schema<'a>)> {
        self.0.children("properties").map(|property| (property.name(), Schema(property)))
    }

    /// The names in `required`.
    pub fn required(&self) -> impl Iterator<Item = &'a str> {
        self.0.get("required").map(Node::items).unwrap_or_default().iter().filter_map(Node::as_str)
    }

    /// Returns the value of `additionalProperties`, by default `Any`.
    pub fn additional_properties(&self) -> Additional<'a> {
        match self.0.child("additionalProperties") {
            Some(schema) => Additional::Schema(Schema(schema)),
            None if self.0.get("additionalProperties").and_then(Node::as_bool) == Some(false) => {
                Additional::None
            }
            None => Additional::Any,
        }
    }

    /// The schema of the items.
    pub fn items(&self) -> Option<Schema<'a>> {
        self.0.child("items").map(Schema)
    }

    /// The schemas under `allOf`, `oneOf`, `anyOf` or `not`, references not resolved.
    pub fn members(&self, keyword: &'static str) -> impl Iterator<Item = Schema<'a>> {
        self.0.children(keyword).map(Schema)
    }
}

deref_to_object!(Schema, 0);
