//! Keys: that each operation says which it wants, and that there are such.

use std::collections::HashMap;

use animal_store::yaml::Node;

use super::super::outline::{Outline, Step};
use super::super::rule::{Findings, Origin, Rule};
use super::super::structure::kinds::Kind;
use super::super::structure::shown;

const DEFINED: Rule = Rule::error(
    "security-defined",
    Origin::Redocly,
    "Each operation, or else the document, says which security it wants; `[]` for none.",
);
const SCHEME: Rule = Rule::error(
    "oas3-operation-security-defined",
    Origin::Spectral,
    "The security schemes that are wanted are defined, and so are the scopes.",
);

pub(in crate::lint) const RULES: &[&Rule] = &[&DEFINED, &SCHEME];

pub(in crate::lint) fn check(outline: &Outline<'_>, findings: &mut Findings) {
    if !outline.root().has("security") {
        for operation in outline.all(Kind::Operation).filter(|operation| !operation.has("security")) {
            let message = format!("Nothing says which security {} wants.", operation.subject());
            findings.add(&DEFINED, operation.spot(), message, "Add `security` to it, or to the document.");
        }
    }
    let components = outline.all(Kind::Components);
    let schemes: HashMap<&str, _> = components
        .flat_map(|components| components.children("securitySchemes").collect::<Vec<_>>())
        .map(|scheme| (scheme.name(), scheme))
        .collect();
    for requirement in outline.all(Kind::SecurityRequirement) {
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
