//! Tests of the store: the conformance tests for every engine, and tests of a single engine.
//!
//! Conformance tests are in `conformance` and use only `Store`. Each engine is a module that implements
//! [`conformance::Engine`], names that type `Subject`, and includes `conformance/suite.rs`.

#[path = "../clock/mod.rs"]
mod clock;
mod conformance;
mod copy;
mod expiry;
mod messages;
mod metrics;
mod postgres;
#[path = "../postgres_cluster/mod.rs"]
mod postgres_cluster;
mod sqlite;
