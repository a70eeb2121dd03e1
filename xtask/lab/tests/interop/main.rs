//! `cargo xtask interop`: its parts, and how it reads what the tools print.

mod parts;
mod postgres;
mod schemathesis;
