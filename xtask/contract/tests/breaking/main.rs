//! `cargo xtask breaking`: what it says of single edits, of versions and waivers, and of documents that no
//! person would write.

mod changelog;
mod documents;
mod edits;
mod gate;
mod hostile;
