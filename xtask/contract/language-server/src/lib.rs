//! A language server for OpenAPI 3.0 documents (Language Server Protocol 3.17), over standard input and output.
//!
//! [`server`] receives messages and results. It answers requests itself, from the last text that could be read: the
//! change since that text translates its places to the text in the editor ([`edits`]). A thread checks documents and reads
//! the code ([`check`]), and a [`Project`] supplies what this library does not know: a base, the code, and the command
//! that builds it.
//!
//! Each module imports only from modules below it in this list; `tests/language-server/main.rs` checks that.
//!
//! - `notifications`: documents that are opened, changed, saved and closed.
//! - `drift`: the comparison of the saved document with the code.
//! - `server`: the state of the server and its loop.
//! - `requests`: answers requests.
//! - `completion`: targets of references, and names that the document has.
//! - `hover`: an object as it is written, and where it is implemented.
//! - `definition`: from the document along references and to the code.
//! - `actions`: the repairs of findings.
//! - `rename`: renames a component with everything that refers to it.
//! - `references`: the places that refer to an object.
//! - `diagnostics`: findings as diagnostics.
//! - `world`: the open documents and the project.
//! - `documents`: a document that is open in the editor.
//! - `check`: the thread that checks documents and reads the code.
//! - `place`: the object, key and value at an offset.
//! - `base`: the base of the comparison.
//! - `tree`: a document together with its model.
//! - `text`: offsets in bytes, lines and columns.
//! - `edits`: the change between two versions of a text.
//! - `background`: runs a command in the background.
//! - `progress`: work that takes long, as the client shows it.
//! - `project`: what a project can tell about its document.
//! - `uris`: URIs of files (RFC 8089).

#![expect(
    clippy::mutable_key_type,
    reason = "a `Uri` only caches its parts; its text, which is hashed, is constant"
)]

mod actions;
mod background;
mod base;
mod check;
mod completion;
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
mod rename;
mod requests;
mod server;
mod text;
mod tree;
mod uris;
mod world;

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
