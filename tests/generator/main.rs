//! Checks the linter's rules about progenitor against progenitor: documents that these rules reject must fail to
//! generate, and documents that they accept must generate.

#[path = "../../xtask/checks/tests/documents/fixture.rs"]
#[allow(dead_code)] // The linter's tests use the rest.
mod fixture;

use std::panic;
use std::path::Path;

use document as yaml;
use progenitor::{GenerationSettings, Generator, InterfaceStyle};

const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/xtask/checks/tests/documents/library.yaml");
/// The rules of any project, and those of this one.
const FIXTURES: [&str; 2] = [
    concat!(env!("CARGO_MANIFEST_DIR"), "/xtask/checks/fixtures/lint"),
    concat!(env!("CARGO_MANIFEST_DIR"), "/xtask/fixtures/lint"),
];

/// Generates a client with the settings of the build script. Returns why it failed.
fn generate(text: &str) -> Result<(), String> {
    let json = yaml::read(text).map_err(|problem| problem.to_string())?.to_json();
    let document: openapiv3::OpenAPI = serde_json::from_value(json).map_err(|error| error.to_string())?;
    let result = panic::catch_unwind(|| {
        let mut settings = GenerationSettings::new();
        settings.with_interface(InterfaceStyle::Builder);
        Generator::new(&settings).generate_tokens(&document).map_err(|error| error.to_string())
    });
    match result {
        Ok(result) => result.map(drop),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            Err(text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic").to_owned())
        }
    }
}

#[test]
fn rejected_documents_fail_and_accepted_documents_work() {
    panic::set_hook(Box::new(|_| {}));
    let mut wrong = String::new();
    let mut failed = 0;
    for case in FIXTURES.iter().flat_map(|folder| fixture::cases(Path::new(folder), Path::new(DOCUMENT))) {
        let fails = match (&case.generator, case.breaks) {
            (Some(generator), _) => generator == "fails",
            (None, true) if case.rule.starts_with("progenitor-") => true,
            // Fixtures of other rules say nothing about progenitor.
            (None, true) => continue,
            (None, false) => false,
        };
        let result = generate(&case.text);
        if result.is_err() != fails {
            let expected = if fails { "fail" } else { "work" };
            wrong.push_str(&format!("\n{} should {expected}: {result:?}", case.name));
        }
        failed += usize::from(fails);
    }
    let _ = panic::take_hook();
    assert!(wrong.is_empty(), "{wrong}");
    assert!(failed >= 40, "only {failed} fixtures are expected to fail");
}

#[test]
fn the_document_works() {
    let text = std::fs::read_to_string(DOCUMENT).unwrap();
    assert_eq!(generate(&text), Ok(()));
}
