//! A language server for OpenAPI 3.0 documents (Language Server Protocol 3.17), over standard input and output.
//!
//! [`server`] receives messages and results. It answers requests itself, from the last text that could be read: the
//! change since that text translates its places to the text in the editor ([`text`]). A thread checks documents and reads
//! the code ([`check`]), and a [`Project`] supplies what this library does not know: a base, the code, and the command
//! that builds it.
//!
//! Each module imports only from modules below it in this list; `tests/language-server/main.rs` checks that.
//!
//! - `server`: the state of the server and its loop.
//! - `requests`: answers requests.
//! - `completion`: targets of references, and names that the document has.
//! - `navigation`: hover, definitions and references.
//! - `edits`: repairs of findings, and renames.
//! - `diagnostics`: findings as diagnostics.
//! - `drift`: the comparison of the saved document with the code.
//! - `documents`: the open documents and the project.
//! - `check`: the thread that checks documents and reads the code.
//! - `place`: the object, key and value at an offset.
//! - `tree`: a document together with its model.
//! - `text`: positions, and the change between two versions of a text.
//! - `project`: what a project can tell about its document.
//! - `uris`: URIs of files (RFC 8089).

#![expect(
    clippy::mutable_key_type,
    reason = "a `Uri` only caches its parts; its text, which is hashed, is constant"
)]

mod check;
mod completion;
mod diagnostics;
mod documents;
mod drift;
mod edits;
mod navigation;
mod place;
mod project;
mod requests;
mod server;
mod text;
mod tree;
mod uris;

use std::sync::Arc;

use lsp_server::Connection;

pub use project::{Locate, Project, Standalone};
pub use server::run;

/// Serves a client over standard input and output until it sends `exit` or the input ends. Returns the exit status.
pub fn serve(project: Arc<dyn Project>) -> u8 {
    let (connection, threads) = Connection::stdio();
    let status = run(connection, project);
    // A message that cannot be read has ended the session already.
    let _ = threads.join();
    status
}
