//! Tests of the store: the conformance tests for every engine, and tests of a single engine.
//!
//! Conformance tests are in `conformance`, use only `Store`, and run on both. The module of each engine implements
//! [`conformance::Engine`].

mod conformance;
mod copy;
mod expiry;
mod messages;
mod metrics;
mod postgres;
mod sqlite;
