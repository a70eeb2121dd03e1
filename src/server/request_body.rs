//! The body of a request, which is charged to its connection until it was read.

use dropshot::Body;
use http_body_util::BodyExt;
use hyper::body::{Body as _, Incoming};

use super::connection::Charge;
use super::memory;
use crate::http::MAX_BODY_BYTES;

/// Charges a body, unless it is empty: what it may take of memory, before it arrives. A larger one is not kept.
pub(super) fn charged(body: Incoming, charge: impl FnOnce(usize) -> Charge) -> Body {
    if body.is_end_stream() {
        return Body::empty();
    }
    let size = body.size_hint().upper().and_then(|size| usize::try_from(size).ok());
    let charge = charge(memory::READING + size.unwrap_or(MAX_BODY_BYTES).min(MAX_BODY_BYTES));
    // The body drops this closure, and with it the charge.
    Body::wrap(body.map_err(move |error| {
        let _ = &charge;
        error
    }))
}
