//! A fixture that is parsed and never compiled: findings about the frozen documents refer to its lines.

pub const SCHEME_NAME: &str = "apiKey";
pub const SCHEME_TYPE: &str = "http";
pub const SCHEME: &str = "bearer";
