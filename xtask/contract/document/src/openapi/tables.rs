//! The objects of OpenAPI 3.0.3, section 4.7: their keywords and the types of the values.

use Keys::{ComponentNames, Expressions, Extensions, Names, Paths, Statuses};
use Shape::{
    Any, Boolean, Count, Either, Email, List, Map, Number, Object, SchemaOrBoolean, Text, Uri, Word,
};

/// The type of the value of a keyword.
#[derive(Clone, Copy, Debug)]
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
    /// A list of values of one shape.
    List(&'static Shape),
    /// A map from keys of one form to values of one shape.
    Map(Keys, &'static Shape),
    /// An object of this kind.
    Object(Kind),
    /// An object of this kind, or a reference to one.
    Either(Kind),
    /// A schema, a reference to one, or a boolean.
    SchemaOrBoolean,
}

impl Shape {
    /// Whether the value is neither an object, nor a list or a map.
    pub(super) fn is_scalar(&self) -> bool {
        matches!(self, Any | Text | Boolean | Number | Count | Uri | Email | Word(_))
    }
}

/// The form of the keys of a map, or of the keys of an object that are not keywords.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// Any key.
    Names,
    /// Names of components: `^[a-zA-Z0-9.\-_]+$`.
    ComponentNames,
    /// Only `x-` extensions.
    Extensions,
    /// Paths, which begin with a slash, and extensions.
    Paths,
    /// `200`, `2XX`, `default`, and extensions.
    Statuses,
    /// Runtime expressions, and extensions.
    Expressions,
    /// No key.
    Nothing,
}

/// Whether a keyword is required.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// The object is invalid without it.
    Required,
    /// The object is valid without it.
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
    /// The form of its other keys, and the type of their values.
    pub others: (Keys, Shape),
}

/// Declares each object: its kind, its name in the specification and in messages, the form of its other keys, and
/// its keywords with the type of their value.
macro_rules! objects {
    ($($kind:ident $name:literal $word:literal $others:tt {
        $($($keyword:ident)+: $demand:ident $shape:expr;)*
    })*) => {
        /// The objects of section 4.7, named as there.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[expect(missing_docs, reason = "the specification defines each")]
        pub enum Kind {
            $($kind),*
        }

        impl Kind {
            /// The table of the kind.
            pub fn table(self) -> &'static Table {
                match self {
                    $(Self::$kind => &Table {
                        name: $name,
                        word: $word,
                        keywords: &[$($((stringify!($keyword), Demand::$demand, $shape)),+),*],
                        others: $others,
                    }),*
                }
            }

            /// The name of the kind in messages.
            pub fn word(self) -> &'static str {
                self.table().word
            }
        }
    };
}

const EXTENSIBLE: (Keys, Shape) = (Extensions, Any);

objects! {
    OpenApi "OpenAPI Object" "document" EXTENSIBLE {
        openapi: Required Text;
        info: Required Object(Kind::Info);
        paths: Required Object(Kind::Paths);
        servers: Optional List(&Object(Kind::Server));
        components: Optional Object(Kind::Components);
        security: Optional List(&Object(Kind::SecurityRequirement));
        tags: Optional List(&Object(Kind::Tag));
        externalDocs: Optional Object(Kind::ExternalDocumentation);
    }
    Info "Info Object" "info" EXTENSIBLE {
        title version: Required Text;
        description: Optional Text;
        termsOfService: Optional Uri;
        contact: Optional Object(Kind::Contact);
        license: Optional Object(Kind::License);
    }
    Contact "Contact Object" "contact" EXTENSIBLE {
        name: Optional Text;
        url: Optional Uri;
        email: Optional Email;
    }
    License "License Object" "license" EXTENSIBLE {
        name: Required Text;
        url: Optional Uri;
    }
    Server "Server Object" "server" EXTENSIBLE {
        url: Required Text;
        description: Optional Text;
        variables: Optional Map(Names, &Object(Kind::ServerVariable));
    }
    ServerVariable "Server Variable Object" "server variable" EXTENSIBLE {
        default: Required Text;
        enum: Optional List(&Text);
        description: Optional Text;
    }
    Components "Components Object" "components" EXTENSIBLE {
        schemas: Optional Map(ComponentNames, &Either(Kind::Schema));
        responses: Optional Map(ComponentNames, &Either(Kind::Response));
        parameters: Optional Map(ComponentNames, &Either(Kind::Parameter));
        examples: Optional Map(ComponentNames, &Either(Kind::Example));
        requestBodies: Optional Map(ComponentNames, &Either(Kind::RequestBody));
        headers: Optional Map(ComponentNames, &Either(Kind::Header));
        securitySchemes: Optional Map(ComponentNames, &Either(Kind::SecurityScheme));
        links: Optional Map(ComponentNames, &Either(Kind::Link));
        callbacks: Optional Map(ComponentNames, &Either(Kind::Callback));
    }
    Paths "Paths Object" "paths" (Paths, Either(Kind::PathItem)) {}
    PathItem "Path Item Object" "path" EXTENSIBLE {
        summary description: Optional Text;
        get put post delete options head patch trace: Optional Object(Kind::Operation);
        servers: Optional List(&Object(Kind::Server));
        parameters: Optional List(&Either(Kind::Parameter));
    }
    Operation "Operation Object" "operation" EXTENSIBLE {
        responses: Required Object(Kind::Responses);
        tags: Optional List(&Text);
        summary description operationId: Optional Text;
        externalDocs: Optional Object(Kind::ExternalDocumentation);
        parameters: Optional List(&Either(Kind::Parameter));
        requestBody: Optional Either(Kind::RequestBody);
        callbacks: Optional Map(Names, &Either(Kind::Callback));
        deprecated: Optional Boolean;
        security: Optional List(&Object(Kind::SecurityRequirement));
        servers: Optional List(&Object(Kind::Server));
    }
    ExternalDocumentation "External Documentation Object" "external documentation" EXTENSIBLE {
        url: Required Uri;
        description: Optional Text;
    }
    Parameter "Parameter Object" "parameter" EXTENSIBLE {
        name: Required Text;
        in: Required Word(&["query", "header", "path", "cookie"]);
        description: Optional Text;
        required deprecated allowEmptyValue explode allowReserved: Optional Boolean;
        style:
            Optional Word(&["matrix", "label", "form", "simple", "spaceDelimited", "pipeDelimited", "deepObject"]);
        schema: Optional Either(Kind::Schema);
        example: Optional Any;
        examples: Optional Map(Names, &Either(Kind::Example));
        content: Optional Map(Names, &Object(Kind::MediaType));
    }
    RequestBody "Request Body Object" "request body" EXTENSIBLE {
        content: Required Map(Names, &Object(Kind::MediaType));
        description: Optional Text;
        required: Optional Boolean;
    }
    MediaType "Media Type Object" "media type" EXTENSIBLE {
        schema: Optional Either(Kind::Schema);
        example: Optional Any;
        examples: Optional Map(Names, &Either(Kind::Example));
        encoding: Optional Map(Names, &Object(Kind::Encoding));
    }
    Encoding "Encoding Object" "encoding" EXTENSIBLE {
        contentType: Optional Text;
        headers: Optional Map(Names, &Either(Kind::Header));
        style: Optional Word(&["form", "spaceDelimited", "pipeDelimited", "deepObject"]);
        explode allowReserved: Optional Boolean;
    }
    Responses "Responses Object" "responses" (Statuses, Either(Kind::Response)) {}
    Response "Response Object" "response" EXTENSIBLE {
        description: Required Text;
        headers: Optional Map(Names, &Either(Kind::Header));
        content: Optional Map(Names, &Object(Kind::MediaType));
        links: Optional Map(ComponentNames, &Either(Kind::Link));
    }
    Callback "Callback Object" "callback" (Expressions, Either(Kind::PathItem)) {}
    Example "Example Object" "example" EXTENSIBLE {
        summary description: Optional Text;
        value: Optional Any;
        externalValue: Optional Uri;
    }
    Link "Link Object" "link" EXTENSIBLE {
        operationRef operationId description: Optional Text;
        parameters: Optional Map(Names, &Any);
        requestBody: Optional Any;
        server: Optional Object(Kind::Server);
    }
    Header "Header Object" "header" EXTENSIBLE {
        description: Optional Text;
        required deprecated allowEmptyValue explode allowReserved: Optional Boolean;
        style: Optional Word(&["simple"]);
        schema: Optional Either(Kind::Schema);
        example: Optional Any;
        examples: Optional Map(Names, &Either(Kind::Example));
        content: Optional Map(Names, &Object(Kind::MediaType));
    }
    Tag "Tag Object" "tag" EXTENSIBLE {
        name: Required Text;
        description: Optional Text;
        externalDocs: Optional Object(Kind::ExternalDocumentation);
    }
    Schema "Schema Object" "schema" EXTENSIBLE {
        title pattern description format: Optional Text;
        multipleOf maximum minimum: Optional Number;
        exclusiveMaximum exclusiveMinimum uniqueItems nullable readOnly writeOnly deprecated:
            Optional Boolean;
        maxLength minLength maxItems minItems maxProperties minProperties: Optional Count;
        required: Optional List(&Text);
        enum: Optional List(&Any);
        type: Optional Word(&["string", "number", "integer", "boolean", "array", "object"]);
        allOf oneOf anyOf: Optional List(&Either(Kind::Schema));
        not items: Optional Either(Kind::Schema);
        properties: Optional Map(Names, &Either(Kind::Schema));
        additionalProperties: Optional SchemaOrBoolean;
        default example: Optional Any;
        discriminator: Optional Object(Kind::Discriminator);
        xml: Optional Object(Kind::Xml);
        externalDocs: Optional Object(Kind::ExternalDocumentation);
    }
    Discriminator "Discriminator Object" "discriminator" (Keys::Nothing, Any) {
        propertyName: Required Text;
        mapping: Optional Map(Names, &Text);
    }
    Xml "XML Object" "xml" EXTENSIBLE {
        name prefix: Optional Text;
        namespace: Optional Uri;
        attribute wrapped: Optional Boolean;
    }
    SecurityScheme "Security Scheme Object" "security scheme" EXTENSIBLE {
        type: Required Word(&["apiKey", "http", "oauth2", "openIdConnect"]);
        description name scheme bearerFormat: Optional Text;
        in: Optional Word(&["query", "header", "cookie"]);
        flows: Optional Object(Kind::OAuthFlows);
        openIdConnectUrl: Optional Uri;
    }
    OAuthFlows "OAuth Flows Object" "flows" EXTENSIBLE {
        implicit password clientCredentials authorizationCode: Optional Object(Kind::OAuthFlow);
    }
    OAuthFlow "OAuth Flow Object" "flow" EXTENSIBLE {
        scopes: Required Map(Names, &Text);
        authorizationUrl tokenUrl refreshUrl: Optional Uri;
    }
    SecurityRequirement "Security Requirement Object" "security requirement" (Names, List(&Text)) {}
}
