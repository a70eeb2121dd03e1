//! The OpenAPI document as constants, which `build.rs` prepares. Nothing parses YAML at run time.

/// The OpenAPI document that this program serves.
#[derive(Clone, Copy, Debug)]
pub struct Document {
    /// `info.version`: the version of the API.
    pub version: &'static str,
    /// The operations with dates of deprecation.
    pub deprecations: &'static [Deprecation],
    /// The document, its releases and the pages of the documentation.
    pub files: &'static [File],
}

/// A file that the service publishes.
#[derive(Clone, Copy, Debug)]
pub struct File {
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
