//! The bodies of a request and of its response.
//!
//! A request can be rejected while its body is still arriving. If the connection were closed then, the client's kernel
//! could discard the response before the client reads it. So the rest of the body is read and discarded in the
//! background, within a bound, before the connection closes.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use dropshot::Body;
use http::header::EXPECT;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body as HttpBody, Bytes, Frame, Incoming, SizeHint};
use tokio::runtime::Handle;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

use super::activity::Activity;

/// The limits of what is read and discarded.
const MAX_UNREAD_BYTES: usize = 8 * 1024 * 1024;
const MAX_TIME: Duration = Duration::from_secs(2);
/// A response up to this size needs no permit: it takes less memory than the state of its stream.
const SMALL_BYTES: usize = 1024;

/// The body of a request, whose rest is discarded when it is dropped.
struct RequestBody {
    /// `None` after its end.
    rest: Option<Incoming>,
    /// A client that waits for `100 Continue` sends no body until it is read.
    waits_for_continue: bool,
}

/// Makes hyper's body of a request one whose rest is discarded when it is dropped.
pub(super) fn incoming(request: Request<Incoming>) -> Request<Body> {
    let waits_for_continue = request.headers().contains_key(EXPECT);
    request.map(|body| match body.is_end_stream() {
        true => Body::empty(),
        false => Body::wrap(RequestBody { rest: Some(body), waits_for_continue }),
    })
}

impl HttpBody for RequestBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        self.waits_for_continue = false;
        let Some(body) = &mut self.rest else { return Poll::Ready(None) };
        let frame = ready!(Pin::new(body).poll_frame(context));
        if !matches!(frame, Some(Ok(_))) {
            self.rest = None;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.rest.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.rest.as_ref().map_or_else(|| SizeHint::with_exact(0), HttpBody::size_hint)
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        if self.is_end_stream() || self.waits_for_continue {
            return;
        }
        if let (Some(rest), Ok(runtime)) = (self.rest.take(), Handle::try_current()) {
            runtime.spawn(timeout(MAX_TIME, discard(rest)));
        }
    }
}

async fn discard(mut body: Incoming) {
    let mut bytes = 0;
    while let Some(Ok(frame)) = body.frame().await {
        bytes += frame.data_ref().map_or(0, Bytes::len);
        if bytes > MAX_UNREAD_BYTES {
            return;
        }
    }
}

/// Bytes that wait for the client. hyper keeps them until the kernel or TLS has accepted the last one.
struct Unsent {
    bytes: Bytes,
    _permit: Option<OwnedSemaphorePermit>,
    _waits: Arc<()>,
}

impl AsRef<[u8]> for Unsent {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Keeps the permit of a request until its client has taken the response. The bodies of the service are complete: one
/// piece.
pub(super) async fn outgoing(
    response: Response<Body>,
    permit: Option<OwnedSemaphorePermit>,
    activity: &Activity,
) -> Response<Full<Bytes>> {
    let (head, mut body) = response.into_parts();
    let frame = body.frame().await.and_then(Result::ok);
    let bytes = frame.and_then(|frame| frame.into_data().ok()).unwrap_or_default();
    if bytes.is_empty() {
        return Response::from_parts(head, Full::default());
    }
    // Static bytes use no memory of their own.
    let permit = permit.filter(|_| bytes.len() > SMALL_BYTES && bytes.is_unique());
    let unsent = Unsent { bytes, _permit: permit, _waits: activity.response() };
    Response::from_parts(head, Full::new(Bytes::from_owner(unsent)))
}
