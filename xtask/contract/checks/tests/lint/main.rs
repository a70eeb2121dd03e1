//! Linting a frozen document, edits of it for each rule, and broken documents.

mod broken;
mod explanation;
#[allow(dead_code)] // `tests/generator` of the root package uses the rest.
#[path = "../documents/fixture.rs"]
mod fixture;
mod judge;
mod registry;
mod renames;
mod repairs;
mod rules;
mod styles;
mod validity;
