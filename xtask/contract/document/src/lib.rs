//! An OpenAPI 3.0 document: its text, its tree with positions, typed views, and edits of the text.
//!
//! Each module imports only from modules below it in this list; `tests/document/main.rs` checks that.
//!
//! - [`edits`]: the edits of a text that make a repair.
//! - [`openapi`]: the structure of OpenAPI 3.0.3, what violates it, and typed views over the tree.
//! - [`repair`]: a change of a document that fixes a problem, as data.
//! - [`place`]: the object of a place, and a place in a document.
//! - [`names`]: which name a misspelt one means.
//! - `text`: text to a tree with positions, JSON pointers (RFC 6901). Its items are those of the crate.

pub mod edits;
pub mod names;
pub mod openapi;
pub mod place;
pub mod repair;
mod text;

pub use text::{
    Document, Entry, MAX_DEPTH, MAX_NODES, Mapping, Node, Number, Problem, Span, Unreadable, Value, decode,
    pointer, read, shortened, type_of,
};
