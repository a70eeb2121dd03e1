//! `cargo xtask lint` on the real document, on edits of it that each rule is for, and on documents that are
//! no documents.

mod broken;
#[allow(dead_code)] // `tests/generator` of the root package uses the rest of it.
#[path = "../document/fixture.rs"]
mod fixture;
mod rules;
