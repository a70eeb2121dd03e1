//! The objects of OpenAPI 3.0.3, section 4.7: one table each, with its keywords and the types of their values.

use super::kind::{Demand, Keys, Kind, Shape, Table};
use Demand::{Optional, Required};
use Keys::{ComponentNames, Expressions, Extensions, Names, Paths, Statuses};
use Shape::{
    Any, Boolean, Count, Either, Email, List, Map, Number, Object, SchemaOrBoolean, Text, Uri, Word,
};

const EXTENSIBLE: (Keys, Shape) = (Extensions, Any);

impl Kind {
    /// The table of the kind.
    pub fn table(self) -> &'static Table {
        match self {
            Self::OpenApi => &OPENAPI,
            Self::Info => &INFO,
            Self::Contact => &CONTACT,
            Self::License => &LICENSE,
            Self::Server => &SERVER,
            Self::ServerVariable => &SERVER_VARIABLE,
            Self::Components => &COMPONENTS,
            Self::Paths => &PATHS,
            Self::PathItem => &PATH_ITEM,
            Self::Operation => &OPERATION,
            Self::ExternalDocumentation => &EXTERNAL_DOCUMENTATION,
            Self::Parameter => &PARAMETER,
            Self::RequestBody => &REQUEST_BODY,
            Self::MediaType => &MEDIA_TYPE,
            Self::Encoding => &ENCODING,
            Self::Responses => &RESPONSES,
            Self::Response => &RESPONSE,
            Self::Callback => &CALLBACK,
            Self::Example => &EXAMPLE,
            Self::Link => &LINK,
            Self::Header => &HEADER,
            Self::Tag => &TAG,
            Self::Schema => &SCHEMA,
            Self::Discriminator => &DISCRIMINATOR,
            Self::Xml => &XML,
            Self::SecurityScheme => &SECURITY_SCHEME,
            Self::OAuthFlows => &OAUTH_FLOWS,
            Self::OAuthFlow => &OAUTH_FLOW,
            Self::SecurityRequirement => &SECURITY_REQUIREMENT,
        }
    }
}

static OPENAPI: Table = Table {
    name: "OpenAPI Object",
    word: "document",
    keywords: &[
        ("openapi", Required, Text),
        ("info", Required, Object(Kind::Info)),
        ("servers", Optional, List(&Object(Kind::Server))),
        ("paths", Required, Object(Kind::Paths)),
        ("components", Optional, Object(Kind::Components)),
        ("security", Optional, List(&Object(Kind::SecurityRequirement))),
        ("tags", Optional, List(&Object(Kind::Tag))),
        ("externalDocs", Optional, Object(Kind::ExternalDocumentation)),
    ],
    others: EXTENSIBLE,
};

static INFO: Table = Table {
    name: "Info Object",
    word: "info",
    keywords: &[
        ("title", Required, Text),
        ("description", Optional, Text),
        ("termsOfService", Optional, Uri),
        ("contact", Optional, Object(Kind::Contact)),
        ("license", Optional, Object(Kind::License)),
        ("version", Required, Text),
    ],
    others: EXTENSIBLE,
};

static CONTACT: Table = Table {
    name: "Contact Object",
    word: "contact",
    keywords: &[("name", Optional, Text), ("url", Optional, Uri), ("email", Optional, Email)],
    others: EXTENSIBLE,
};

static LICENSE: Table = Table {
    name: "License Object",
    word: "license",
    keywords: &[("name", Required, Text), ("url", Optional, Uri)],
    others: EXTENSIBLE,
};

static SERVER: Table = Table {
    name: "Server Object",
    word: "server",
    keywords: &[
        ("url", Required, Text),
        ("description", Optional, Text),
        ("variables", Optional, Map(Names, &Object(Kind::ServerVariable))),
    ],
    others: EXTENSIBLE,
};

static SERVER_VARIABLE: Table = Table {
    name: "Server Variable Object",
    word: "server variable",
    keywords: &[
        ("enum", Optional, List(&Text)),
        ("default", Required, Text),
        ("description", Optional, Text),
    ],
    others: EXTENSIBLE,
};

static COMPONENTS: Table = Table {
    name: "Components Object",
    word: "components",
    keywords: &[
        ("schemas", Optional, Map(ComponentNames, &Either(Kind::Schema))),
        ("responses", Optional, Map(ComponentNames, &Either(Kind::Response))),
        ("parameters", Optional, Map(ComponentNames, &Either(Kind::Parameter))),
        ("examples", Optional, Map(ComponentNames, &Either(Kind::Example))),
        ("requestBodies", Optional, Map(ComponentNames, &Either(Kind::RequestBody))),
        ("headers", Optional, Map(ComponentNames, &Either(Kind::Header))),
        ("securitySchemes", Optional, Map(ComponentNames, &Either(Kind::SecurityScheme))),
        ("links", Optional, Map(ComponentNames, &Either(Kind::Link))),
        ("callbacks", Optional, Map(ComponentNames, &Either(Kind::Callback))),
    ],
    others: EXTENSIBLE,
};

static PATHS: Table =
    Table { name: "Paths Object", word: "paths", keywords: &[], others: (Paths, Either(Kind::PathItem)) };

static PATH_ITEM: Table = Table {
    name: "Path Item Object",
    word: "path",
    keywords: &[
        ("summary", Optional, Text),
        ("description", Optional, Text),
        ("get", Optional, Object(Kind::Operation)),
        ("put", Optional, Object(Kind::Operation)),
        ("post", Optional, Object(Kind::Operation)),
        ("delete", Optional, Object(Kind::Operation)),
        ("options", Optional, Object(Kind::Operation)),
        ("head", Optional, Object(Kind::Operation)),
        ("patch", Optional, Object(Kind::Operation)),
        ("trace", Optional, Object(Kind::Operation)),
        ("servers", Optional, List(&Object(Kind::Server))),
        ("parameters", Optional, List(&Either(Kind::Parameter))),
    ],
    others: EXTENSIBLE,
};

static OPERATION: Table = Table {
    name: "Operation Object",
    word: "operation",
    keywords: &[
        ("tags", Optional, List(&Text)),
        ("summary", Optional, Text),
        ("description", Optional, Text),
        ("externalDocs", Optional, Object(Kind::ExternalDocumentation)),
        ("operationId", Optional, Text),
        ("parameters", Optional, List(&Either(Kind::Parameter))),
        ("requestBody", Optional, Either(Kind::RequestBody)),
        ("responses", Required, Object(Kind::Responses)),
        ("callbacks", Optional, Map(Names, &Either(Kind::Callback))),
        ("deprecated", Optional, Boolean),
        ("security", Optional, List(&Object(Kind::SecurityRequirement))),
        ("servers", Optional, List(&Object(Kind::Server))),
    ],
    others: EXTENSIBLE,
};

static EXTERNAL_DOCUMENTATION: Table = Table {
    name: "External Documentation Object",
    word: "external documentation",
    keywords: &[("description", Optional, Text), ("url", Required, Uri)],
    others: EXTENSIBLE,
};

static PARAMETER: Table = Table {
    name: "Parameter Object",
    word: "parameter",
    keywords: &[
        ("name", Required, Text),
        ("in", Required, Word(&["query", "header", "path", "cookie"])),
        ("description", Optional, Text),
        ("required", Optional, Boolean),
        ("deprecated", Optional, Boolean),
        ("allowEmptyValue", Optional, Boolean),
        (
            "style",
            Optional,
            Word(&["matrix", "label", "form", "simple", "spaceDelimited", "pipeDelimited", "deepObject"]),
        ),
        ("explode", Optional, Boolean),
        ("allowReserved", Optional, Boolean),
        ("schema", Optional, Either(Kind::Schema)),
        ("example", Optional, Any),
        ("examples", Optional, Map(Names, &Either(Kind::Example))),
        ("content", Optional, Map(Names, &Object(Kind::MediaType))),
    ],
    others: EXTENSIBLE,
};

static REQUEST_BODY: Table = Table {
    name: "Request Body Object",
    word: "request body",
    keywords: &[
        ("description", Optional, Text),
        ("content", Required, Map(Names, &Object(Kind::MediaType))),
        ("required", Optional, Boolean),
    ],
    others: EXTENSIBLE,
};

static MEDIA_TYPE: Table = Table {
    name: "Media Type Object",
    word: "media type",
    keywords: &[
        ("schema", Optional, Either(Kind::Schema)),
        ("example", Optional, Any),
        ("examples", Optional, Map(Names, &Either(Kind::Example))),
        ("encoding", Optional, Map(Names, &Object(Kind::Encoding))),
    ],
    others: EXTENSIBLE,
};

static ENCODING: Table = Table {
    name: "Encoding Object",
    word: "encoding",
    keywords: &[
        ("contentType", Optional, Text),
        ("headers", Optional, Map(Names, &Either(Kind::Header))),
        ("style", Optional, Word(&["form", "spaceDelimited", "pipeDelimited", "deepObject"])),
        ("explode", Optional, Boolean),
        ("allowReserved", Optional, Boolean),
    ],
    others: EXTENSIBLE,
};

static RESPONSES: Table = Table {
    name: "Responses Object",
    word: "responses",
    keywords: &[],
    others: (Statuses, Either(Kind::Response)),
};

static RESPONSE: Table = Table {
    name: "Response Object",
    word: "response",
    keywords: &[
        ("description", Required, Text),
        ("headers", Optional, Map(Names, &Either(Kind::Header))),
        ("content", Optional, Map(Names, &Object(Kind::MediaType))),
        ("links", Optional, Map(ComponentNames, &Either(Kind::Link))),
    ],
    others: EXTENSIBLE,
};

static CALLBACK: Table = Table {
    name: "Callback Object",
    word: "callback",
    keywords: &[],
    others: (Expressions, Either(Kind::PathItem)),
};

static EXAMPLE: Table = Table {
    name: "Example Object",
    word: "example",
    keywords: &[
        ("summary", Optional, Text),
        ("description", Optional, Text),
        ("value", Optional, Any),
        ("externalValue", Optional, Uri),
    ],
    others: EXTENSIBLE,
};

static LINK: Table = Table {
    name: "Link Object",
    word: "link",
    keywords: &[
        ("operationRef", Optional, Text),
        ("operationId", Optional, Text),
        ("parameters", Optional, Map(Names, &Any)),
        ("requestBody", Optional, Any),
        ("description", Optional, Text),
        ("server", Optional, Object(Kind::Server)),
    ],
    others: EXTENSIBLE,
};

static HEADER: Table = Table {
    name: "Header Object",
    word: "header",
    keywords: &[
        ("description", Optional, Text),
        ("required", Optional, Boolean),
        ("deprecated", Optional, Boolean),
        ("allowEmptyValue", Optional, Boolean),
        ("style", Optional, Word(&["simple"])),
        ("explode", Optional, Boolean),
        ("allowReserved", Optional, Boolean),
        ("schema", Optional, Either(Kind::Schema)),
        ("example", Optional, Any),
        ("examples", Optional, Map(Names, &Either(Kind::Example))),
        ("content", Optional, Map(Names, &Object(Kind::MediaType))),
    ],
    others: EXTENSIBLE,
};

static TAG: Table = Table {
    name: "Tag Object",
    word: "tag",
    keywords: &[
        ("name", Required, Text),
        ("description", Optional, Text),
        ("externalDocs", Optional, Object(Kind::ExternalDocumentation)),
    ],
    others: EXTENSIBLE,
};

static SCHEMA: Table = Table {
    name: "Schema Object",
    word: "schema",
    keywords: &[
        ("title", Optional, Text),
        ("multipleOf", Optional, Number),
        ("maximum", Optional, Number),
        ("exclusiveMaximum", Optional, Boolean),
        ("minimum", Optional, Number),
        ("exclusiveMinimum", Optional, Boolean),
        ("maxLength", Optional, Count),
        ("minLength", Optional, Count),
        ("pattern", Optional, Text),
        ("maxItems", Optional, Count),
        ("minItems", Optional, Count),
        ("uniqueItems", Optional, Boolean),
        ("maxProperties", Optional, Count),
        ("minProperties", Optional, Count),
        ("required", Optional, List(&Text)),
        ("enum", Optional, List(&Any)),
        ("type", Optional, Word(&["string", "number", "integer", "boolean", "array", "object"])),
        ("allOf", Optional, List(&Either(Kind::Schema))),
        ("oneOf", Optional, List(&Either(Kind::Schema))),
        ("anyOf", Optional, List(&Either(Kind::Schema))),
        ("not", Optional, Either(Kind::Schema)),
        ("items", Optional, Either(Kind::Schema)),
        ("properties", Optional, Map(Names, &Either(Kind::Schema))),
        ("additionalProperties", Optional, SchemaOrBoolean),
        ("description", Optional, Text),
        ("format", Optional, Text),
        ("default", Optional, Any),
        ("nullable", Optional, Boolean),
        ("discriminator", Optional, Object(Kind::Discriminator)),
        ("readOnly", Optional, Boolean),
        ("writeOnly", Optional, Boolean),
        ("xml", Optional, Object(Kind::Xml)),
        ("externalDocs", Optional, Object(Kind::ExternalDocumentation)),
        ("example", Optional, Any),
        ("deprecated", Optional, Boolean),
    ],
    others: EXTENSIBLE,
};

static DISCRIMINATOR: Table = Table {
    name: "Discriminator Object",
    word: "discriminator",
    keywords: &[("propertyName", Required, Text), ("mapping", Optional, Map(Names, &Text))],
    others: (Keys::Nothing, Any),
};

static XML: Table = Table {
    name: "XML Object",
    word: "xml",
    keywords: &[
        ("name", Optional, Text),
        ("namespace", Optional, Uri),
        ("prefix", Optional, Text),
        ("attribute", Optional, Boolean),
        ("wrapped", Optional, Boolean),
    ],
    others: EXTENSIBLE,
};

static SECURITY_SCHEME: Table = Table {
    name: "Security Scheme Object",
    word: "security scheme",
    keywords: &[
        ("type", Required, Word(&["apiKey", "http", "oauth2", "openIdConnect"])),
        ("description", Optional, Text),
        ("name", Optional, Text),
        ("in", Optional, Word(&["query", "header", "cookie"])),
        ("scheme", Optional, Text),
        ("bearerFormat", Optional, Text),
        ("flows", Optional, Object(Kind::OAuthFlows)),
        ("openIdConnectUrl", Optional, Uri),
    ],
    others: EXTENSIBLE,
};

static OAUTH_FLOWS: Table = Table {
    name: "OAuth Flows Object",
    word: "flows",
    keywords: &[
        ("implicit", Optional, Object(Kind::OAuthFlow)),
        ("password", Optional, Object(Kind::OAuthFlow)),
        ("clientCredentials", Optional, Object(Kind::OAuthFlow)),
        ("authorizationCode", Optional, Object(Kind::OAuthFlow)),
    ],
    others: EXTENSIBLE,
};

static OAUTH_FLOW: Table = Table {
    name: "OAuth Flow Object",
    word: "flow",
    keywords: &[
        ("authorizationUrl", Optional, Uri),
        ("tokenUrl", Optional, Uri),
        ("refreshUrl", Optional, Uri),
        ("scopes", Required, Map(Names, &Text)),
    ],
    others: EXTENSIBLE,
};

static SECURITY_REQUIREMENT: Table = Table {
    name: "Security Requirement Object",
    word: "security requirement",
    keywords: &[],
    others: (Names, List(&Text)),
};
