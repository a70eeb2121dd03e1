//! The body of a request, whose rest is discarded when it is dropped.
//!
//! A request can be rejected while its body is still arriving. If the connection were closed then, the client's kernel
//! could discard the response before the client reads it. So the rest of the body is read and discarded in the
//! background, within a bound, before the connection closes.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use dropshot::Body;
use http::Request;
use http::header::EXPECT;
use http_body_util::BodyExt;
use hyper::body::{Body as HttpBody, Bytes, Frame, Incoming, SizeHint};
use tokio::runtime::Handle;
use tokio::time::timeout;

/// The limits of what is read and discarded.
const MAX_UNREAD_BYTES: usize = 8 * 1024 * 1024;
const MAX_TIME: Duration = Duration::from_secs(2);

/// A body whose rest is discarded when it is dropped.
pub(super) struct RequestBody {
    /// `None` after its end.
    rest: Option<Incoming>,
    /// A client that waits for `100 Continue` sends no body until it is read.
    waits_for_continue: bool,
    has_trailers: bool,
    is_last: Arc<AtomicBool>,
}

impl RequestBody {
    /// Wraps the body of a request. Also returns whether no other request may follow on a connection over HTTP/1.1: hyper
    /// ends trailers only at CRLF, and would take a request after trailers that end with LF for more of them. Only a
    /// chunked body can have trailers.
    pub(super) fn wrap(request: Request<Incoming>) -> (Request<Body>, impl Fn() -> bool) {
        let is_chunked = request.body().size_hint().exact().is_none();
        let is_last = Arc::new(AtomicBool::new(is_chunked));
        let waits_for_continue = request.headers().contains_key(EXPECT);
        let request = request.map(|body| match body.is_end_stream() {
            true => Body::empty(),
            false => Body::wrap(Self {
                rest: Some(body),
                waits_for_continue,
                has_trailers: false,
                is_last: is_last.clone(),
            }),
        });
        (request, move || is_last.load(Relaxed))
    }
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
        match &frame {
            Some(Ok(frame)) => self.has_trailers |= frame.is_trailers(),
            Some(Err(_)) => self.rest = None,
            None => {
                self.rest = None;
                self.is_last.store(self.has_trailers, Relaxed);
            }
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
