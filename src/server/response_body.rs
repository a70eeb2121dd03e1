//! The body of a response, which keeps its request open until all of the response was sent.
//!
//! hyper takes a body when the client may receive its first byte, and then keeps it until the kernel has accepted the
//! last one.

use dropshot::Body;
use http::Response;
use http::header::HeaderValue;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;

use super::connection::OpenRequest;

/// Bytes that wait for the client.
struct Waiting {
    bytes: Bytes,
    _request: OpenRequest,
}

/// Ties a request to its response. The bodies of the service are complete: one piece.
pub(super) async fn tie(response: Response<Body>, mut request: OpenRequest) -> Response<Full<Bytes>> {
    let (mut head, mut body) = response.into_parts();
    let frame = body.frame().await.and_then(Result::ok);
    let bytes = frame.and_then(|frame| frame.into_data().ok()).unwrap_or_default();
    // Static bytes use no memory of their own.
    request.respond(if bytes.is_unique() { bytes.len() } else { 0 });
    if !bytes.is_empty() {
        return Response::from_parts(
            head,
            Full::new(Bytes::from_owner(Waiting { bytes, _request: request })),
        );
    }
    // hyper keeps a head until the kernel has room for it, so the request is in a header.
    if let Some(header) = head.headers.values_mut().next() {
        let bytes = Bytes::copy_from_slice(header.as_bytes());
        let waiting = Bytes::from_owner(Waiting { bytes, _request: request });
        // A valid value stays valid.
        if let Ok(mut value) = HeaderValue::from_maybe_shared(waiting) {
            // A sensitive value does not stay in the table of headers of HTTP/2 (RFC 7541, section 7.1.3).
            value.set_sensitive(true);
            *header = value;
        }
    }
    Response::from_parts(head, Full::default())
}

impl AsRef<[u8]> for Waiting {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}
