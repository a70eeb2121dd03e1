//! Hostile input, sent to the running program: malformed HTTP, and valid HTTP with hostile content.
//!
//! No response may be a server error or contain a key, a path of this machine or SQL. The service must not panic or
//! use more memory over time, and must serve the next valid request. All input is generated from seeds, so a failure
//! can be repeated. `STORE_TESTS_LONG=1` sends ten times as much.

#![allow(unreachable_pub)] // A test binary has no public API.

#[path = "../recorder/mod.rs"]
#[allow(dead_code)] // Tests over HTTP use the rest.
mod recorder;

#[path = "../process/program.rs"]
#[allow(dead_code)] // Process tests use the rest.
mod program;

#[path = "../faults/client.rs"]
#[allow(dead_code)] // Fault tests use the rest.
mod client;

#[path = "../faults/row.rs"]
#[allow(dead_code)] // Fault tests use the rest.
mod row;

mod forms;
mod fragments;
mod malformed;
mod properties;
mod timing;
