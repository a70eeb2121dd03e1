//! What the test programs of all packages share.
//!
//! Without features the crate reports skipped tests and checks the layers of a crate. The feature `postgres` adds a
//! PostgreSQL server, the feature `service` the program under test, its clients and the recorder.

#[cfg(feature = "service")]
pub mod client;
#[cfg(feature = "service")]
pub mod clock;
pub mod layers;
#[cfg(feature = "service")]
pub mod ledger;
#[cfg(feature = "postgres")]
pub mod postgres;
#[cfg(feature = "service")]
pub mod program;
#[cfg(feature = "service")]
pub mod recorder;
mod runs;

pub use runs::{Need, is_installed, is_long, sample, skip};
