//! Fault injection: runs the program and injects one failure per test.
//!
//! Each test records what clients saw and what state the service was in afterwards, as a row of the table that
//! `cargo xtask faults` prints. In every row, acknowledged animals are stored, a write that failed is never
//! acknowledged, and the service either recovers by itself or exits with one clear error. Times are measured
//! and printed; they decide a test only in a measured run (`STORE_TESTS_FAULTS`).
//!
//! `STORE_TESTS_LONG=1` repeats more often. A test whose tool is not installed is skipped with a message, unless
//! `STORE_TESTS_REQUIRE_TOOLS=1`.

mod injection;

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
