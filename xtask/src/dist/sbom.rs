//! The software bill of materials (CycloneDX 1.5).

use serde_json::{Value, json};

use super::dependencies::{Dependencies, Dependency, Id};

/// Returns the bill of materials of the program, whose own crate is `program`.
pub(super) fn sbom(program: &Id, dependencies: &Dependencies) -> Value {
    let others = dependencies.iter().filter(|(id, _)| *id != program);
    let components: Vec<Value> =
        others.map(|(id, dependency)| component(id, dependency, "library")).collect();
    let uses: Vec<Value> = dependencies
        .iter()
        .map(|(id, dependency)| {
            json!({ "ref": purl(id), "dependsOn": dependency.uses.iter().map(purl).collect::<Vec<_>>() })
        })
        .collect();
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "component": component(program, &dependencies[program], "application") },
        "components": components,
        "dependencies": uses,
    })
}

fn component(id: &Id, dependency: &Dependency, kind: &str) -> Value {
    let mut component = json!({
        "type": kind,
        "bom-ref": purl(id),
        "name": id.name,
        "version": id.version,
    });
    // The manifests of old crates separate alternatives with a slash.
    if let Some(licence) = dependency.licence.as_deref().map(|licence| licence.replace('/', " OR ")) {
        component["licenses"] = json!([{ "expression": licence }]);
    }
    if let Some(checksum) = &dependency.checksum {
        component["purl"] = purl(id).into();
        component["hashes"] = json!([{ "alg": "SHA-256", "content": checksum }]);
    }
    component
}

/// Returns the package URL (<https://github.com/package-url/purl-spec>).
fn purl(id: &Id) -> String {
    format!("pkg:cargo/{}@{}", id.name, id.version.replace('+', "%2B"))
}
