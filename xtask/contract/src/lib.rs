//! Reads, checks and compares OpenAPI 3.0 documents.
//!
//! Modules, the lowest layer first. A module uses only modules above it in this list:
//!
//! - [`document`]: text to a tree with positions, JSON pointers (RFC 6901).
//! - [`repair`]: a change of a document that fixes a finding, as data.
//! - [`markdown`]: escapes text of a document for Markdown.
//! - [`finding`] and [`rule`]: a problem that a check reports, and the rule that produces it.
//! - [`openapi`]: the structure of OpenAPI 3.0.3, and typed views over the tree.
//! - [`edits`]: the edits of a text that make a repair.
//! - [`release`]: what changed in a release, as data.
//! - `subschema`: decides whether every value of one schema is a value of another.
//! - [`lint`], [`breaking`] and [`drift`]: check one document, two versions of a document, a document and the code.
//! - [`registry`]: all rules, by name.
//! - [`config`]: `contract.toml`: the rules that apply, and the accepted findings.
//! - [`report`]: findings as text, JSON, SARIF, Markdown and GitHub annotations.
//! - [`lsp`]: the language server.
//! - [`command`]: the subcommands of the program `contract`.

pub mod document;
pub mod release;

#[cfg(feature = "tools")]
pub mod breaking;
#[cfg(feature = "tools")]
pub mod command;
#[cfg(feature = "tools")]
pub mod config;
#[cfg(feature = "tools")]
pub mod drift;
#[cfg(feature = "tools")]
pub mod edits;
#[cfg(feature = "tools")]
pub mod finding;
#[cfg(feature = "tools")]
pub mod lint;
#[cfg(feature = "tools")]
pub mod lsp;
#[cfg(feature = "tools")]
pub mod markdown;
#[cfg(feature = "tools")]
pub mod openapi;
#[cfg(feature = "tools")]
pub mod registry;
#[cfg(feature = "tools")]
pub mod repair;
#[cfg(feature = "tools")]
pub mod report;
#[cfg(feature = "tools")]
pub mod rule;
#[cfg(feature = "tools")]
mod subschema;
