//! One request's way in, and its response's way out.
//!
//! [`router`] receives every request, finds the operation, authenticates the client and applies the rate limit.
//! [`endpoint`] reads the inputs ([`extractor`]) and runs the operation, which is written with [`dropshot`]'s types.
//! [`error`] turns an error into a response, and [`access_log`] records it.

pub mod access_log;
pub mod authentication;
pub mod dropshot;
pub mod endpoint;
pub mod error;
pub mod error_code;
pub mod extractor;
pub mod idempotency_key;
mod input_error;
mod json;
pub mod malformed;
mod negotiation;
pub mod parameters;
mod published;
pub mod request_context;
pub mod router;

/// The path of the API's base URL, with which the `servers` of the document end.
pub const BASE_PATH: &str = "/v1";
/// The maximum size of a request body in bytes.
pub const MAX_BODY_BYTES: usize = 64 * 1024;
