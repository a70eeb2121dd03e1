//! Keys: that each operation says which it wants, and that there are such.

use std::collections::HashMap;

use crate::document::Node;

use crate::finding::Severity;
use crate::finding::shortened as shown;
use crate::openapi::Kind;
use crate::openapi::{Model, Step};
use crate::rule::{Findings, Rule};

const DEFINED: Rule = Rule::recommended(
    "security-defined",
    Severity::Error,
    "Redocly",
    "Each operation, or else the document, says which security it wants; `[]` for none.",
);
const SCHEME: Rule = Rule::recommended(
    "oas3-operation-security-defined",
    Severity::Error,
    "Spectral",
    "The security schemes that are wanted are defined, and so are the scopes.",
);

pub(crate) const RULES: &[&Rule] = &[&DEFINED, &SCHEME];

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    if !model.root().has("security") {
        for operation in model.all(Kind::Operation).filter(|operation| !operation.has("security")) {
            let message = format!("Nothing says which security {} wants.", operation.subject());
            findings.add(&DEFINED, operation.spot(), message, "Add `security` to it, or to the document.");
        }
    }
    let components = model.all(Kind::Components);
    let schemes: HashMap<&str, _> = components
        .flat_map(|components| components.children("securitySchemes").collect::<Vec<_>>())
        .map(|scheme| (scheme.name(), scheme))
        .collect();
    for requirement in model.all(Kind::SecurityRequirement) {
        for entry in requirement.node().entries() {
            let name = shown(&entry.key);
            let Some(scheme) = schemes.get(entry.key.as_str()) else {
                let message = format!("There is no security scheme `{name}`.");
                let fix = "Define it under `components/securitySchemes`, or name one that is there.";
                findings.add(&SCHEME, requirement.key_spot(&entry.key), message, fix);
                continue;
            };
            let Some(scheme) = scheme.resolved() else { continue };
            let flows: Vec<_> = scheme.child("flows").iter().flat_map(|flows| flows.parts()).collect();
            for (number, scope) in entry.value.items().iter().enumerate() {
                let Some(text) = scope.as_str() else { continue };
                let known = match scheme.text("type") {
                    Some("oauth2") => {
                        let scopes = flows.iter().filter_map(|flow| flow.get("scopes"));
                        scopes.into_iter().any(|scopes: &Node| scopes.get(text).is_some())
                    }
                    Some("openIdConnect") => true,
                    _ => false,
                };
                if !known {
                    let message = format!("The security scheme `{name}` has no scope `{}`.", shown(text));
                    let steps = [Step::Key(&entry.key), Step::Item(number)];
                    findings.add(
                        &SCHEME,
                        requirement.spot_at(&steps, scope.span),
                        message,
                        "Take it out, or define it.",
                    );
                }
            }
        }
    }
}
