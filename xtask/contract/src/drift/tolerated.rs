//! What may differ, and why. Everything else is drift.

/// A difference that is none.
#[derive(Debug)]
pub struct Tolerated {
    /// What may differ, as people call it.
    pub what: &'static str,
    /// The keywords that are skipped; a `*` at the end stands for anything. None where the equality is
    /// one of meaning.
    pub keywords: &'static [&'static str],
    /// The objects whose keywords they are; none for all.
    pub objects: &'static [&'static str],
    /// Why it may.
    pub why: &'static str,
}

/// The whole table.
pub const TOLERATED: &[Tolerated] = &[
    Tolerated {
        what: "`description`, `summary`, `title`, `externalDocs`",
        keywords: &["description", "summary", "title", "externalDocs"],
        objects: &[],
        why: "Words for people. The file words the interface, the code's comments are for those who change the code.",
    },
    Tolerated {
        what: "`contact`, `license`, `termsOfService` of `info`",
        keywords: &["contact", "license", "termsOfService"],
        objects: &["info"],
        why: "About the publisher, whom the code does not know.",
    },
    Tolerated {
        what: "`example`, `examples`",
        keywords: &["example", "examples"],
        objects: &["components", "parameter", "header", "media-type", "schema"],
        why: "They promise nothing that the schema does not.",
    },
    Tolerated {
        what: "`bearerFormat`",
        keywords: &["bearerFormat"],
        objects: &["security-scheme"],
        why: "OpenAPI calls it a hint for documentation.",
    },
    Tolerated {
        what: "`x-` extensions that the code says nothing of",
        keywords: &["x-*"],
        objects: &[],
        why: "They are for other tools. The dates of a deprecation are judged all the same.",
    },
    Tolerated {
        what: "the part of a server's URL before `/v1`",
        keywords: &[],
        objects: &[],
        why: "Where the service runs is decided after it is built; the code knows its base path only.",
    },
    Tolerated {
        what: "the order of keys, parameters, tags, `required`, `enum`, alternatives; the case of header names",
        keywords: &[],
        objects: &[],
        why: "OpenAPI and HTTP give them no meaning.",
    },
    Tolerated {
        what: "a keyword with its default value, written out or left out",
        keywords: &[],
        objects: &[],
        why: "OpenAPI says that they are the same.",
    },
    Tolerated {
        what: "`$ref` to a response, parameter, header or body, in place of the thing itself",
        keywords: &[],
        objects: &[],
        why: "Only the names of schemas reach generated clients.",
    },
    Tolerated {
        what: "`allOf` with one member, in place of that member",
        keywords: &[],
        objects: &[],
        why: "The one way to put words beside a `$ref`; it allows the same values.",
    },
];

/// Whether this keyword of this object may differ.
pub(super) fn tolerates(object: &str, keyword: &str) -> bool {
    TOLERATED.iter().any(|tolerated| {
        let fits = |pattern: &&str| match pattern.strip_suffix('*') {
            Some(beginning) => keyword.starts_with(beginning),
            None => keyword == *pattern,
        };
        tolerated.keywords.iter().any(fits)
            && (tolerated.objects.is_empty() || tolerated.objects.contains(&object))
    })
}
