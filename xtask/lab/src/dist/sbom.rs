//! The software bill of materials (CycloneDX 1.5).

use cargo_metadata::Package;
use serde_json::{Value, json};

use super::dependencies::Dependencies;

/// Returns the bill of materials of the program, whose own crate has the package URL `program`.
pub(super) fn sbom(program: &str, dependencies: &Dependencies) -> Value {
    let others = dependencies.iter().filter(|(url, _)| *url != program);
    let components: Vec<_> = others.map(|(url, it)| component(url, &it.package, "library")).collect();
    let uses = dependencies.iter().map(|(url, it)| json!({ "ref": url, "dependsOn": it.uses }));
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "component": component(program, &dependencies[program].package, "application") },
        "components": components,
        "dependencies": uses.collect::<Vec<_>>(),
    })
}

fn component(url: &str, package: &Package, kind: &str) -> Value {
    let mut component =
        json!({ "type": kind, "bom-ref": url, "name": *package.name, "version": package.version });
    // The manifests of old crates separate alternatives with a slash.
    if let Some(licence) = package.license.as_deref().map(|licence| licence.replace('/', " OR ")) {
        component["licenses"] = json!([{ "expression": licence }]);
    }
    if package.source.is_some() {
        component["purl"] = url.into();
    }
    component
}
