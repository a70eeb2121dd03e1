//! The body of a response, whose bytes count as unread until they were sent.
//!
//! hyper takes a body when the client may receive its first byte, and then keeps it until the client has
//! received the last one. So the bytes are counted from the response on until their memory is freed.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use dropshot::Body;
use hyper::body::{Body as HttpBody, Bytes, Frame, SizeHint};

use super::connection::Connection;

/// A body whose bytes are counted.
pub(super) struct ResponseBody {
    body: Body,
    /// Until the bytes are taken.
    unread: Option<Unread>,
}

/// Counts bytes of a connection as unread until this is dropped.
struct Unread {
    bytes: usize,
    connection: Arc<Connection>,
}

impl ResponseBody {
    pub(super) fn new(body: Body, connection: &Arc<Connection>) -> Self {
        // The bodies of the service are complete: one piece of known size.
        let bytes = body.size_hint().exact().and_then(|size| usize::try_from(size).ok()).unwrap_or_default();
        let unread = (bytes > 0).then(|| {
            connection.add_unread(bytes);
            Unread { bytes, connection: connection.clone() }
        });
        Self { body, unread }
    }
}

impl HttpBody for ResponseBody {
    type Data = Bytes;
    type Error = <Body as HttpBody>::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        let unread = &mut self.unread;
        frame.map_ok(|frame| {
            frame.map_data(|data| match unread.take() {
                Some(unread) => Bytes::from_owner(Sent { data, _unread: unread }),
                None => data,
            })
        })
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Unread {
    fn drop(&mut self) {
        self.connection.remove_unread(self.bytes);
    }
}

/// The bytes of a response, in the buffers of hyper.
struct Sent {
    data: Bytes,
    _unread: Unread,
}

impl AsRef<[u8]> for Sent {
    fn as_ref(&self) -> &[u8] {
        &self.data
    }
}
