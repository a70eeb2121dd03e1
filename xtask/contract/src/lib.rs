//! Reads, checks and compares OpenAPI 3.0 documents.
//!
//! From the bottom up; a module uses only modules above it in this list:
//!
//! - [`document`]: text to a tree with positions, JSON pointers (RFC 6901).
//! - [`finding`] and [`rule`]: what a check reports, and the rule that produces it.
//! - [`openapi`]: the structure of OpenAPI 3.0.3, and typed views over the tree.
//! - [`lint`], [`breaking`] and [`drift`]: one document, two versions of a document, a document and the code.
//! - [`registry`]: the rules of all of them, with their examples.
//! - [`report`]: findings as text, JSON and GitHub annotations.

pub mod document;

#[cfg(feature = "tools")]
pub mod breaking;
#[cfg(feature = "tools")]
pub mod drift;
#[cfg(feature = "tools")]
pub mod finding;
#[cfg(feature = "tools")]
pub mod lint;
#[cfg(feature = "tools")]
pub mod openapi;
#[cfg(feature = "tools")]
pub mod registry;
#[cfg(feature = "tools")]
pub mod report;
#[cfg(feature = "tools")]
pub mod rule;
