//! Drift: the frozen document against the code's side of it, and both with something changed.

mod code_changed;
mod document;
mod document_changed;
#[allow(dead_code, reason = "other tests use the rest of it")]
#[path = "../document/fixture.rs"]
mod fixture;
mod fixtures;
mod hostile;
mod messages;
mod mutants;
mod mutated;
mod same;
