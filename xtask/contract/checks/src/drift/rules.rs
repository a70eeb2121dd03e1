//! The rules of drift. All of them report an error: the document and the code must agree.

use document::openapi::Kind;

use crate::finding::Severity;
use crate::rule::Rule;

const fn drift(name: &'static str, explanation: &'static str) -> Rule {
    Rule::comparison(name, Severity::Error, "this project", explanation)
}

pub(super) static SCHEMA_REFERENCE: Rule = drift(
    "schema-reference",
    "A schema is the same named schema on both sides, or has no name on both sides.",
);
pub(super) static OPERATION_SECURITY: Rule =
    drift("operation-security", "An operation requires the same security schemes on both sides.");
pub(super) static SERVER_URL: Rule =
    drift("server-url", "The URL of each server ends in the base path of the code.");

static DOCUMENT: Rule = drift(
    "document-differs",
    "The keywords of the document, its info, tags and paths agree in the document and in the code.",
);

macro_rules! differs {
    ($($name:literal $what:literal $($kind:ident)+;)*) => {
        [$((&[$(Kind::$kind),+], drift($name, concat!("The keywords of ", $what, " agree in the document and in the code."))),)*]
    };
}

/// The rules for the keywords of these kinds of objects.
static DIFFERS: [(&[Kind], Rule); 8] = differs! {
    "operation-differs" "an operation" Operation Responses Callback;
    "parameter-differs" "a parameter" Parameter;
    "request-body-differs" "a request body" RequestBody;
    "response-differs" "a response" Response Link;
    "header-differs" "a header" Header;
    "media-type-differs" "a media type" MediaType Encoding;
    "schema-differs" "a schema" Schema Discriminator Xml;
    "security-scheme-differs" "a security scheme" SecurityScheme OAuthFlows OAuthFlow;
};

macro_rules! named {
    ($($word:literal $code:literal $document:literal),* $(,)?) => {
        [$((
            $word,
            drift($code, concat!("Each ", $word, " of the document is in the code.")),
            drift($document, concat!("Each ", $word, " of the code is in the document.")),
        )),*]
    };
}

/// The kinds of named objects, each with the rules for an object that only the document or only the code has.
static NAMED: [(&str, Rule, Rule); 11] = named! {
    "path" "path-not-in-code" "path-not-in-document",
    "operation" "operation-not-in-code" "operation-not-in-document",
    "tag" "tag-not-in-code" "tag-not-in-document",
    "parameter" "parameter-not-in-code" "parameter-not-in-document",
    "request body" "request-body-not-in-code" "request-body-not-in-document",
    "response" "response-not-in-code" "response-not-in-document",
    "header" "header-not-in-code" "header-not-in-document",
    "media type" "media-type-not-in-code" "media-type-not-in-document",
    "schema" "schema-not-in-code" "schema-not-in-document",
    "property" "property-not-in-code" "property-not-in-document",
    "security scheme" "security-scheme-not-in-code" "security-scheme-not-in-document",
};

static SPECIAL: [&Rule; 4] = [&SCHEMA_REFERENCE, &OPERATION_SECURITY, &SERVER_URL, &DOCUMENT];

/// All rules of drift.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    let named = NAMED.iter().flat_map(|(_, code, document)| [code, document]);
    SPECIAL.into_iter().chain(DIFFERS.iter().map(|(_, rule)| rule)).chain(named)
}

/// The rule for a keyword of an object of this kind.
pub(super) fn differs(kind: Kind) -> &'static Rule {
    DIFFERS.iter().find(|(kinds, _)| kinds.contains(&kind)).map_or(&DOCUMENT, |(_, rule)| rule)
}

/// Returns the rules for a named object that only the document has, and for one that only the code has. `owner` is
/// the kind of the object that contains it.
pub(super) fn one_sided(word: &str, owner: Kind) -> (&'static Rule, &'static Rule) {
    let named = NAMED.iter().find(|(known, ..)| *known == word);
    named.map_or_else(|| (differs(owner), differs(owner)), |(_, code, document)| (code, document))
}
