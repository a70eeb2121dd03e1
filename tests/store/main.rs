//! The promises of the store, held against every engine, and what is an engine's own.
//!
//! `battery` knows the trait alone. An engine joins by one module that implements [`battery::Engine`] and
//! says `battery!(ItsEngine)`; what only that engine does is tested beside it.

mod battery;
#[path = "../clock/mod.rs"]
mod clock;
mod copy;
mod metrics;
mod postgres;
#[path = "../postgres_cluster/mod.rs"]
mod postgres_cluster;
mod sqlite;
