//! The spelling of names.

use std::sync::LazyLock;

use heck::{ToLowerCamelCase, ToPascalCase};
use regex::Regex;

use document::finding::{self, shortened};
use document::openapi::{Kind, Model};
use document::rule::{Findings, rules};

rules! {
    OPERATION: Strict Error "operation-id-case", "this tool",
        "An `operationId` is in camelCase.";
    VERB: Strict Warning "operation-id-verb", "this tool",
        "An `operationId` begins with a verb from the list of this tool.";
    SCHEMA: Strict Error "schema-name-case", "this tool",
        "The names of `components/schemas` are in PascalCase.";
    FIELD: Strict Error "field-name-case", "this tool",
        "Property names, and parameter names except those of headers, are in camelCase.";
    HEADER: Strict Error "header-name-case", "this tool",
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
    let (camel, capitalised) = ("in camelCase", "capitalised like a standard header");
    for object in model.everything() {
        let is_of = |kind| object.parent().is_some_and(|parent| parent.kind() == kind);
        let keyword = match object.kind() {
            Kind::Operation => "operationId",
            Kind::Parameter => "name",
            _ => "",
        };
        let name = if keyword.is_empty() { Some(object.name()) } else { object.text(keyword) };
        let Some(name) = name else { continue };
        let verb = || name.split(|c: char| c.is_ascii_uppercase()).next().unwrap_or_default();
        let (rule, is_right, what, case, example) = match object.kind() {
            Kind::Operation if is_camel(name) => {
                let is_known = VERBS.split(' ').any(|known| known == verb());
                (&VERB, is_known, "`operationId`", "a known verb and a noun", "listPets")
            }
            Kind::Operation => (&OPERATION, false, "`operationId`", camel, "listPets"),
            Kind::Schema if is_of(Kind::Components) => {
                (&SCHEMA, matches(&PASCAL, name), "schema name", "in PascalCase", "NewPet")
            }
            Kind::Schema if object.keyword() == "properties" => {
                (&FIELD, is_camel(name), "property", camel, "categoryId")
            }
            Kind::Parameter if object.text("in") == Some("header") => {
                (&HEADER, is_header(name), "header", capitalised, "If-Match")
            }
            Kind::Parameter => (&FIELD, is_camel(name), "parameter", camel, "petId"),
            Kind::Header if is_of(Kind::Response) => {
                (&HEADER, is_header(name), "header", capitalised, "Retry-After")
            }
            _ => continue,
        };
        if !is_right {
            let message = format!("The {what} `{}` is not {case}.", shortened(name));
            let right = if *rule == SCHEMA {
                Some(name.to_pascal_case()).filter(|name| matches(&PASCAL, name))
            } else if *rule == HEADER {
                Some(capitalised_words(name)).filter(|name| is_header(name))
            } else {
                // A name that is in camelCase already begins with an unknown verb.
                Some(name.to_lower_camel_case()).filter(|right| is_camel(right) && right != name)
            };
            let fix = match &right {
                Some(right) => format!("Write `{}`.", shortened(right)),
                None => format!("Write a name such as `{example}`."),
            };
            let added = findings.add(rule, object.value_spot(keyword), message, fix);
            right.into_iter().fold(added, |added, right| added.rename(&right));
        }
    }
}

static CAMEL: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new("^[a-z][a-zA-Z0-9]*$").ok());
static PASCAL: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new("^[A-Z][a-zA-Z0-9]*$").ok());
static WORDS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new("^([A-Z][a-z0-9]*(-[A-Z][a-z0-9]*)*|x(-[a-z0-9]+)+)$").ok());

/// Returns the name of a header as its RFC writes it.
fn capitalised_words(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    if lower.starts_with("x-") {
        return lower;
    }
    if let Some(known) = EXCEPTIONS.split(' ').find(|known| known.eq_ignore_ascii_case(name)) {
        return known.to_owned();
    }
    lower.split('-').map(finding::capitalised).collect::<Vec<_>>().join("-")
}

fn matches(pattern: &Option<Regex>, name: &str) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(name))
}

/// Whether a name is in camelCase.
pub fn is_camel(name: &str) -> bool {
    matches(&CAMEL, name)
}

/// Whether a header is written as in its RFC.
pub fn is_header(name: &str) -> bool {
    EXCEPTIONS.split(' ').any(|exception| exception == name) || matches(&WORDS, name)
}
