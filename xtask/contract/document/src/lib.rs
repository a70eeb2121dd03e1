//! An OpenAPI 3.0 document: its text, its tree with positions, typed views, and edits of the text.
//!
//! Each module imports only from modules below it in this list; `tests/document/main.rs` checks that.
//!
//! - [`release`]: what changed in a release, as data.
//! - [`edits`]: the edits of a text that make a repair.
//! - [`openapi`]: the structure of OpenAPI 3.0.3, and typed views over the tree.
//! - [`rule`]: the requirement that a finding violates, and the collection of findings.
//! - [`finding`]: a problem that a check reports.
//! - [`repair`]: a change of a document that fixes a finding, as data.
//! - `text`: text to a tree with positions, JSON pointers (RFC 6901). Its items are those of the crate.

pub mod edits;
pub mod finding;
pub mod openapi;
pub mod release;
pub mod repair;
pub mod rule;
mod text;

pub use text::{
    Document, Entry, MAX_DEPTH, MAX_NODES, Mapping, Node, Number, Problem, Span, Unreadable, Value, decode,
    pointer, read, shortened, type_of,
};
