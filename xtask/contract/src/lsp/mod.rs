//! A language server for OpenAPI 3.0 documents (Language Server Protocol 3.17), over standard input and output.
//!
//! [`server`] receives messages and results. One thread reads and checks the newest text ([`analysis`]), another
//! answers requests ([`answer`]) from the latest tree that could be read, so that no answer waits for a check. The
//! edits since that tree translate its places to the text in the editor ([`edits`]).
//!
//! A [`Project`] supplies what this library does not know: releases, the code, and the commands that build it.

#![expect(
    clippy::mutable_key_type,
    reason = "a `Uri` only caches its parts; its text, which is hashed, is constant"
)]

mod actions;
mod analysis;
mod answer;
mod background;
mod builds;
mod capabilities;
mod completion;
mod context;
mod definition;
mod diagnostics;
mod documents;
mod drift;
mod edits;
mod hover;
mod names;
mod notifications;
mod place;
mod project;
mod references;
mod releases;
mod rename;
mod server;
mod symbols;
mod text;
mod transport;
mod tree;
mod uris;
mod world;

use std::sync::Arc;

pub use project::{Implementation, Project, Standalone};
pub use server::run;

/// Serves a client over standard input and output until it sends `exit` or the input ends. Returns the exit status.
pub fn serve(project: Arc<dyn Project>) -> u8 {
    let (connection, writer) = transport::stdio();
    let status = run(connection, project);
    // The writer ends when it has written all messages. It cannot panic.
    let _ = writer.join();
    status
}
