//! Never compiled: what findings about the frozen documents point into.

/// The security scheme's name in the document (OpenAPI 3.0.3, Security Scheme Object).
pub const SCHEME_NAME: &str = "apiKey";
/// Its type.
pub const SCHEME_TYPE: &str = "http";
/// Its HTTP authentication scheme (RFC 6750), compared without case.
pub const SCHEME: &str = "bearer";
