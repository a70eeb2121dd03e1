//! The body of a request, which is charged to its connection until it was read.

use std::pin::Pin;
use std::task::{Context, Poll};

use dropshot::Body;
use hyper::body::{Body as HttpBody, Bytes, Frame, Incoming, SizeHint};

use super::connection::Charge;
use super::memory;
use crate::http::MAX_BODY_BYTES;

/// A body whose memory is charged.
pub(super) struct RequestBody {
    body: Incoming,
    _charge: Charge,
}

impl RequestBody {
    /// Charges a body, unless it is empty: what it may take of memory, before it arrives. A larger one is not kept.
    pub(super) fn charge(body: Incoming, charge: impl FnOnce(usize) -> Charge) -> Body {
        if body.is_end_stream() {
            return Body::empty();
        }
        let size = body.size_hint().upper().and_then(|size| usize::try_from(size).ok());
        let charge = charge(memory::READING + size.unwrap_or(MAX_BODY_BYTES).min(MAX_BODY_BYTES));
        Body::wrap(Self { body, _charge: charge })
    }
}

impl HttpBody for RequestBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
