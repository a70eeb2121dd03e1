//! The conformance tests of `Store`. Each engine includes this file, so every test runs for every engine.

use super::Subject;
use crate::conformance::Engine as _;

mod animals;
mod idempotency;
mod keys;
mod lifecycle;
mod pages;

/// Creates an empty database of the engine under test; `None` where the engine cannot run.
async fn fresh() -> Option<Subject> {
    if Subject::is_available() { Some(Subject::fresh().await) } else { None }
}
