//! What the test programs of all packages share.

pub mod layers;
mod skips;

pub use skips::{Need, is_installed, is_long, sample, skip};
