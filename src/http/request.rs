//! What an operation knows about its request.

use std::sync::Arc;

use http::Request;
use tokio::time::Instant;

use crate::keys::KeyId;
use crate::service::Service;

/// A request with a valid API key. Only the [router](super::router) makes one, after authentication.
pub struct AuthenticatedRequest {
    /// What operations share.
    pub service: Arc<Service>,
    /// The API key of the client.
    pub client: KeyId,
    pub(super) head: Arc<Request<()>>,
    /// The path template of the operation.
    pub(super) template: &'static str,
    /// When the response is due.
    pub(super) deadline: Instant,
}
