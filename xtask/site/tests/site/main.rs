//! The pages of documents, their feed, and the constants that the build script reads.

mod constants;
mod feed;
mod pages;
