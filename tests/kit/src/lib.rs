//! What the test programs of all packages share.

mod skips;

pub use skips::{Need, is_installed, skip};
