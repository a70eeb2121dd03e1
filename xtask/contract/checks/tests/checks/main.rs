//! The rules on frozen documents, with edits of them, and the comparison against independent oracles.

mod breaking;
mod drift;
mod growth;
mod judge;
mod lint;
mod oracle;

use kit::layers::Crate;

/// A module imports only from modules below it in the list in `src/lib.rs`.
#[test]
fn imports_point_downwards() {
    Crate { directory: env!("CARGO_MANIFEST_DIR"), name: "checks" }.assert_imports_point_downwards();
}
