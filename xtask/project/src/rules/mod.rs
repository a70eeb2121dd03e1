//! The rules of this project for its OpenAPI document, beside those of the package `checks`.
//!
//! Each has a file in `fixtures/lint` with edits that trigger it and edits that do not.
//!
//! - [`routes`]: which paths dropshot can route.
//! - [`errors`]: statuses, and the bodies and examples of errors.
//! - [`names`]: the case of names.
//! - [`deprecation`]: the dates and the successor of deprecated operations.
//! - [`prose`]: what descriptions mention exists.

mod deprecation;
mod errors;
mod names;
mod prose;
pub(crate) mod routes;

use checks::lint::{Project, add_project};
use include_dir::{Dir, include_dir};

static FIXTURES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/fixtures/lint");

/// The rules, with the function that checks them.
pub static PROJECT: Project = Project {
    checks: &[
        (routes::RULES, routes::check),
        (errors::RULES, errors::check),
        (names::RULES, names::check),
        (deprecation::RULES, deprecation::check),
        (prose::RULES, prose::check),
    ],
    fixture: |rule| FIXTURES.get_file(format!("{rule}.yaml"))?.contents_utf8(),
};

/// Adds the rules to those that `lint`, the language server and the configuration know.
pub fn add() {
    add_project(&PROJECT);
}
