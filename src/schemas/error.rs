//! `Error`, the body of every error response.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;

/// An error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, JsonSchema)]
#[error("{status} {code}: {message}")]
pub struct Error {
    /// The error code, for programs.
    pub code: Cow<'static, str>,
    /// What to change, for people.
    pub message: Cow<'static, str>,
    /// The HTTP status code.
    #[schemars(range(min = 400, max = 599))]
    pub status: u16,
}
