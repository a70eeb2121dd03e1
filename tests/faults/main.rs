//! Bad days: the real program, and what is left of a promise when the machine breaks one.
//!
//! Each test makes one thing go wrong, and writes down what clients saw and what was true afterwards; a
//! row of the table that `cargo xtask faults` prints. The promises are the same in every row: what was
//! acknowledged is there, what was not is never said to be, and the service comes back by itself or ends
//! with one clear line. Speed is measured and stated, and never decides whether a test passes.
//!
//! `STORE_TESTS_LONG=1` makes the long run of it. A test that needs a program that is not there says so
//! and passes, unless `STORE_TESTS_REQUIRE_TOOLS=1`.

#![allow(unreachable_pub)] // Nothing is reached from outside a test binary.

#[path = "../recorder/mod.rs"]
#[allow(dead_code)] // The tests over HTTP use the rest.
mod recorder;

#[path = "../process/program.rs"]
#[allow(dead_code)] // The tests of the process use the rest.
mod program;

mod client;
mod ledger;
mod row;
mod tools;

mod clock;
mod damage;
mod descriptors;
mod disk;
mod killed;
mod lock;
mod many;
mod slow;
mod stopping;
mod unread_log;
