//! A catalogue of animals over HTTP, whose hand-written OpenAPI document is the source of truth.
//!
//! # Layers
//!
//! Each module imports only from modules below it in this list, and no files import each other in a cycle.
//! `tests/layers` checks both.
//!
//! - `cli`: the program and its command line.
//! - [`server`]: start, shutdown, listeners, TLS, the operators' listener.
//! - [`operations`]: one file for each `operationId`.
//! - [`http`]: routing, inputs, error responses, access log.
//! - [`config`]: the settings of an operator. No HTTP from here on.
//! - [`service`]: what operations can reach, and the rate limit of each API key.
//! - [`cursor`]: the signed cursors of pages.
//! - [`keys`]: the API keys.
//! - [`telemetry`]: metrics and logging.
//! - [`storage`]: the promises of a store; SQLite and PostgreSQL.
//! - [`schemas`]: the types of `components/schemas` and their limits.

/// The version of the program. The API has one of its own, [`Document::version`].
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

pub mod config;
pub mod cursor;
pub mod http;
pub mod keys;
pub mod operations;
pub mod schemas;
pub mod server;
pub mod service;
pub mod storage;
pub mod telemetry;

/// The OpenAPI document that this program serves.
#[derive(Clone, Copy, Debug)]
pub struct Document {
    /// `info.version`: the version of the API.
    pub version: &'static str,
    /// The operations with dates of deprecation.
    pub deprecations: &'static [Deprecation],
    /// The document, its releases and the pages of the documentation.
    pub files: &'static [DocumentFile],
}

/// A file that the service publishes.
#[derive(Clone, Copy, Debug)]
pub struct DocumentFile {
    /// The path, such as `openapi.yaml`, `docs/1.0.0.html` or `index.html`.
    pub path: &'static str,
    /// The content.
    pub content: &'static [u8],
    /// The content compressed by gzip, unless that is hardly smaller.
    pub gzip: Option<&'static [u8]>,
    /// Whether another content would have another path.
    pub is_immutable: bool,
}

/// The deprecation of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deprecation {
    /// The `operationId`.
    pub operation_id: &'static str,
    /// `x-deprecated-since` in seconds since the Unix epoch.
    pub since: i64,
    /// `x-sunset` as an HTTP date (RFC 9110, section 5.6.7).
    pub sunset: &'static str,
    /// `x-successor`: the path of the operation to use instead.
    pub successor: &'static str,
}

/// The document in `openapi/animal-store.yaml`, or why it cannot be used. An invalid document does not fail
/// the build, so that `cargo xtask check` can run and explain what is wrong.
#[cfg(feature = "document")]
pub const DOCUMENT: Result<Document, &str> = include!(concat!(env!("OUT_DIR"), "/document.rs"));

/// Returns the OpenAPI document of the code, which describes what this program serves, as JSON.
///
/// # Errors
/// One line, if an operation cannot be described.
pub fn openapi() -> Result<String, String> {
    Ok(format!("{:#}\n", http::describe(operations::all())?))
}
