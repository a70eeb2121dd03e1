//! The commands of this repository; `cargo xtask help` lists them.
//!
//! The checks themselves are the library `contract`, which knows nothing of this repository. What is here knows
//! where things are ([`workspace`]), what the running code says and where in the Rust source it says so
//! ([`dropshot`]), and how to build, run, break and measure the service.

pub mod bench;
pub mod check;
pub mod ci;
pub mod dropshot;
pub mod faults;
pub mod interop;
pub mod licences;
pub mod pictures;
mod process;
pub mod release;
pub mod scaffold;
pub mod serve;
pub mod watch;
pub mod workspace;
