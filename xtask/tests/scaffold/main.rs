//! `cargo xtask scaffold`: what it makes for invented operations compiles, and the check is quiet about it.

mod broken;
mod compiled;
mod refused;

use xtask::scaffold::Scaffold;
use xtask::served;
use xtask::source::Sources;
use xtask::written::Document;

const TEXT: &str = include_str!("../../../openapi/animal-store.yaml");
const TOYS: &str = include_str!("toys.yaml");
const SCHEMAS: &str = include_str!("schemas.yaml");

/// The answer that two of the invented operations share.
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

/// The document with more paths, schemas and responses.
fn with(paths: &str, schemas: &str, responses: &str) -> String {
    let mut text = TEXT.to_owned();
    for (mark, added) in [
        ("\ncomponents:\n", format!("\n{paths}\ncomponents:\n")),
        ("\n  schemas:\n", format!("\n  schemas:\n{schemas}")),
        ("\n  responses:\n", format!("\n  responses:\n{responses}")),
        ("\ntags:\n", "\ntags:\n  - name: toys\n".to_owned()),
    ] {
        let at = text.find(mark).unwrap_or_else(|| panic!("{mark:?} is not in the document"));
        text.replace_range(at..at + mark.len(), &added);
    }
    text
}

/// What is made for a document, or for one of its operations.
fn scaffold(text: &str, operation: Option<&str>) -> Result<Scaffold, String> {
    let document = Document::parse("invented.yaml", text).unwrap_or_else(|error| panic!("{}", error.problem));
    let sources = Sources::read(&xtask::check::workspace());
    Scaffold::of(&document, &served::document().unwrap(), &sources, operation)
}
