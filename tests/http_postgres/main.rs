//! The tests of `../http`, compiled again to run on PostgreSQL instead of SQLite; `database.rs` there checks the name of
//! the binary and what to do without PostgreSQL.

#[path = "../http/main.rs"]
mod http;

// Those files refer to these modules as `crate::...`.
use http::{
    client, clock, database, declared_statuses, failing_store, postgres_cluster, raw, recorder, service,
};
