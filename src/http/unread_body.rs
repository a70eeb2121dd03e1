//! Request bodies that the response did not wait for.
//!
//! A request can be rejected while its body is still arriving. If the connection were closed then, the
//! client's kernel could discard the response before the client reads it. So the rest of the body is read and
//! discarded in the background, within a bound, before the connection closes.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use dropshot::Body;
use http_body_util::BodyExt;
use hyper::body::{Body as HttpBody, Bytes, Frame, SizeHint};
use tokio::runtime::Handle;
use tokio::time::timeout;

const MAX_BYTES: usize = 8 * 1024 * 1024;
const MAX_TIME: Duration = Duration::from_secs(2);

/// A body whose rest is drained when it is dropped.
pub(super) struct UnreadBody {
    body: Option<Body>,
    /// A client that waits for `100 Continue` sends no body until it is read, so it must not be drained.
    waits_for_continue: bool,
}

impl UnreadBody {
    /// Wraps `body`, unless it has no content.
    pub(super) fn guard(body: Body, expects_continue: bool) -> Body {
        if body.is_end_stream() {
            return body;
        }
        Body::wrap(Self { body: Some(body), waits_for_continue: expects_continue })
    }
}

impl HttpBody for UnreadBody {
    type Data = Bytes;
    type Error = <Body as HttpBody>::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.waits_for_continue = false;
        let Some(body) = &mut self.body else { return Poll::Ready(None) };
        let frame = ready!(Pin::new(body).poll_frame(context));
        if !matches!(frame, Some(Ok(_))) {
            self.body = None;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), HttpBody::size_hint)
    }
}

impl Drop for UnreadBody {
    fn drop(&mut self) {
        if self.is_end_stream() || self.waits_for_continue {
            return;
        }
        if let (Some(body), Ok(runtime)) = (self.body.take(), Handle::try_current()) {
            runtime.spawn(timeout(MAX_TIME, drain(body)));
        }
    }
}

async fn drain(mut body: Body) {
    let mut bytes = 0;
    while let Some(Ok(frame)) = body.frame().await {
        bytes += frame.data_ref().map_or(0, Bytes::len);
        if bytes > MAX_BYTES {
            return;
        }
    }
}
