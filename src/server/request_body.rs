//! The body of a request, which is charged to its connection until it was read.
//!
//! A request can be rejected while its body is still arriving. If the connection were closed then, the client's kernel
//! could discard the response before the client reads it. So the rest of the body is read and discarded in the
//! background, within a bound, before the connection closes.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use dropshot::Body;
use http::Request;
use http::header::EXPECT;
use http_body_util::BodyExt;
use hyper::body::{Body as HttpBody, Bytes, Frame, Incoming, SizeHint};
use tokio::runtime::Handle;
use tokio::time::timeout;

use super::connection::Charge;
use super::memory;
use crate::http::MAX_BODY_BYTES;

/// The limits of what is read and discarded.
const MAX_UNREAD_BYTES: usize = 8 * 1024 * 1024;
const MAX_TIME: Duration = Duration::from_secs(2);

/// A body whose memory is charged, and whose rest is discarded when it is dropped.
pub(super) struct RequestBody {
    /// `None` after its end.
    rest: Option<(Incoming, Charge)>,
    /// A client that waits for `100 Continue` sends no body until it is read.
    waits_for_continue: bool,
}

impl RequestBody {
    /// Charges the body of a request, unless it is empty: what it may take of memory, before it arrives. A larger one is
    /// not kept.
    pub(super) fn charge(request: Request<Incoming>, charge: impl FnOnce(usize) -> Charge) -> Request<Body> {
        if request.body().is_end_stream() {
            return request.map(|_| Body::empty());
        }
        let waits_for_continue = request.headers().contains_key(EXPECT);
        let size = request.body().size_hint().upper().and_then(|size| usize::try_from(size).ok());
        let charge = charge(memory::READING + size.unwrap_or(MAX_BODY_BYTES).min(MAX_BODY_BYTES));
        request.map(|body| Body::wrap(Self { rest: Some((body, charge)), waits_for_continue }))
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
        let Some((body, _)) = &mut self.rest else { return Poll::Ready(None) };
        let frame = ready!(Pin::new(body).poll_frame(context));
        if !matches!(frame, Some(Ok(_))) {
            self.rest = None;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.rest.as_ref().is_none_or(|(body, _)| body.is_end_stream())
    }

    fn size_hint(&self) -> SizeHint {
        self.rest.as_ref().map_or_else(|| SizeHint::with_exact(0), |(body, _)| body.size_hint())
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

async fn discard((mut body, _charge): (Incoming, Charge)) {
    let mut bytes = 0;
    while let Some(Ok(frame)) = body.frame().await {
        bytes += frame.data_ref().map_or(0, Bytes::len);
        if bytes > MAX_UNREAD_BYTES {
            return;
        }
    }
}
