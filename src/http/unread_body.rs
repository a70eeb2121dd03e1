//! Request bodies that an answer did not wait for.
//!
//! When a request is refused early, its body may still be on the way. If the connection were closed on
//! it, the client's kernel could throw the answer away before the client has read it. So what is left is
//! read and dropped in the background, within a bound; then the connection goes.

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

/// A body whose unread rest is drained when it is dropped.
pub(crate) struct Leftover {
    body: Option<Body>,
    /// A client that waits for `100 Continue` sends nothing unless asked, and reading would ask it to.
    waits_for_continue: bool,
}

impl Leftover {
    /// Guards `body`, unless it has ended already.
    pub(crate) fn guard(body: Body, expects_continue: bool) -> Body {
        if body.is_end_stream() {
            return body;
        }
        Body::wrap(Self { body: Some(body), waits_for_continue: expects_continue })
    }
}

impl HttpBody for Leftover {
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

impl Drop for Leftover {
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
