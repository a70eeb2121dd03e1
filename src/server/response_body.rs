//! The body of a response, which keeps its request open until the client has its last byte.
//!
//! hyper takes a body when the client may receive its first byte, and then keeps it until the kernel has accepted the
//! last one.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use dropshot::Body;
use http_body_util::BodyExt;
use hyper::body::{Body as HttpBody, Bytes, Frame, SizeHint};

use super::connection::OpenRequest;

/// The bytes of a response, until hyper takes them.
pub(super) struct ResponseBody(Option<Waiting>);

/// Bytes that wait for the client.
struct Waiting {
    bytes: Bytes,
    _request: OpenRequest,
}

impl ResponseBody {
    /// Takes the body of the response to a request. The bodies of the service are complete: one piece.
    pub(super) async fn new(mut body: Body, mut request: OpenRequest) -> Self {
        let frame = body.frame().await.and_then(Result::ok);
        let bytes = frame.and_then(|frame| frame.into_data().ok()).unwrap_or_default();
        if bytes.is_empty() {
            return Self(None);
        }
        // Static bytes use no memory of their own.
        request.respond(if bytes.is_unique() { bytes.len() } else { 0 });
        Self(Some(Waiting { bytes, _request: request }))
    }
}

impl HttpBody for ResponseBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.take().map(|waiting| Ok(Frame::data(Bytes::from_owner(waiting)))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.as_ref().map_or(0, |waiting| waiting.bytes.len() as u64))
    }
}

impl AsRef<[u8]> for Waiting {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}
