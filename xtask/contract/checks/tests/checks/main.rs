//! The rules on frozen documents, with edits of them, and the comparison against independent oracles.

mod breaking;
mod drift;
mod formats;
mod growth;
mod judge;
mod lint;
mod oracle;

use kit::layers::Crate;

const CHECKS: Crate = Crate { directory: env!("CARGO_MANIFEST_DIR"), name: "checks" };

/// A module imports only from modules below it in the list in `src/lib.rs`.
#[test]
fn imports_point_downwards() {
    CHECKS.assert_imports_point_downwards();
}

/// An operation has callbacks with operations, and a parameter has media types with encodings with headers, which are
/// like parameters.
#[test]
fn only_files_about_objects_that_contain_each_other_import_each_other() {
    let files = CHECKS.files_in_cycles();
    let allowed = ["callback", "encoding", "media_type", "operation", "parameter"];
    let allowed = allowed.map(|file| format!("breaking/{file}.rs"));
    let others: Vec<_> = files.iter().filter(|file| !allowed.contains(file)).collect();
    assert!(others.is_empty(), "these files import each other: {others:?}");
}
