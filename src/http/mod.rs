//! One request's way in, and its response's way out.
//!
//! [`router`] receives every request, finds the operation, authenticates the client and applies the rate limit.
//! [`operation`] reads the inputs ([`input`]) and runs the function. [`error`] turns an error into a response, and
//! [`access_log`] records it. [`openapi`] describes all operations with dropshot.

pub mod access_log;
pub mod authentication;
pub mod error;
pub mod error_code;
pub mod idempotency_key;
pub mod input;
pub mod malformed;
mod message;
mod negotiation;
pub mod openapi;
pub mod operation;
pub mod parameters;
mod published;
pub mod request;
pub mod router;

/// The path of the API's base URL, with which the `servers` of the document end.
pub const BASE_PATH: &str = "/v1";
/// The maximum size of a request body in bytes.
pub const MAX_BODY_BYTES: usize = 64 * 1024;
