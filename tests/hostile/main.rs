//! Hostile input: bytes that are hardly HTTP, and HTTP that means no good, sent to the real program.
//!
//! Whatever is sent, no answer is a server error, none holds a key, a path of this machine or SQL, nothing
//! panics, memory does not grow, and the next good request is answered as ever. Everything is made from
//! seeds, so what fails once fails again. `STORE_TESTS_LONG=1` sends ten times as much.

#![allow(unreachable_pub)] // Nothing outside a test binary could reach anything.

#[path = "../recorder/mod.rs"]
#[allow(dead_code)] // The tests over HTTP use the rest.
mod recorder;

#[path = "../process/program.rs"]
#[allow(dead_code)] // The tests of the process use the rest.
mod program;

#[path = "../faults/client.rs"]
#[allow(dead_code)] // The faults use the rest.
mod client;

#[path = "../faults/row.rs"]
#[allow(dead_code)] // The faults use the rest.
mod row;

mod forms;
mod made;
mod malformed;
mod properties;
mod timing;
