//! One request's way in, and its response's way out.
//!
//! [`router`] receives every request and finds the operation. [`call`] authenticates the client, applies the
//! rate limit, reads the inputs and runs the operation. [`error`] turns an error into a response, and
//! [`access_log`] records it.

pub mod access_log;
pub mod authentication;
pub mod call;
pub mod client_address;
mod contexts;
pub mod error;
pub mod error_code;
pub mod idempotency_key;
mod input_error;
mod malformed;
pub mod path_template;
mod published;
pub mod response;
pub mod router;
mod unread_body;

/// The path of the API's base URL, with which the `servers` of the document end.
pub const BASE_PATH: &str = "/v1";
/// The maximum size of a request body in bytes.
pub const MAX_BODY_BYTES: usize = 64 * 1024;
