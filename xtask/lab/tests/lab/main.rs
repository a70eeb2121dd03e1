//! The calculations of `cargo xtask bench`, and the parts of `cargo xtask interop` and how it reads what the tools print.

mod figures;
mod parts;
mod postgres;
mod schemathesis;
