//! A language server for OpenAPI 3.0 documents (Language Server Protocol 3.17), over standard input and output.
//!
//! [`server`] receives messages and results. One thread reads and checks the newest text ([`analysis`]), another
//! answers requests ([`answer`]) from the latest tree that could be read, so that no answer waits for a check. The
//! edits since that tree translate its places to the text in the editor ([`edits`]).
//!
//! A [`Project`] supplies what this library does not know: releases, the code, and the commands that build it.
//!
//! Each module imports only from modules below it in this list; `tests/layers.rs` checks that.
//!
//! - `notifications`: documents that are opened, changed, saved and closed.
//! - `builds`: the sources of the project, and the comparison of the document with the built service.
//! - `server`: the state of the server and its loop.
//! - `capabilities`: what the client and the server can do.
//! - `answer`: answers requests, on a thread of its own.
//! - `completion`: keywords, values, targets of references, status codes and media types.
//! - `hover`: what an object or rule is, and where it is implemented.
//! - `definition`: from the document along references and to the code, and back.
//! - `actions`: the repairs of findings, and the command that adds an operation to the code.
//! - `rename`: renames a component with everything that refers to it.
//! - `references`: the places that refer to an object.
//! - `symbols`: paths with their operations, components with their properties.
//! - `analysis`: reads and checks the newest text of a document.
//! - `drift`: reads what the comparison of a document with the code printed.
//! - `diagnostics`: findings as diagnostics.
//! - `world`: the documents as they were when a request arrived.
//! - `documents`: the documents that the server knows.
//! - `place`: the object, key and value at an offset.
//! - `releases`: the base of the comparison, and the release that introduced an object.
//! - `tree`: a document together with its model.
//! - `context`: what is being written at an offset of a text that may not be valid.
//! - `text`: offsets in bytes, lines and columns.
//! - `edits`: the edits between two versions of a text.
//! - `background`: runs a command in the background.
//! - `progress`: work that takes long, as the client shows it.
//! - `project`: what a project can tell about its document.
//! - `uris`: URIs of files (RFC 8089).

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
mod notifications;
mod place;
mod progress;
mod project;
mod references;
mod releases;
mod rename;
mod server;
mod symbols;
mod text;
mod tree;
mod uris;
mod world;

use std::sync::Arc;

use lsp_server::Connection;

pub use project::{Implementation, Project, Standalone};
pub use server::run;

/// Serves a client over standard input and output until it sends `exit` or the input ends. Returns the exit status.
pub fn serve(project: Arc<dyn Project>) -> u8 {
    let (connection, threads) = Connection::stdio();
    let status = run(connection, project);
    // A message that cannot be read has ended the session already.
    let _ = threads.join();
    status
}
