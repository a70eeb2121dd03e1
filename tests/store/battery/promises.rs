//! The promises of `Store`: each test here runs for every engine, because every engine includes this file.

use super::Subject;
use crate::battery::Engine as _;

mod animals;
mod keys;
mod life;
mod pages;

/// An empty place for the engine under test; `None` where the engine cannot run.
async fn fresh() -> Option<Subject> {
    if Subject::is_there() { Some(Subject::fresh().await) } else { None }
}
