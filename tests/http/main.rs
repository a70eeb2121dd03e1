//! The service over HTTP: a really running server, a private database, and nothing mocked.
//!
//! The tree mirrors the URL tree; what concerns every path stands beside `v1`. Each test starts its own
//! service, so no test sees another's animals. `service.rs` is the harness; `../recorder` judges every
//! answer that any test sees against the OpenAPI document.

#![allow(unreachable_pub)] // Nothing outside a test binary could reach anything.

#[path = "../recorder/mod.rs"]
mod recorder;

mod faulty;
mod raw;
mod service;

mod contract;
mod deprecation;
mod failures;
mod head;
mod judgement;
mod keys;
mod known_limits;
mod paths;
mod provocations;
mod published;
mod rate_limit;
mod recorded;
mod released;
mod request_ids;
mod stopping;
mod timeouts;
mod v1;

/// What progenitor makes of the document.
#[allow(warnings, clippy::all)]
mod client {
    include!(concat!(env!("OUT_DIR"), "/client.rs"));
}
