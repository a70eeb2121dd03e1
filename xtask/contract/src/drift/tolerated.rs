//! The differences that are tolerated, and why. Every other difference is drift.

use crate::openapi::Kind;

/// A difference that is not reported.
#[derive(Debug)]
pub struct Tolerated {
    /// What may differ.
    pub what: &'static str,
    /// The keywords that are not compared. Empty where the comparison itself makes the two sides equal.
    pub keywords: &'static [&'static str],
    /// The kinds of objects that have the keywords; empty for all.
    pub kinds: &'static [Kind],
    /// Why it may differ.
    pub why: &'static str,
}

/// The whole table.
pub const TOLERATED: &[Tolerated] = &[
    Tolerated {
        what: "`description`, `summary`, `title`, `externalDocs`",
        keywords: &["description", "summary", "title", "externalDocs"],
        kinds: &[],
        why: "Prose for readers. The document describes the interface; comments in the code describe the code.",
    },
    Tolerated {
        what: "`version`, `contact`, `license`, `termsOfService` of `info`",
        keywords: &["version", "contact", "license", "termsOfService"],
        kinds: &[Kind::Info],
        why: "They describe the document and its publisher. The code has no version of its own.",
    },
    Tolerated {
        what: "`example`, `examples`",
        keywords: &["example", "examples"],
        kinds: &[Kind::Parameter, Kind::Header, Kind::MediaType, Kind::Schema],
        why: "Examples restrict nothing. Lint checks them against their schema.",
    },
    Tolerated {
        what: "`bearerFormat`",
        keywords: &["bearerFormat"],
        kinds: &[Kind::SecurityScheme],
        why: "OpenAPI calls it a hint for documentation.",
    },
    Tolerated {
        what: "`x-` extensions that the code does not have",
        keywords: &[],
        kinds: &[],
        why: "They are for other tools.",
    },
    Tolerated {
        what: "the part of a server's URL before the base path",
        keywords: &[],
        kinds: &[],
        why: "The code knows its base path only; the host is chosen where the service is deployed.",
    },
    Tolerated {
        what: "the order of keys, parameters, tags, `required`, `enum`, `allOf`, `oneOf`, `anyOf`; the case of header names",
        keywords: &[],
        kinds: &[],
        why: "Neither OpenAPI nor HTTP gives them a meaning.",
    },
    Tolerated {
        what: "a keyword with its default value, or an empty map or list, in place of no keyword",
        keywords: &[],
        kinds: &[],
        why: "OpenAPI gives both the same meaning.",
    },
    Tolerated {
        what: "a header parameter `Accept`, `Content-Type` or `Authorization`; a response header `Content-Type`",
        keywords: &[],
        kinds: &[],
        why: "OpenAPI ignores them.",
    },
    Tolerated {
        what: "`$ref` to a response, parameter, header or request body, in place of the object itself",
        keywords: &[],
        kinds: &[],
        why: "Generated clients see the names of schemas only.",
    },
    Tolerated {
        what: "`allOf` with one member, in place of that member",
        keywords: &[],
        kinds: &[],
        why: "It is the only way to add a description to a `$ref`, and allows the same values.",
    },
];

/// Whether this keyword of an object of this kind may differ.
pub(super) fn tolerates(kind: Kind, keyword: &str) -> bool {
    let mut table = TOLERATED.iter().filter(|row| row.kinds.is_empty() || row.kinds.contains(&kind));
    table.any(|row| row.keywords.contains(&keyword))
}
