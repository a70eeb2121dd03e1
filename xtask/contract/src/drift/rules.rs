//! The rules of drift. All of them report an error: the document and the code must agree.

use crate::finding::Severity;
use crate::openapi::Kind;
use crate::rule::{Profile, Rule};

const fn drift(name: &'static str, explanation: &'static str) -> Rule {
    Rule::spec(name, "this project", explanation)
}

pub(super) static NOT_UNDERSTOOD: Rule = Rule {
    name: "not-understood",
    severity: Severity::Unreadable,
    profile: Profile::Spec,
    explanation: "The structure of the document can be understood, so that it can be compared.",
    origin: "this project",
};
pub(super) static UNKNOWN_KEYWORD: Rule = drift(
    "unknown-keyword",
    "Each key of an object that is compared is a keyword of OpenAPI 3.0.3 or an extension.",
);
pub(super) static SCHEMA_REFERENCE: Rule = drift(
    "schema-reference",
    "A schema is the same named schema on both sides, or has no name on both sides.",
);
pub(super) static OPERATION_SECURITY: Rule =
    drift("operation-security", "An operation needs the same security schemes on both sides.");
pub(super) static SERVER_URL: Rule =
    drift("server-url", "The URL of each server ends in the base path of the code.");

static DOCUMENT: Rule =
    drift("document-differs", "Keywords of the document, its info, tags and paths are the same.");
static OPERATION: Rule = drift("operation-differs", "Keywords of an operation are the same.");
static PARAMETER: Rule = drift("parameter-differs", "Keywords of a parameter are the same.");
static REQUEST_BODY: Rule = drift("request-body-differs", "Keywords of a request body are the same.");
static RESPONSE: Rule = drift("response-differs", "Keywords of a response are the same.");
static HEADER: Rule = drift("header-differs", "Keywords of a header are the same.");
static MEDIA_TYPE: Rule = drift("media-type-differs", "Keywords of a media type are the same.");
static SCHEMA: Rule = drift("schema-differs", "Keywords of a schema are the same.");
static SECURITY_SCHEME: Rule =
    drift("security-scheme-differs", "Keywords of a security scheme are the same.");

/// Named things: what they are called, and the rules for one that only the document or only the code has.
static NAMED: [(&str, Rule, Rule); 11] = [
    (
        "path",
        drift("path-not-in-code", "Each path of the document is in the code."),
        drift("path-not-in-document", "Each path of the code is in the document."),
    ),
    (
        "operation",
        drift("operation-not-in-code", "Each operation of the document is in the code."),
        drift("operation-not-in-document", "Each operation of the code is in the document."),
    ),
    (
        "tag",
        drift("tag-not-in-code", "Each tag of the document is in the code."),
        drift("tag-not-in-document", "Each tag of the code is in the document."),
    ),
    (
        "parameter",
        drift("parameter-not-in-code", "Each parameter of the document is in the code."),
        drift("parameter-not-in-document", "Each parameter of the code is in the document."),
    ),
    (
        "request body",
        drift("request-body-not-in-code", "Each request body of the document is in the code."),
        drift("request-body-not-in-document", "Each request body of the code is in the document."),
    ),
    (
        "response",
        drift("response-not-in-code", "Each response of the document is in the code."),
        drift("response-not-in-document", "Each response of the code is in the document."),
    ),
    (
        "header",
        drift("header-not-in-code", "Each header of the document is in the code."),
        drift("header-not-in-document", "Each header of the code is in the document."),
    ),
    (
        "media type",
        drift("media-type-not-in-code", "Each media type of the document is in the code."),
        drift("media-type-not-in-document", "Each media type of the code is in the document."),
    ),
    (
        "schema",
        drift("schema-not-in-code", "Each named schema of the document is in the code."),
        drift("schema-not-in-document", "Each named schema of the code is in the document."),
    ),
    (
        "property",
        drift("property-not-in-code", "Each property of the document is in the code."),
        drift("property-not-in-document", "Each property of the code is in the document."),
    ),
    (
        "security scheme",
        drift("security-scheme-not-in-code", "Each security scheme of the document is in the code."),
        drift("security-scheme-not-in-document", "Each security scheme of the code is in the document."),
    ),
];

static SPECIAL: [&Rule; 5] =
    [&NOT_UNDERSTOOD, &UNKNOWN_KEYWORD, &SCHEMA_REFERENCE, &OPERATION_SECURITY, &SERVER_URL];
static DIFFERS: [&Rule; 9] = [
    &DOCUMENT,
    &OPERATION,
    &PARAMETER,
    &REQUEST_BODY,
    &RESPONSE,
    &HEADER,
    &MEDIA_TYPE,
    &SCHEMA,
    &SECURITY_SCHEME,
];

/// All rules of drift.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    let named = NAMED.iter().flat_map(|(_, code, document)| [code, document]);
    SPECIAL.into_iter().chain(DIFFERS).chain(named)
}

/// The rule for a keyword of an object of this kind.
pub(super) fn differs(kind: Kind) -> &'static Rule {
    match kind {
        Kind::Operation | Kind::Responses | Kind::Callback => &OPERATION,
        Kind::Parameter => &PARAMETER,
        Kind::RequestBody => &REQUEST_BODY,
        Kind::Response | Kind::Link => &RESPONSE,
        Kind::Header => &HEADER,
        Kind::MediaType | Kind::Encoding => &MEDIA_TYPE,
        Kind::Schema | Kind::Discriminator | Kind::Xml => &SCHEMA,
        Kind::SecurityScheme | Kind::OAuthFlows | Kind::OAuthFlow => &SECURITY_SCHEME,
        _ => &DOCUMENT,
    }
}

/// The rules for a named thing that only the document has, and for one that only the code has. `owner` is the
/// kind of the object that has it.
pub(super) fn one_sided(word: &str, owner: Kind) -> (&'static Rule, &'static Rule) {
    let named = NAMED.iter().find(|(known, ..)| *known == word);
    named.map_or_else(|| (differs(owner), differs(owner)), |(_, code, document)| (code, document))
}
