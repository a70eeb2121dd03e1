//! Drift between the frozen document and the document of its code, with edits of either.

mod code_changed;
mod document;
mod document_changed;
#[allow(dead_code, reason = "other tests use the rest of it")]
#[path = "../documents/fixture.rs"]
mod fixture;
mod fixtures;
mod hostile;
mod messages;
mod mutants;
mod mutated;
mod repairs;
mod same;
