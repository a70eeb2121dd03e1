//! The tests over HTTP once more, with PostgreSQL behind the service instead of SQLite.
//!
//! They are the files of `../http`, compiled again; `place.rs` there goes by the name of this program. Where
//! PostgreSQL is not installed, the program says so and ends well, unless `STORE_TESTS_REQUIRE_POSTGRES=1`.

#[path = "../http/main.rs"]
mod http;

// What those files name as `crate::...`.
use http::{client, clock, faulty, place, postgres_cluster, provocations, raw, recorder, service};
