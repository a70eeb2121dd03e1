//! Compares documents: single edits, versions and waivers, and documents that no person would write.

mod changelog;
mod documents;
mod edits;
mod gate;
mod generate;
mod hostile;
