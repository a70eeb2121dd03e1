//! What an operation knows about its request.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use dropshot::{RequestContextArgument, ServerContext};
use futures::poll;
use http::Request;
use slog::{Logger, o};
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;

use crate::keys::KeyId;

/// An authenticated request. Its members have the names that they have in dropshot's `RequestContext`.
///
/// Only the [router](super::router) makes one, from the [`KeyId`] that authentication returns: no operation runs without
/// an API key. An operation that must be public one day has another type of context, without `client`.
///
/// ```compile_fail
/// # use animal_store::http::request_context::{RequestContext, RequestEndpointMetadata};
/// # use animal_store::keys::KeyId;
/// # use std::sync::Arc;
/// # fn forged(endpoint: Arc<RequestEndpointMetadata>, request: Arc<http::Request<()>>, client: KeyId) {
/// let context = RequestContext { endpoint, request_id: uuid::Uuid::nil(), request, client, server: Arc::new(()) };
/// # }
/// ```
pub struct RequestContext<C> {
    /// The operation.
    pub endpoint: Arc<RequestEndpointMetadata>,
    /// Identifies the request in the log and in `x-request-id`.
    pub request_id: Uuid,
    /// The head of the request.
    pub request: Arc<Request<()>>,
    /// The API key of the client.
    pub client: KeyId,
    pub(super) server: Arc<C>,
    /// When the response is due.
    pub(super) deadline: Instant,
}

/// The operation of a request.
pub struct RequestEndpointMetadata {
    /// The identifier in the document.
    pub operation_id: String,
    /// The path template, base path included.
    pub(super) route: String,
    pub(super) log: Logger,
}

impl<C> RequestContext<C> {
    /// Returns what operations share.
    pub fn context(&self) -> &C {
        &self.server
    }

    /// Returns a logger whose records have the identifier of the request.
    pub fn log(&self) -> Logger {
        self.endpoint.log.new(o!("http.response.header.x-request-id" => self.request_id.to_string()))
    }
}

impl<C: ServerContext> RequestContextArgument for RequestContext<C> {
    type Context = C;
}

/// Returns the output of `future`, or `None` at `deadline`. It makes no timer for a future that is ready at once, as
/// authentication and inputs mostly are.
pub(super) async fn by<F: Future>(deadline: Instant, mut future: Pin<&mut F>) -> Option<F::Output> {
    match poll!(&mut future) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => timeout_at(deadline, future).await.ok(),
    }
}
