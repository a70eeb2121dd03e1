//! Security requirements must be present, and their schemes and scopes defined.

use std::collections::HashMap;

use document::Node;
use document::openapi::{Kind, Model, Object};
use document::shortened;

use crate::lint::{item_spot, lacking};
use crate::rule::{Added, Findings, rules};

rules! {
    DEFINED: Recommended Error "security-defined", "Redocly: security-defined",
        "Each operation, or else the document, has `security`.";
    SCHEME: Spec Error fix Unsafe "oas3-operation-security-defined",
        "OpenAPI 3.0.3, 4.7.30; Spectral: oas3-operation-security-defined",
        "Each name in `security` is that of a security scheme; only schemes of type `oauth2` and \
         `openIdConnect` have scopes.";
    SCOPE: Recommended Error fix Unsafe "security-scopes-defined", "Spectral: part of oas3-operation-security-defined",
        "Each scope in `security` is a scope of a flow of the security scheme.";
}

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    if !model.root().has("security") {
        let fix = "Add `security` to the document or the operation; `[]` if no authentication is needed.";
        let operations = model.all(Kind::Operation);
        lacking(&DEFINED, operations, ("`security`", fix), |it| it.has("security"), findings);
    }
    let components = model.root().child("components").into_iter();
    let schemes = components.flat_map(|components| components.children("securitySchemes"));
    let schemes: HashMap<&str, _> = schemes.map(|scheme| (scheme.name(), scheme)).collect();
    for requirement in model.all(Kind::SecurityRequirement) {
        for entry in requirement.node().entries() {
            let name = shortened(&entry.key);
            let Some(scheme) = schemes.get(entry.key.as_str()) else {
                let message = format!("The security scheme `{name}` is not defined.");
                let fix = "Define it in `components/securitySchemes`, or correct the name.";
                let added = findings.add(&SCHEME, requirement.key_spot(&entry.key), message, fix);
                added.meant(&entry.key, schemes.keys().copied(), Added::rename);
                continue;
            };
            let Some(scheme) = scheme.resolved() else { continue };
            if let Some(kind @ ("apiKey" | "http")) = scheme.text("type")
                && !entry.value.items().is_empty()
            {
                let message = format!(
                    "The security scheme `{name}` has `type: {kind}`, so its list must be empty: OpenAPI 3.0 allows \
                     scopes only for `oauth2` and `openIdConnect`."
                );
                let added = findings.add(&SCHEME, requirement.key_spot(&entry.key), message, "Write `[]`.");
                added.write(Vec::<String>::new());
            }
            if scheme.text("type") != Some("oauth2") {
                continue;
            }
            let flows: Vec<_> = scheme.child("flows").iter().flat_map(|flows| flows.parts()).collect();
            for (number, scope) in entry.value.items().iter().enumerate() {
                let Some(text) = scope.as_str() else { continue };
                let in_flow =
                    |flow: &Object<'_>| flow.get("scopes").is_some_and(|all| all.get(text).is_some());
                if flows.iter().any(in_flow) {
                    continue;
                }
                let message = format!("The security scheme `{name}` has no scope `{}`.", shortened(text));
                let known = flows.iter().filter_map(|flow| flow.get("scopes")).flat_map(Node::entries);
                let spot = item_spot(requirement, &entry.key, number);
                // Without it, fewer scopes would be needed, so removing it is not a repair.
                let added = findings.add(&SCOPE, spot, message, "Correct it, or define it.");
                added.meant(text, known.map(|entry| entry.key.as_str()), Added::write);
            }
        }
    }
}
