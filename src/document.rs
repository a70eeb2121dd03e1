//! The OpenAPI document as constants, which `build.rs` prepares. Nothing parses YAML at run time.

/// The OpenAPI document that this program serves.
#[derive(Clone, Copy, Debug)]
pub struct Document {
    /// The file, byte for byte.
    pub yaml: &'static str,
    /// The same document in JSON, in the order of the file.
    pub json: &'static str,
    /// `info.version`: the version of the API.
    pub version: &'static str,
    /// The operations with dates of deprecation.
    pub deprecations: &'static [Deprecation],
    /// The released documents with their changes and checksums: file names such as `1.0.0.yaml`, and contents.
    pub released: &'static [(&'static str, &'static str)],
    /// The pages of the documentation: paths such as `docs/1.0.0.html` or `index.html`, and contents.
    pub pages: &'static [(&'static str, &'static str)],
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
