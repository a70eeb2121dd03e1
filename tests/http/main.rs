//! The service over HTTP: a really running server, a private database, and nothing mocked.
//!
//! The tree mirrors the URL tree; what concerns every path stands beside `v1`. Each test starts its own
//! service, so no test sees another's animals. `service.rs` is the harness; `../recorder` judges every
//! answer that any test sees against the OpenAPI document. `../http_postgres` compiles all of this again, for
//! PostgreSQL instead of SQLite.

#![allow(unreachable_pub)] // Nothing outside a test binary could reach anything.

#[path = "../clock/mod.rs"]
pub(crate) mod clock;
#[path = "../postgres_cluster/mod.rs"]
pub(crate) mod postgres_cluster;
#[path = "../recorder/mod.rs"]
pub(crate) mod recorder;

pub(crate) mod faulty;
pub(crate) mod place;
pub(crate) mod raw;
pub(crate) mod service;

mod contract;
mod deprecation;
mod failures;
mod head;
mod keys;
mod known_limits;
mod order_of_checks;
mod paths;
pub(crate) mod provocations;
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
pub(crate) mod client {
    include!(concat!(env!("OUT_DIR"), "/client.rs"));
}
