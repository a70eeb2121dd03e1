//! Security requirements must be present, and their schemes and scopes defined.

use std::collections::HashMap;

use document::Node;
use document::finding::shortened;
use document::openapi::{Kind, Model, Object};
use document::rule::{Added, Findings, rules};

use crate::lint::item_spot;

rules! {
    DEFINED: Recommended Error "security-defined", "Redocly: security-defined",
        "Each operation, or else the document, has `security`.";
    SCHEME: Spec Error "oas3-operation-security-defined",
        "OpenAPI 3.0.3, 4.7.30; Spectral: oas3-operation-security-defined",
        "Each name in `security` is that of a security scheme; only schemes of type `oauth2` and \
         `openIdConnect` have scopes.";
    SCOPE: Recommended Error "security-scopes-defined", "Spectral: part of oas3-operation-security-defined",
        "Each scope in `security` is a scope of a flow of the security scheme.";
}

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    if !model.root().has("security") {
        for operation in model.all(Kind::Operation).filter(|operation| !operation.has("security")) {
            let message = format!("{} has no `security`, and neither has the document.", operation.subject());
            let fix = "Add `security` to one of them; `[]` if no authentication is needed.";
            findings.add(&DEFINED, operation.spot(), message, fix);
        }
    }
    let components = model.all(Kind::Components).flat_map(|components| components.parts());
    let schemes = components.filter(|component| component.keyword() == "securitySchemes");
    let schemes: HashMap<&str, _> = schemes.map(|scheme| (scheme.name(), scheme)).collect();
    for requirement in model.all(Kind::SecurityRequirement) {
        for entry in requirement.node().entries() {
            let name = shortened(&entry.key);
            let Some(scheme) = schemes.get(entry.key.as_str()) else {
                let message = format!("The security scheme `{name}` is not defined.");
                let meant = findings.suggestions.nearest(&entry.key, schemes.keys().copied());
                let fix = "Define it in `components/securitySchemes`, or correct the name.";
                let added = findings.add(&SCHEME, requirement.key_spot(&entry.key), message, fix);
                added.meant(meant, Added::rename);
                continue;
            };
            let Some(scheme) = scheme.resolved() else { continue };
            let flows: Vec<_> = scheme.child("flows").iter().flat_map(|flows| flows.parts()).collect();
            for (number, scope) in entry.value.items().iter().enumerate() {
                let Some(text) = scope.as_str() else { continue };
                let in_flow =
                    |flow: &Object<'_>| flow.get("scopes").is_some_and(|all| all.get(text).is_some());
                let spot = item_spot(requirement, &entry.key, number);
                match scheme.text("type") {
                    None | Some("openIdConnect") => {}
                    Some("oauth2") if flows.iter().any(in_flow) => {}
                    Some("oauth2") => {
                        let scope = shortened(text);
                        let message = format!("The security scheme `{name}` has no scope `{scope}`.");
                        let known =
                            flows.iter().filter_map(|flow| flow.get("scopes")).flat_map(Node::entries);
                        let meant = findings.suggestions.nearest(text, known.map(|entry| entry.key.as_str()));
                        // Without it, fewer scopes would be needed, so removing it is not a repair.
                        let added = findings.add(&SCOPE, spot, message, "Correct it, or define it.");
                        added.meant(meant, Added::write);
                    }
                    Some(kind) => {
                        let message = format!(
                            "The security scheme `{name}` is of type `{}`, which has no scopes in OpenAPI 3.0.",
                            shortened(kind)
                        );
                        findings.add(&SCHEME, spot, message, "Remove the scope.").remove();
                    }
                }
            }
        }
    }
}
