//! The commands of the people who work on the document and the service.
//!
//! `cargo xtask check` is a short pipeline: read the document, ask the code for its side ([`served`]), compare
//! both ([`contract::drift`]), look up each finding in the [`source`], and [`report`] it.

pub mod bench;
pub mod breaking_command;
pub mod check;
pub mod ci;
pub mod dropshot;
pub mod faults;
pub mod licences;
pub mod lint_command;
pub mod outside;
mod process;
pub mod release;
pub mod scaffold;
pub mod serve;
pub mod watch;

pub use contract::{breaking, finding, lint, report};
pub use dropshot::{served, source};
/// The document as it is written.
pub mod written {
    pub use contract::document::{BadReference, Document, Place, Unreadable};
}
