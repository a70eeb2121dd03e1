//! Fault injection: runs the program and injects one failure per test.
//!
//! Each test records what clients saw and what state the service was in afterwards, as a row of the table that
//! `cargo xtask faults` prints. In every row, acknowledged animals are stored, a write that failed is never
//! acknowledged, and the service either recovers by itself or exits with one clear error. Times are measured
//! and printed; they decide a test only in a measured run (`STORE_TESTS_FAULTS`).
//!
//! `STORE_TESTS_LONG=1` repeats more often. A test whose tool is not installed is skipped with a message, unless
//! `STORE_TESTS_REQUIRE_TOOLS=1`.

#![allow(unreachable_pub)] // A test binary has no public API.

#[path = "../recorder/mod.rs"]
#[allow(dead_code)] // Tests over HTTP use the rest.
mod recorder;

#[path = "../process/program.rs"]
#[allow(dead_code)] // Process tests use the rest.
mod program;

#[path = "../postgres_cluster/mod.rs"]
mod postgres_cluster;

mod client;
mod injection;
mod ledger;
mod row;

mod clock;
mod connections;
mod damage;
mod descriptors;
mod disk;
mod kill;
mod lock;
mod loopback;
mod shutdown;
mod slow_clients;
mod slow_disk;
mod unread_log;
