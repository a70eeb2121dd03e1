//! `cargo xtask scaffold`: the generated code compiles and agrees with the document.

mod broken;
mod compiled;
mod constructs;
mod edits;
mod unsupported;

use std::path::Path;

use document::Document;
use document::finding::Finding;
use xtask::dropshot::source::Sources;
use xtask::scaffold::Scaffold;

/// The document before scaffolding.
const TEXT: &str = include_str!("../../checks/tests/documents/library.yaml");
const TOYS: &str = include_str!("toys.yaml");
const SCHEMAS: &str = include_str!("schemas.yaml");

/// A response of two invented operations.
const NO_TOY: &str = "    NoToy:
      description: There is no such toy.
      headers:
        x-request-id:
          $ref: '#/components/headers/RequestId'
      content:
        application/json:
          schema:
            $ref: '#/components/schemas/Error'
";

/// Returns the document with the invented operations.
fn toys() -> String {
    with(TOYS, SCHEMAS, NO_TOY)
}

/// Returns the document with more paths, schemas and responses.
fn with(paths: &str, schemas: &str, responses: &str) -> String {
    let mut text = TEXT.to_owned();
    for (mark, added) in [
        ("\ncomponents:\n", format!("\n{paths}\ncomponents:\n")),
        ("\n  schemas:\n", format!("\n  schemas:\n{schemas}")),
        ("\n  responses:\n", format!("\n  responses:\n{responses}")),
    ] {
        let at = text.find(mark).unwrap_or_else(|| panic!("{mark:?} is not in the document"));
        text.replace_range(at..at + mark.len(), &added);
    }
    text
}

fn document(name: &str, text: &str) -> Document {
    Document::parse(name, text).unwrap_or_else(|error| panic!("{}", error.problem))
}

/// The directory of the sources before scaffolding.
fn frozen() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/scaffold/frozen"))
}

/// The operations of `toys.yaml`.
const OPERATIONS: [&str; 5] = ["findToys", "removeToy", "replaceToy", "addToyPart", "countToys"];

/// Scaffolds an operation of a document.
fn scaffold(text: &str, operation: &str) -> Result<Scaffold, Vec<Finding>> {
    Scaffold::of(&document("invented.yaml", text), &Sources::read(frozen()), operation)
}

/// Returns the message of the only error for an operation.
fn error(text: &str, operation: &str) -> String {
    let errors = scaffold(text, operation).expect_err(operation);
    assert_eq!(errors.len(), 1, "{errors:?}");
    errors[0].message.clone()
}
