//! The shared engine: a PostgreSQL database that any number of replicas of the service use.
//!
//! # Data model
//!
//! Numbered SQL files create the tables and are applied at start (`migrations.rs`):
//!
//! - `animal`: identifier, name, category and status. The identifier comes from the sequence `animal_id`, so
//!   that it is never reused. An index on (status, id) contains the animals that have a status.
//! - `api_key`: public identifier, name, SHA-256, and the times of creation, expiry and revocation in
//!   seconds.
//! - `secret`: 32 random bytes, generated with the database.
//! - `animal_store_migration`: the applied files.
//!
//! # Design
//!
//! The store (`../batching.rs`) with this engine keeps the promises of [`Store`](super::Store):
//!
//! - A write goes through a bounded queue to a few tasks, each with its own connection. A task stores all
//!   waiting animals with one statement and completes the writes after the commit (`writer.rs`). The caller
//!   learns the result, or that it is unknown; no write is sent twice.
//! - A read uses one of a few connections that all callers share (`reader.rs`).
//! - No animal appears before the last one of a page that was read, also with several writers; of a standby, of a page
//!   that has more (`pages.rs`).
//! - An API key is cached for one second (`../key_cache.rs`): querying it costs as much as reading an animal.
//! - An acknowledged commit is on the server's disk: if `synchronous_commit` is off for the server or the
//!   user, it is switched on for these connections (`session.rs`). A commit that did not reach the
//!   synchronous standby, because its wait was cancelled, is not acknowledged.
//! - Every call ends within the statement timeout and 1.5 seconds, whatever the server does. Each call tries a
//!   lost server again, so the service recovers with the server (`session.rs`).
//! - Several hosts in the URL are polled (`monitor.rs`). The primary is used, so the store follows a failover, and a
//!   standby is read while there is none; a read returns what was acknowledged a second before, also by others
//!   (`routing.rs`). Connections to a host that was replaced are closed at once.
//! - The query of a page leaves the planner one index, whatever its statistics are (`animals.rs`), so the server
//!   plans it once for each connection (`session.rs`).
//! - Opening inspects a database before it writes (`opening.rs`).
//!
//! # Limits
//!
//! - A failover keeps acknowledged writes only with a synchronous standby (`synchronous_standby_names`). A
//!   server with `fsync` off may lose them in a crash; a warning at start says so.
//! - With one or two hosts in the URL, a replaced primary that still runs may be read when it is the only one that this
//!   process reaches. The same is true for three hosts while exactly the new primary is out of reach, as long as the
//!   standby has not received more than the old primary has written.
//! - If a standby that was read had received more than the one that is promoted, animals that were never acknowledged
//!   disappear, and a client that polls may miss one that gets the identifier of such an animal.
//! - A standby is not read if its last record was received in part when the primary ended.
//! - Up to 12 connections for each process (settings `readers` and `writers`), and one more for each of several hosts. A
//!   proxy must keep a connection on one server session, to which settings and prepared statements belong (mode `session`
//!   of PgBouncer).
//! - A read behind a slow one on the same connection waits for it. A connection that is lost without notice delays the reads
//!   on it by the time limit of a call; they then return 503.
//! - A page waits up to one second for batches in progress with lower identifiers, and then ends before them.
//! - Animals that another program or an older release adds at the same time may be missed by a client that polls.
//! - Tested with PostgreSQL 14 to 18. Other databases with its protocol were not tested; pages need its advisory locks.

mod additions;
mod address;
mod animals;
mod engine;
mod error;
mod idempotency;
mod import;
mod keys;
mod migrations;
mod monitor;
mod opening;
mod pages;
mod reader;
mod routing;
mod session;
mod tls;
mod write_session;
mod writer;

pub use engine::check_url;
pub(super) use engine::{Postgres, open};
pub(super) use error::describe;
pub(super) use import::Import;
