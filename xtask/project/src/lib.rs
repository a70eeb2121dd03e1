//! The commands about the OpenAPI document of this project: `check`, `lint`, `breaking`, `release`, `site`, `lsp`, `dev` and
//! `licences`.
//!
//! The checks themselves are in `xtask/contract`, which does not depend on this repository. This crate has the paths
//! ([`workspace`]), the document of the code ([`code`]) with the Rust lines that it comes from ([`source`]), and the rules of
//! this project ([`rules`]).

pub mod check;
pub mod code;
pub mod dev;
pub mod licences;
pub mod lsp;
pub mod metadata;
pub mod process;
pub mod release;
pub mod rules;
pub mod site;
pub mod source;
pub mod workspace;
