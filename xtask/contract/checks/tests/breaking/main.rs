//! Compares documents: single edits, versions and waivers, and hostile documents.

mod authors;
mod callbacks;
mod changelog;
mod documents;
mod edits;
#[allow(dead_code)] // Other test binaries use the rest.
#[path = "../documents/fixture.rs"]
mod fixture;
mod fixtures;
mod gate;
mod generate;
mod hostile;
mod kinds;
mod repairs;
