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

const LIBRARY: &str = include_str!("../../../checks/tests/documents/library.yaml");
