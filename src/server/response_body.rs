//! The body of a response, which is counted until its client has taken it.

use std::sync::Arc;

use dropshot::Body;
use http::Response;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use tokio::sync::OwnedSemaphorePermit;

use super::activity::{Activity, Open};

/// A body up to this size needs no permit: it takes less memory than the state of its stream.
const SMALL_BYTES: usize = 1024;

/// Bytes that wait for the client. hyper keeps them until the kernel has accepted the last one.
struct Unsent {
    bytes: Bytes,
    _permit: Option<OwnedSemaphorePermit>,
    _open: Open,
}

impl AsRef<[u8]> for Unsent {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Keeps the permit of a request until its client has taken the response. The bodies of the service are complete: one
/// piece.
pub(super) async fn unsent(
    response: Response<Body>,
    permit: Option<OwnedSemaphorePermit>,
    activity: &Arc<Activity>,
) -> Response<Full<Bytes>> {
    let (head, mut body) = response.into_parts();
    let frame = body.frame().await.and_then(Result::ok);
    let bytes = frame.and_then(|frame| frame.into_data().ok()).unwrap_or_default();
    if bytes.is_empty() {
        return Response::from_parts(head, Full::default());
    }
    // Static bytes use no memory of their own.
    let permit = permit.filter(|_| bytes.len() > SMALL_BYTES && bytes.is_unique());
    let unsent = Unsent { bytes, _permit: permit, _open: activity.response() };
    Response::from_parts(head, Full::new(Bytes::from_owner(unsent)))
}
