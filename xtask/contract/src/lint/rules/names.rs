//! The spelling of names.

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
    for operation in model.all(Kind::Operation) {
        let Some(id) = operation.text("operationId") else { continue };
        if !is_camel(id) {
            let message = format!("The `operationId` `{}` is not in camelCase.", shown(id));
            findings.add(
                &OPERATION,
                operation.value_spot("operationId"),
                message,
                "Write a name such as `listPets`.",
            );
            continue;
        }
        let verb = id.split(|c: char| c.is_ascii_uppercase()).next().unwrap_or_default();
        if !VERBS.split(' ').any(|known| known == verb) {
            let message = format!("The `operationId` `{}` does not begin with a known verb.", shown(id));
            let fix = "Begin with a verb such as `list`, `get` or `create`.";
            findings.add(&VERB, operation.value_spot("operationId"), message, fix);
        }
    }
    for schema in model.everything().filter(|object| object.kind() == Kind::Schema) {
        let named = schema.parent().is_some_and(|parent| parent.kind() == Kind::Components);
        let name = shown(schema.name());
        if named && !is_pascal(schema.name()) {
            let message = format!("The schema name `{name}` is not in PascalCase.");
            findings.add(&SCHEMA, schema.spot(), message, "Write a name such as `NewPet`.");
        }
        if schema.keyword() == "properties" && !is_camel(schema.name()) {
            let message = format!("The property `{name}` is not in camelCase.");
            findings.add(&FIELD, schema.spot(), message, "Write a name such as `categoryId`.");
        }
    }
    for parameter in model.all(Kind::Parameter) {
        let Some(name) = parameter.text("name") else { continue };
        let spot = || parameter.value_spot("name");
        if parameter.text("in") == Some("header") {
            if !is_header(name) {
                findings.add(
                    &HEADER,
                    spot(),
                    header_message(name),
                    "Capitalise each word, as in `If-Match`.",
                );
            }
        } else if !is_camel(name) {
            let message = format!("The parameter `{}` is not in camelCase.", shown(name));
            findings.add(&FIELD, spot(), message, "Write a name such as `petId`.");
        }
    }
    for response in model.all(Kind::Response) {
        for header in response.children("headers").filter(|header| !is_header(header.name())) {
            let message = header_message(header.name());
            findings.add(&HEADER, header.spot(), message, "Capitalise each word, as in `Retry-After`.");
        }
    }
}

fn header_message(name: &str) -> String {
    format!("The header name `{}` is not capitalised like a standard header.", shown(name))
}

fn is_camel(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn is_pascal(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

pub(crate) fn is_header(name: &str) -> bool {
    let lower = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let capitalised = |word: &str| {
        let mut letters = word.chars();
        letters.next().is_some_and(|first| first.is_ascii_uppercase()) && letters.all(lower)
    };
    let private = name
        .strip_prefix("x-")
        .is_some_and(|rest| rest.split('-').all(|word| !word.is_empty() && word.chars().all(lower)));
    EXCEPTIONS.split(' ').any(|exception| exception == name) || private || name.split('-').all(capitalised)
}
