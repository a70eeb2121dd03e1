//! The spelling of names.

use heck::{ToLowerCamelCase, ToPascalCase};

use document::finding::{self, shortened};
use document::openapi::{Kind, Model};
use document::rule::{Findings, rules};

rules! {
    OPERATION: Strict Error "operation-id-case", "this tool",
        "An `operationId` is in camelCase.";
    SCHEMA: Strict Error "schema-name-case", "this tool",
        "The names of `components/schemas` are in PascalCase.";
    FIELD: Strict Error "field-name-case", "this tool",
        "Property names, and parameter names except those of headers, are in camelCase.";
    HEADER: Strict Error "header-name-case", "this tool",
        "Header names are written as in their RFC, each word capitalised; those that begin with `x-` are in \
         lower case.";
}

/// Headers whose words are not simply capitalised.
const EXCEPTIONS: &str = "\
    ETag WWW-Authenticate TE DNT NEL DPoP Content-MD5 SourceMap Content-DPR DPR RateLimit RateLimit-Policy";

/// A spelling: its name, whether a name has it, and a name written in it.
type Case = (&'static str, fn(&str) -> bool, fn(&str) -> String);

const CAMEL: Case = ("in camelCase", is_camel, |name| name.to_lower_camel_case());
const PASCAL: Case = ("in PascalCase", is_pascal, |name| name.to_pascal_case());
const CAPITALISED: Case = ("capitalised like a standard header", is_header, capitalised_words);

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    for object in model.everything() {
        let is_of = |kind| object.parent().is_some_and(|parent| parent.kind() == kind);
        let (rule, what, keyword, (case, is_right, written)) = match object.kind() {
            Kind::Operation => (&OPERATION, "`operationId`", "operationId", CAMEL),
            Kind::Schema if is_of(Kind::Components) => (&SCHEMA, "schema name", "", PASCAL),
            Kind::Schema if object.keyword() == "properties" => (&FIELD, "property", "", CAMEL),
            Kind::Parameter if object.text("in") == Some("header") => {
                (&HEADER, "header", "name", CAPITALISED)
            }
            Kind::Parameter => (&FIELD, "parameter", "name", CAMEL),
            Kind::Header if is_of(Kind::Response) => (&HEADER, "header", "", CAPITALISED),
            _ => continue,
        };
        let name = if keyword.is_empty() { Some(object.name()) } else { object.text(keyword) };
        if let Some(name) = name.filter(|name| !is_right(name)) {
            let message = format!("The {what} `{}` is not {case}.", shortened(name));
            let right = Some(written(name)).filter(|right| is_right(right));
            let fix = match &right {
                Some(right) => format!("Write `{}`.", shortened(right)),
                None => "Write a name of ASCII letters and digits that begins with a letter.".to_owned(),
            };
            let added = findings.add(rule, object.value_spot(keyword), message, fix);
            right.into_iter().fold(added, |added, right| added.rename(&right));
        }
    }
}

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

/// Whether a name is in camelCase.
pub fn is_camel(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase()) && is_word(name)
}

fn is_pascal(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_uppercase()) && is_word(name)
}

/// Whether a header is written as in its RFC.
pub fn is_header(name: &str) -> bool {
    let begins = name.starts_with(|first: char| first.is_ascii_alphabetic());
    begins && name.split('-').all(is_word) && capitalised_words(name) == name
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}
