//! Checks OpenAPI 3.0 documents: one document, two versions, or a document and its code.
//!
//! Each module imports only from modules below it in this list; `tests/checks/main.rs` checks that.
//!
//! - [`report`]: findings as text, JSON, SARIF, Markdown and GitHub annotations.
//! - [`explanation`]: what a rule demands, why, and an example.
//! - [`outcome`]: the result of a comparison: the changes, the version, the waivers, and the exit status.
//! - [`config`]: `contract.toml`: the rules that apply, and the accepted findings.
//! - [`baseline`]: findings that are accepted because they are older than the check.
//! - [`registry`]: all rules, by name.
//! - [`drift`]: compares a document with the document of the code.
//! - [`breaking`]: compares two versions of a document.
//! - [`understood`]: the parts of a document that a comparison cannot use.
//! - [`lint`]: checks one document.
//! - `exception`: the findings and changes that the configuration or a document accepts.
//! - `subschema`: decides whether every value of one schema is a value of another.
//! - `pattern`: the syntax of patterns, and whether a text matches one.
//! - [`revision`]: reads files, also those in a revision of git.
//! - [`rule`]: the requirement that a finding violates, and the collection of findings.
//! - [`finding`]: a problem that a check reports.

pub mod baseline;
pub mod breaking;
pub mod config;
pub mod drift;
mod exception;
pub mod explanation;
pub mod finding;
pub mod lint;
pub mod outcome;
mod pattern;
pub mod registry;
pub mod report;
pub mod revision;
pub mod rule;
mod subschema;
pub mod understood;
