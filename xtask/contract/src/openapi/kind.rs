//! What a table of [`super::tables`] says about an object of OpenAPI 3.0.3.

use super::Kind;

/// The type of the value of a keyword.
#[derive(Debug)]
pub enum Shape {
    /// Any value.
    Any,
    /// A string.
    Text,
    /// `true` or `false`.
    Boolean,
    /// A number.
    Number,
    /// A non-negative integer.
    Count,
    /// A URL, absolute or relative (section 4.6).
    Uri,
    /// An email address.
    Email,
    /// One of these strings.
    Word(&'static [&'static str]),
    /// A list of these.
    List(&'static Shape),
    /// A map from such keys to these.
    Map(Keys, &'static Shape),
    /// An object of this kind.
    Object(Kind),
    /// An object of this kind, or a reference to one.
    Either(Kind),
    /// A schema, a reference to one, or a boolean.
    SchemaOrBoolean,
}

/// The keys of a map, or those of an object beside its keywords.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// Any.
    Names,
    /// Those that a reference can name: `^[a-zA-Z0-9.\-_]+$`.
    ComponentNames,
    /// Only `x-` extensions.
    Extensions,
    /// Paths, which begin with a slash, and extensions.
    Paths,
    /// `200`, `2XX`, `default`, and extensions.
    Statuses,
    /// Runtime expressions, and extensions.
    Expressions,
    /// None at all.
    Nothing,
}

/// Whether a keyword is required.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// The object is invalid without it.
    Required,
    /// The object may leave it out.
    Optional,
}

/// An object of the specification.
#[derive(Debug)]
pub struct Table {
    /// Its name in the specification.
    pub name: &'static str,
    /// Its name in messages.
    pub word: &'static str,
    /// Its fixed fields.
    pub keywords: &'static [(&'static str, Demand, Shape)],
    /// Which other keys it may have, and the type of their values.
    pub others: (Keys, Shape),
}
