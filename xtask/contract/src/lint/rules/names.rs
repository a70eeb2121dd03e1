//! The spelling of names.

use std::sync::LazyLock;

use regex::Regex;

use crate::finding::shortened as shown;
use crate::openapi::{Kind, Model};
use crate::rule::{Findings, rules};

rules! {
    OPERATION: Strict Error "operation-id-case", "this project",
        "An `operationId` is in camelCase.";
    VERB: Strict Warning "operation-id-verb", "this project",
        "An `operationId` begins with a verb from the list of this tool.";
    SCHEMA: Strict Error "schema-name-case", "this project",
        "The names of `components/schemas` are in PascalCase.";
    FIELD: Strict Error "field-name-case", "this project",
        "Property names, and parameter names except those of headers, are in camelCase.";
    HEADER: Strict Error "header-name-case", "this project",
        "Header names are written as in their RFC, each word capitalised; those that begin with `x-` are in \
         lower case.";
}

/// The verbs that an `operationId` may begin with.
const VERBS: &str = "\
    accept activate add apply approve archive assign attach authorize bulk cancel change check clear close \
    complete confirm connect copy count create deactivate decline delete deny describe detach disable \
    disconnect download enable execute export fetch find generate get grant head import invite issue join \
    leave link list lock lookup mark merge move notify open options order patch pause place poll post \
    preview publish purchase put query read refresh register reject release remove rename renew reopen \
    replace request reserve reset resolve restore resume retrieve retry return revoke rotate run schedule \
    search sell send set share show sign start stop submit subscribe suspend sync test transfer trigger \
    unassign unlink unlock unpublish unsubscribe update upload upsert validate verify void watch withdraw";

/// Headers whose words are not simply capitalised.
const EXCEPTIONS: &str = "\
    ETag WWW-Authenticate TE DNT NEL DPoP Content-MD5 SourceMap Content-DPR DPR RateLimit RateLimit-Policy";

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    let mut misspelt = |rule, spot, what: &str, name: &str, case: &str, example: &str| {
        let message = format!("The {what} `{}` is not {case}.", shown(name));
        findings.add(rule, spot, message, format!("Write a name such as `{example}`."));
    };
    let (camel, capitalised) = ("in camelCase", "capitalised like a standard header");
    for object in model.everything() {
        let is_of = |kind| object.parent().is_some_and(|parent| parent.kind() == kind);
        let in_header = object.text("in") == Some("header");
        let name = match object.kind() {
            Kind::Operation => object.text("operationId"),
            Kind::Parameter => object.text("name"),
            _ => Some(object.name()),
        };
        let Some(name) = name else { continue };
        match object.kind() {
            Kind::Operation if !is_camel(name) => {
                let spot = object.value_spot("operationId");
                misspelt(&OPERATION, spot, "`operationId`", name, camel, "listPets");
            }
            Kind::Operation => {
                let verb = name.split(|c: char| c.is_ascii_uppercase()).next().unwrap_or_default();
                if !VERBS.split(' ').any(|known| known == verb) {
                    let spot = object.value_spot("operationId");
                    misspelt(&VERB, spot, "`operationId`", name, "a known verb and a noun", "listPets");
                }
            }
            Kind::Schema if is_of(Kind::Components) && !matches(&PASCAL, name) => {
                misspelt(&SCHEMA, object.spot(), "schema name", name, "in PascalCase", "NewPet");
            }
            Kind::Schema if object.keyword() == "properties" && !is_camel(name) => {
                misspelt(&FIELD, object.spot(), "property", name, camel, "categoryId");
            }
            Kind::Parameter if in_header && !is_header(name) => {
                misspelt(&HEADER, object.value_spot("name"), "header", name, capitalised, "If-Match");
            }
            Kind::Parameter if !in_header && !is_camel(name) => {
                misspelt(&FIELD, object.value_spot("name"), "parameter", name, camel, "petId");
            }
            Kind::Header if is_of(Kind::Response) && !is_header(name) => {
                misspelt(&HEADER, object.spot(), "header", name, capitalised, "Retry-After");
            }
            _ => {}
        }
    }
}

static CAMEL: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new("^[a-z][a-zA-Z0-9]*$").ok());
static PASCAL: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new("^[A-Z][a-zA-Z0-9]*$").ok());
static WORDS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new("^([A-Z][a-z0-9]*(-[A-Z][a-z0-9]*)*|x(-[a-z0-9]+)+)$").ok());

fn matches(pattern: &Option<Regex>, name: &str) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(name))
}

pub(crate) fn is_camel(name: &str) -> bool {
    matches(&CAMEL, name)
}

pub(crate) fn is_header(name: &str) -> bool {
    EXCEPTIONS.split(' ').any(|exception| exception == name) || matches(&WORDS, name)
}
