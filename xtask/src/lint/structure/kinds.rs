//! The terms of the tables: which kinds of objects OpenAPI 3.0.3 has, and what their keywords may hold.

/// The kinds of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::lint) enum Kind {
    OpenApi,
    Info,
    Contact,
    License,
    Server,
    ServerVariable,
    Components,
    Paths,
    PathItem,
    Operation,
    ExternalDocumentation,
    Parameter,
    RequestBody,
    MediaType,
    Encoding,
    Responses,
    Response,
    Callback,
    Example,
    Link,
    Header,
    Tag,
    Schema,
    Discriminator,
    Xml,
    SecurityScheme,
    OAuthFlows,
    OAuthFlow,
    SecurityRequirement,
}

/// What a keyword holds.
#[derive(Debug)]
pub(in crate::lint) enum Shape {
    Any,
    Text,
    Boolean,
    Number,
    /// An integer, not negative.
    Count,
    Uri,
    Email,
    /// One of these.
    Word(&'static [&'static str]),
    List(&'static Shape),
    Map(Keys, &'static Shape),
    Object(Kind),
    /// The object, or a reference to one.
    Either(Kind),
    /// A schema, a reference to one, or a boolean.
    SchemaOrBoolean,
}

/// Which keys a map has, or an object beside its keywords.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lint) enum Keys {
    /// Any.
    Names,
    /// Those that a reference can name: `^[a-zA-Z0-9.\-_]+$`.
    ComponentNames,
    /// Only `x-` extensions.
    Extensions,
    /// What begins with a slash, and extensions.
    Paths,
    /// `200`, `2XX`, `default`, and extensions.
    Statuses,
    /// Runtime expressions, and extensions.
    Expressions,
    /// None at all.
    Nothing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lint) enum Demand {
    Required,
    Optional,
}

/// An object of the specification.
#[derive(Debug)]
pub(in crate::lint) struct Table {
    /// As the specification calls it.
    pub(in crate::lint) name: &'static str,
    /// As a sentence calls it.
    pub(in crate::lint) word: &'static str,
    pub(in crate::lint) keywords: &'static [(&'static str, Demand, Shape)],
    /// What other keys it may have, and what they hold.
    pub(in crate::lint) others: (Keys, Shape),
}

impl Kind {
    /// As a sentence calls it.
    pub(in crate::lint) fn word(self) -> &'static str {
        self.table().word
    }
}
