//! The tests of `../http`, compiled again to run on PostgreSQL instead of SQLite; `database.rs` there checks the name of
//! the binary. Where PostgreSQL is not installed, the binary says so and exits with 0, unless
//! `STORE_TESTS_REQUIRE_POSTGRES=1`.

#[path = "../http/main.rs"]
mod http;

// Those files refer to these modules as `crate::...`.
use http::{
    client, clock, database, declared_statuses, failing_store, postgres_cluster, raw, recorder, service,
};
