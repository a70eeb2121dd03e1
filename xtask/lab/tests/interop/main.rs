//! `cargo xtask interop`: which parts it runs, and how it reads what the tools print.

mod postgres;
mod schemathesis;
mod scope;
