//! Hostile input, sent to the running program: malformed HTTP, and valid HTTP with hostile content.
//!
//! No response may be a server error or contain a key, a path of this machine or SQL. The service must not panic or
//! use more memory over time, and must serve the next valid request. All input is generated from seeds, so a failure
//! can be repeated. `STORE_TESTS_LONG=1` sends ten times as much.

mod forms;
mod fragments;
mod malformed;
mod properties;
mod timing;
