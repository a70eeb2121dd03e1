//! Scaffolds the invented operations and all supported constructs into a copy of the service, compiles the copy with
//! clippy and all warnings denied, and runs it with `probe.rs`.
//!
//! The operations need the types of the service's library. Its own operations and schemas remain in the copy, but the
//! test does not depend on them. The copy shares the target directory, so that dependencies are not compiled again.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use animal_store::http::error_code::ErrorCode;
use checks::drift::{Help, compare};
use document::Document;
use launcher::workspace::workspace;
use serde_json::{Value, json};
use xtask::dropshot::served;
use xtask::dropshot::source::Sources;
use xtask::scaffold::Scaffold;

use crate::{NO_TOY, OPERATIONS, SCHEMAS, TOYS, constructs, document, frozen, with};

/// The code's document before scaffolding.
const CODE: &str = include_str!("../../checks/tests/documents/library.code.json");

/// The manifest of the probe. Because of `xtask` it has the dependencies of xtask, so cargo enables the same features of all
/// third-party crates and does not compile them again.
const PROBE: &str = r#"[package]
name = "probe"
version = "0.0.0"
edition.workspace = true

[dependencies]
# Without the feature `document`: the test gives the server a document of its own.
animal-store = { path = "..", default-features = false }
xtask = { path = "../xtask" }
dropshot.workspace = true
jiff.workspace = true
schemars.workspace = true
serde.workspace = true
serde_json.workspace = true
slog.workspace = true
tokio.workspace = true
"#;

/// The packages of which the copy has the manifest alone.
const EMPTY: [&str; 7] = [
    "xtask",
    "xtask/checks",
    "xtask/contract",
    "xtask/document",
    "xtask/language-server",
    "xtask/launcher",
    "xtask/site",
];

/// Creates a copy of the service with the frozen types and `probe`.
fn copy() -> PathBuf {
    let (from, to) = (workspace(), Path::new(env!("CARGO_TARGET_TMPDIR")).join("scaffolded"));
    if to.exists() {
        fs::remove_dir_all(&to).unwrap();
    }
    for part in [".cargo", "src", "openapi"] {
        copy_all(&from.join(part), &to.join(part));
    }
    for file in ["Cargo.lock", "build.rs"] {
        fs::copy(from.join(file), to.join(file)).unwrap();
    }
    let manifest = fs::read_to_string(from.join("Cargo.toml")).unwrap();
    let members = manifest.lines().find(|line| line.starts_with("members = ")).unwrap();
    let manifest = manifest
        .replace(members, "members = [\"probe\"]")
        .replace("[workspace.lints.rust]", "[workspace.lints.rust]\nwarnings = \"deny\"");
    fs::write(to.join("Cargo.toml"), manifest).unwrap();
    for package in EMPTY {
        fs::create_dir_all(to.join(package).join("src")).unwrap();
        fs::copy(from.join(package).join("Cargo.toml"), to.join(package).join("Cargo.toml")).unwrap();
        fs::write(to.join(package).join("src/lib.rs"), "//! Empty.\n").unwrap();
    }
    fs::create_dir_all(to.join("probe/src/bin")).unwrap();
    fs::write(to.join("probe/Cargo.toml"), PROBE).unwrap();
    fs::write(to.join("probe/src/main.rs"), include_str!("probe.rs")).unwrap();
    fs::write(to.join("probe/src/bin/rejected.rs"), include_str!("rejected.rs")).unwrap();
    // The types that the frozen code has.
    fs::copy(frozen().join("src/schemas/book.rs"), to.join("src/schemas/book.rs")).unwrap();
    let schemas = fs::read_to_string(to.join("src/schemas/mod.rs")).unwrap();
    let books = "\nmod book;\npub use book::{Book, BookStatus, Books, NewBook, Shelf};\n";
    fs::write(to.join("src/schemas/mod.rs"), schemas + books).unwrap();
    // The tag that the frozen code has.
    let operations = fs::read_to_string(to.join("src/operations/mod.rs")).unwrap();
    let own = "(TAG.to_owned(), TagDetails::default())";
    let both = format!("{own}, (\"books\".to_owned(), TagDetails::default())");
    assert!(operations.contains(own));
    fs::write(to.join("src/operations/mod.rs"), operations.replace(own, &both)).unwrap();
    to
}

fn copy_all(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_all(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Returns the target directory of this test.
fn target() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_xtask")).ancestors().nth(2).unwrap()
}

/// Adds an operation of the same name to the service in the copy.
fn register(copy: &Path, name: &str, operation: &str) {
    let (directory, registration) = (copy.join("src/operations"), "    Ok(api)\n");
    fs::write(directory.join(name).with_extension("rs"), operation).unwrap();
    let module = fs::read_to_string(directory.join("mod.rs")).unwrap();
    assert!(module.contains(registration));
    let module = module.replace(registration, &format!("    api.register({name}::{name})?;\n{registration}"));
    fs::write(directory.join("mod.rs"), format!("{module}\nmod {name};\n")).unwrap();
}

/// Builds a program of the probe with clippy as the compiler, so that one build both lints and links. Returns whether it
/// was built, and the errors.
fn build(copy: &Path, program: &str) -> (bool, String) {
    let cargo = PathBuf::from(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let clippy = cargo.with_file_name("clippy-driver");
    let built = Command::new(&cargo)
        .args(["build", "--offline", "--quiet", "--package", "probe", "--bin", program, "--target-dir"])
        .arg(target())
        .env("RUSTC_WORKSPACE_WRAPPER", clippy)
        .current_dir(copy)
        .output()
        .unwrap();
    (built.status.success(), String::from_utf8_lossy(&built.stderr).into_owned())
}

/// Returns the code's document with the new operations, and the frozen operations instead of the service's own.
fn code_of(printed: &str) -> Document {
    let (described, words): (Value, BTreeMap<String, Vec<String>>) = serde_json::from_str(printed).unwrap();
    let code = |word: &String| *ErrorCode::ALL.iter().find(|code| code.as_str() == word).unwrap();
    let codes = words.iter().map(|(id, words)| (id.clone(), words.iter().map(code).collect())).collect();
    let copied = served::completed(described, &codes).unwrap();
    let own = served::document().unwrap();
    let mut code: Value = serde_json::from_str(CODE).unwrap();
    for part in ["/paths", "/components/schemas"] {
        let known = own.pointer(part).unwrap();
        let new = copied.pointer(part).unwrap().as_object().unwrap().iter();
        let target = code.pointer_mut(part).unwrap().as_object_mut().unwrap();
        target.extend(
            new.filter(|(name, _)| known.get(name).is_none()).map(|(name, it)| (name.clone(), it.clone())),
        );
    }
    document("the code", &code.to_string())
}

#[test]
fn everything_supported_compiles_and_agrees_with_the_document() {
    let (paths, schemas) = constructs::supported();
    let text = with(&format!("{TOYS}\n{paths}"), &format!("{schemas}{SCHEMAS}"), NO_TOY);
    let invented = document("invented.yaml", &text);
    let copy = copy();
    for operation in OPERATIONS.map(str::to_owned).into_iter().chain(constructs::operations(paths)) {
        let made = Scaffold::of(&invented, &Sources::read(&copy), &operation);
        made.unwrap_or_else(|errors| panic!("{errors:?}")).write(&copy).unwrap();
    }
    register(&copy, "update_crate", include_str!("ordinary.rs"));
    let (is_built, errors) = build(&copy, "probe");
    assert!(is_built, "{errors}");
    // Other tests may build a program of the same name, so this one is moved.
    let program = copy.join("probe-of-scaffold");
    fs::rename(target().join("debug/probe"), &program).unwrap();

    let not_implemented = "501 this operation is not implemented yet";
    let expected = [
        ("GET /v1/toys?kind=bear&limit=50", not_implemented),
        ("DELETE /v1/toys/7", not_implemented),
        ("POST /v1/toys/7/parts/leg {\"weight\":1.5}", not_implemented),
        ("GET /v1/toyCounts", not_implemented),
        ("GET /v1/toys?kind=bear&limit=51", "400 limit must have minimum 1, maximum 50"),
        ("GET /v1/toys?kind=dog", "400 kind must be one of bear, block, car"),
        (
            "DELETE /v1/toys/07",
            "404 this path does not exist: a path parameter does not have the type that the document says",
        ),
        ("PUT /v1/toys/7 {\"name\":\"\",\"price\":5}", "400 name must have minLength 1, maxLength 40"),
        ("PUT /v1/toys/7 {\"name\":\"bear\",\"price\":5,\"codes\":[]}", "400 codes must have minItems 1"),
        (
            "PUT /v1/toys/7?dryRun=true {\"name\":\"bear\",\"price\":5,\"codes\":[1],\"fragile\":false}",
            not_implemented,
        ),
        ("POST /v1/toys/7/parts/leg {\"weight\":\"ask_heavy\"}", "400 weight must be a number"),
        (
            "anonymous PUT /v1/rooms/a/levels/1/crate {}",
            "401 send an API key as \"Authorization: Bearer <key>\"",
        ),
        (
            "PUT /v1/rooms/a%20b/levels/2/crate?verbose=true {\"kind\":\"steel\",\"weight\":2,\"note\":null}",
            "200 {\"place\":\"update_crate a b 2\",\"tag\":\"\\\"1\\\"\",\"update\":{\"kind\":\"steel\",\"note\":null,\
             \"weight\":2.0},\"verbose\":true}",
        ),
        (
            "PUT /v1/rooms/a/levels/256/crate {\"kind\":\"steel\",\"weight\":2}",
            "404 this path does not exist: a path parameter does not have the type that the document says",
        ),
        (
            "PUT /v1/rooms/a/levels/1/crate?verbos=1 {}",
            "400 unknown query parameter \"verbos\"; this operation takes verbose",
        ),
        (
            "PUT /v1/rooms/a/levels/1/crate {\"kind\":\"glass\",\"weight\":2}",
            "400 kind must be wood or steel",
        ),
        ("PUT /v1/rooms/a/levels/1/crate {\"kind\":\"wood\",\"weight\":null}", "400 weight must be a number"),
    ];
    let file = copy.join("invented.yaml");
    fs::write(&file, &text).unwrap();
    let requests = expected.iter().map(|(request, _)| request);
    let probed = Command::new(program).arg(&file).args(requests).output().unwrap();
    let printed = String::from_utf8(probed.stdout).unwrap();
    assert!(probed.status.success(), "{printed}{}", String::from_utf8_lossy(&probed.stderr));
    let mut lines = printed.lines();

    let code = code_of(lines.next().unwrap());
    let findings = compare(&invented, &code, Help::default());
    let findings: Vec<_> = findings.iter().map(|finding| (&*finding.rule, &*finding.message)).collect();
    // The document does not have the ordinary operation.
    let (missing, others): (Vec<_>, Vec<_>) = findings
        .into_iter()
        .partition(|(_, message)| message.contains("/rooms/") || message.contains("Crate"));
    assert!(others.is_empty(), "{others:#?}");
    assert!(missing.iter().any(|(rule, _)| *rule == "path-not-in-document"), "{missing:#?}");

    for (request, expected) in expected {
        let (status, body) = lines.next().unwrap().split_once(' ').unwrap();
        let body: Value = serde_json::from_str(body).unwrap_or_else(|_| json!({ "message": body }));
        let shown = body["message"].as_str().map_or_else(|| body.to_string(), str::to_owned);
        assert_eq!(format!("{status} {shown}"), expected, "{request}");
    }
    what_is_not_supported_does_not_compile(&copy);
}

/// Reuses the copy, which is compiled.
fn what_is_not_supported_does_not_compile(copy: &Path) {
    let (is_built, errors) = build(copy, "rejected");
    assert!(!is_built);
    for (function, message) in [
        ("any_error", "`dropshot::HttpError` does not say which error codes it has"),
        ("bytes", "`dropshot::UntypedBody` cannot be taken from a request"),
        ("body_first", "`dropshot::TypedBody<Anything>` cannot be taken from the head"),
        ("other_context", "{other_context}` is not a function of an operation"),
        ("unpublished", "no method named `visible` found"),
        ("versions", "named `From` found for enum `animal_store::http::dropshot::ApiEndpointVersions`"),
        ("maximum", "no method named `request_body_max_bytes` found"),
        ("pages", "no method named `page_limit` found"),
    ] {
        assert!(errors.contains(message), "{function}: {message} is not in:\n{errors}");
    }
}
