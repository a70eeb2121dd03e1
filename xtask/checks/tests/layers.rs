//! The layers of `src`: a module imports only from modules below it in the list in `src/lib.rs`.

#[path = "../../../tests/layers/imports.rs"]
mod imports;

#[test]
fn imports_point_downwards() {
    imports::Crate { directory: env!("CARGO_MANIFEST_DIR"), name: "checks" }.assert_imports_point_downwards();
}
