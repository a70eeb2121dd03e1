//! The promises of the store, tested for every engine, and what only one engine does.
//!
//! A promise is a test in `battery`, which uses the trait alone. An engine is a module here that implements
//! [`battery::Engine`], names itself `Subject` and includes `battery/promises.rs`.

mod battery;
#[path = "../clock/mod.rs"]
mod clock;
mod copy;
mod metrics;
mod postgres;
#[path = "../postgres_cluster/mod.rs"]
mod postgres_cluster;
mod sqlite;
