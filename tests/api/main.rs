//! Tests over HTTP: each starts a server with its own database. Nothing is mocked.
//!
//! The module tree follows the URL tree; modules beside `v1` concern all paths. `service.rs` starts the service, whose
//! recorder checks every response of every test against the OpenAPI document. Tests that reach SQL run on SQLite and on
//! PostgreSQL (`on_each_engine` in `database.rs`), the others on SQLite.

#![allow(unreachable_pub)] // A test binary has no public API.

pub(crate) mod database;
pub(crate) mod failing_store;
pub(crate) mod raw;
pub(crate) mod service;

mod classification;
mod contract;
pub(crate) mod declared_statuses;
mod deprecation;
mod failures;
mod head;
mod keys;
mod known_limits;
mod pages;
mod paths;
mod precedence;
mod published;
mod rate_limit;
mod recorder_checks;
mod released;
mod request_ids;
mod shutdown;
mod timeouts;
mod v1;

/// The client that progenitor generates from the document.
#[allow(warnings, clippy::all)]
pub(crate) mod client {
    include!(concat!(env!("OUT_DIR"), "/client.rs"));
}
