//! The language server, as a client sees it over a connection in memory.

mod actions;
mod code;
mod completion;
mod diagnostics;
mod latency;
mod navigation;
mod positions;
mod rename;
mod rubbish;
mod session;

use kit::layers::Crate;

/// A module imports only from modules below it in the list in `src/lib.rs`.
#[test]
fn imports_point_downwards() {
    Crate { directory: env!("CARGO_MANIFEST_DIR"), name: "language_server" }.assert_imports_point_downwards();
}
