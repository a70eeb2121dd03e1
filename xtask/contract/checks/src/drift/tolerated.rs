//! The differences that are tolerated, and why. Every other difference is drift.

use document::openapi::Kind;

/// A difference that is not reported.
#[derive(Debug)]
pub struct Tolerated {
    /// The difference.
    pub what: &'static str,
    /// The keywords that are not compared. Empty if the comparison handles the difference itself.
    pub keywords: &'static [&'static str],
    /// The kinds of objects that have the keywords; empty for all.
    pub kinds: &'static [Kind],
    /// The reason why the difference is tolerated.
    pub why: &'static str,
}

macro_rules! tolerated {
    ($($what:literal [$($keyword:literal)*] [$($kind:ident)*] $why:literal;)*) => {
        &[$(Tolerated { what: $what, keywords: &[$($keyword),*], kinds: &[$(Kind::$kind),*], why: $why }),*]
    };
}

/// All tolerated differences.
pub const TOLERATED: &[Tolerated] = tolerated! {
    "`description`, `summary`, `title`, `externalDocs`" ["description" "summary" "title" "externalDocs"] []
        "Prose for readers. The document describes the interface; comments in the code describe the code.";
    "`version`, `contact`, `license`, `termsOfService` of `info`"
        ["version" "contact" "license" "termsOfService"] [Info]
        "They describe the document and its publisher. The code has no version of its own.";
    "`example`, `examples`" ["example" "examples"] [Parameter Header MediaType Schema]
        "Examples restrict nothing. Lint checks them against their schema.";
    "`bearerFormat`" ["bearerFormat"] [SecurityScheme]
        "OpenAPI calls it a hint for documentation.";
    "`x-` extensions that the code does not have" [] []
        "They are for other tools.";
    "the part of a server's URL before the base path" [] []
        "The code knows its base path only; the host is chosen where the service is deployed.";
    "the order of keys, parameters, tags, `required`, `enum`, `allOf`, `oneOf`, `anyOf`; the case of header names"
        [] []
        "Neither OpenAPI nor HTTP gives them a meaning.";
    "a keyword with its default value, or an empty map or list, in place of no keyword" [] []
        "OpenAPI gives both the same meaning.";
    "a header parameter `Accept`, `Content-Type` or `Authorization`; a response header `Content-Type`" [] []
        "OpenAPI ignores them.";
    "`$ref` to a response, parameter, header or request body, in place of the object itself" [] []
        "Generated clients see the names of schemas only.";
    "`allOf` with one member, in place of that member" [] []
        "It is the only way to add a description to a `$ref`, and allows the same values.";
};

/// Whether this keyword of an object of this kind may differ.
pub(super) fn tolerates(kind: Kind, keyword: &str) -> bool {
    let mut table = TOLERATED.iter().filter(|row| row.kinds.is_empty() || row.kinds.contains(&kind));
    table.any(|row| row.keywords.contains(&keyword))
}
