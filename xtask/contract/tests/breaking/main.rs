//! Compares documents: single edits, versions and waivers, and documents that no person would write.

mod changelog;
mod documents;
mod edits;
#[allow(dead_code)] // The other tests use the rest of it.
#[path = "../document/fixture.rs"]
mod fixture;
mod fixtures;
mod gate;
mod generate;
mod hostile;
mod kinds;
