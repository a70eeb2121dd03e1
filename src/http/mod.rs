//! HTTP: routing, inputs, error responses, access log. What the files of operations use is named here.
//!
//! [`Router`] receives every request, finds the operation, authenticates the client and applies the rate limit. An
//! [`Operation`] reads its [`Input`]s and runs the function. An [`ApiError`] becomes a response, and the access log records
//! it. [`describe`] writes the OpenAPI document of the operations.

mod access_log;
mod checks;
mod description;
mod error;
mod input;
mod operation;
mod parse;
mod published;
mod router;

pub use checks::{AuthenticatedRequest, check_head, host};
pub use description::describe;
pub use error::{ApiError, ErrorCode};
pub use input::{Input, Json, MAX_BODY_BYTES, Path, Query, idempotency_key};
pub use operation::{BASE_PATH, Operation};
pub use parse::parameters;
pub use router::Router;
