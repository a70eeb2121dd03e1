//! The shared engine: a PostgreSQL database that any number of replicas of the service use.
//!
//! # Data model
//!
//! Numbered SQL files create the tables and are applied by commands that write (`schema.rs`):
//!
//! - `animal`: identifier, name, category and status. The identifier comes from the sequence `animal_id`, so
//!   that it is never reused. An index on (status, id) contains the animals that have a status.
//! - `api_key`: public identifier, name, note, SHA-256, and the times of creation, expiry, revocation and
//!   last use (to the hour) in seconds.
//! - `idempotency_key`: the client, the value, the fingerprint of the request, the response, and the time of the request in
//!   seconds.
//! - `secret`: 32 random bytes, generated with the database.
//! - `animal_store_migration`: the applied files.
//!
//! # Design
//!
//! The store (`../store.rs`) with this engine keeps the promises of [`Store`](super::Store):
//!
//! - A write goes through a bounded queue to one task, which commits all waiting writes in one transaction (`writer.rs`).
//!   The caller learns the result, or that it is unknown; no write is sent twice.
//! - The first statement of each transaction takes a lock that all replicas share, so identifiers become visible in
//!   ascending order (`animals.rs`). A page is one query.
//! - A read uses one of a few connections that all callers share (`engine.rs`).
//! - An API key is cached for one second (`../key_cache.rs`): querying it costs as much as reading an animal.
//! - An acknowledged commit is on the server's disk, and on that of a synchronous standby: each connection gets its
//!   settings explicitly (`session.rs`). A commit that did not reach the standby, because its wait was cancelled, is not
//!   acknowledged.
//! - Every call ends within the statement timeout and 1.5 seconds, whatever the server does. A session that hangs with the
//!   lock is ended by the server.
//! - Reads and writes use the primary: the first host of the URL that is one (`connector.rs`). An old primary that comes
//!   back is not used.
//! - The query of a page leaves the planner one index, whatever its statistics are (`animals.rs`), so the server
//!   plans it once for each connection (`session.rs`).
//! - Opening compares a database with what this program needs before it is used (`opening.rs`, `schema.rs`).
//!
//! # Limits
//!
//! - A failover keeps acknowledged writes only with a synchronous standby (`synchronous_standby_names`). A
//!   server with `fsync` off may lose them in a crash; a warning at start says so.
//! - A process that has seen no newer primary uses an old one that still accepts writes.
//! - Up to 9 connections for each process (setting `readers`, and one for writing). A proxy must keep a connection on one
//!   server session, to which settings and prepared statements belong (mode `session` of PgBouncer).
//! - A read behind a slow one on the same connection waits for it. A connection that is lost without notice delays the reads
//!   on it by the time limit of a call; they then return 503.
//! - Animals that another program adds without the lock may be missed by a client that polls.
//! - Tested with PostgreSQL 14 to 18. Other databases with its protocol were not tested.

mod address;
mod animals;
mod connector;
mod engine;
mod error;
mod keys;
mod opening;
mod schema;
mod session;
mod tls;
mod writer;

pub(super) use engine::Postgres;
pub(super) use error::describe;
pub(super) use opening::{NO_LIMITS, connect_once};

use std::sync::Arc;
use std::time::Duration;

use address::Address;
use connector::Connector;
use writer::Writer;

use super::options::{OpenError, StoreOptions};
use super::queue::Batches;

/// Checks a URL without connecting.
///
/// # Errors
/// One line that does not repeat the URL.
pub fn check_url(url: &str) -> Result<(), OpenError> {
    let parsed = Address::parse(url, Duration::ZERO);
    parsed.map(drop).map_err(|why| OpenError::Unsuitable(format!("the PostgreSQL URL cannot be used: {why}")))
}

/// Opens the store in the database at `url`: `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, with more
/// hosts and parameters as in the PostgreSQL documentation. Creates the tables if there are none. Must be
/// called within a tokio runtime, which then runs the tasks of the store. Returns the engine and the secret of the store.
///
/// # Errors
/// One line that names the database and says what to do. The database is then unchanged.
pub(super) async fn open(
    url: &str,
    options: &StoreOptions,
    mut batches: Batches,
) -> Result<(Postgres, [u8; 32]), OpenError> {
    let connector = Arc::new(Connector::new(url, options)?);
    let secret = opening::open(&connector).await?;
    let mut writer = Writer::new(connector.clone());
    tokio::spawn(async move { batches.commit_with(&mut writer).await });
    Ok((Postgres::new(connector), secret))
}
