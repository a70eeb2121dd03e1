//! The layers of `src`: a module imports only from modules below it in the list in `src/lib.rs`.

use kit::layers::Crate;

#[test]
fn imports_point_downwards() {
    Crate { directory: env!("CARGO_MANIFEST_DIR"), name: "document" }.assert_imports_point_downwards();
}
