//! Compares documents: single edits, versions and waivers, and hostile documents.

mod authors;
mod callbacks;
mod changelog;
pub(crate) mod documents;
mod edits;
mod gate;
mod generate;
mod hostile;
mod kinds;
mod repairs;
mod rules;
