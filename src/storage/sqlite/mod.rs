//! The embedded engine: one SQLite file, without a server.
//!
//! # Data model
//!
//! Numbered SQL files create the tables and are applied by commands that write (`schema.rs`):
//!
//! - `animal`: identifier, name, category and status. The identifier is `AUTOINCREMENT`, so that it is never
//!   reused. An index on (status, id) contains the animals that have a status.
//! - `api_key`: public identifier, name, note, SHA-256, and the times of creation, expiry, revocation and
//!   last use (to the hour) in seconds.
//! - `idempotency_key`: the client, the value, the fingerprint of the request, the response, and the time of the request in
//!   seconds. A row never changes, and is removed when it has expired.
//! - `secret`: 32 random bytes, generated with the database.
//! - `migration`: for each applied file, the version of the program that applied it.
//!
//! The file uses write-ahead logging (WAL) with `synchronous=FULL`: a transaction is on disk when COMMIT returns,
//! and readers and the writer do not block each other.
//!
//! # Design
//!
//! The store (`../store.rs`) with this engine keeps the promises of [`Store`](super::Store):
//!
//! - A write goes through a bounded queue to one thread, which commits all waiting writes in one transaction
//!   (`writer.rs`), so that 64 callers share one fsync. With a mutex or a pool of connections, each caller
//!   pays for its own fsync; with a pool, callers also compete for the lock of the file.
//! - A read is a task that runs on a thread of the runtime, with one of a few connections (`engine.rs`). Each query is
//!   bounded by an index and a limit, so moving it to a thread for reads would cost more than running it.
//! - An API key is cached for one second (`../key_cache.rs`): querying it costs as much as reading an animal.
//!   Its use is stored once per hour, after the request (`../key_cache.rs`).
//! - Readiness is checked by the free space of the disk, and by a write of one page that changes nothing: a quota fails
//!   only a commit.
//! - Opening checks a file before it writes: a file of another program, a newer or a damaged one, and one with
//!   another schema (`schema.rs`) stay unchanged (`opening.rs`). Triggers never run (`connection.rs`).
//!
//! # Limits
//!
//! - One machine: the WAL needs memory shared by the processes that use the file, so no network file system.
//! - A read of pages that are not in memory blocks a thread and a connection for as long as the disk takes. While all
//!   connections are blocked, reads wait, and get 503 at the time limit of their requests.
//! - Processes that write to one file wait for each other, up to the lock timeout.
//! - Animals are read over a connection for each processor, at least three, and API keys over one more. Each has two file
//!   descriptors and its share of 64 MiB of cache, at least 2 MiB.
//! - At start, the first 8,000 pages are searched for damage. Damage beyond them is found when it is read, unless the page
//!   is still well-formed: pages have no checksums.
//! - Reads of animals do not notice that another process replaces or removes the file. Writes, look-ups of API keys and
//!   the check of readiness fail then (`file.rs`), so that requests get 503 within a second.

mod animals;
mod backup;
mod connection;
mod engine;
mod error;
mod file;
mod keys;
mod opening;
mod schema;
mod users;
mod writer;

pub use backup::{Restored, backup, restore};
pub(super) use engine::Sqlite;
pub use engine::blocking_reads;
pub(super) use opening::{check_path, open, open_source};
