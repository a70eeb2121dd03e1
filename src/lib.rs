//! A catalogue of animals over HTTP, whose hand-written OpenAPI document is the source of truth.
//!
//! # Layers
//!
//! Each module imports only from modules below it in this list, and no files import each other in a cycle.
//! `tests/layers` checks both.
//!
//! - `main`: the program.
//! - `cli`: the command line.
//! - [`server`]: start, shutdown, listeners, TLS, the operators' listener.
//! - [`operations`]: one file for each `operationId`.
//! - [`http`]: routing, inputs, error responses, access log.
//! - [`service`]: what operations can reach. No HTTP from here on.
//! - [`config`]: the settings of an operator.
//! - [`rate_limit`]: the rate limit of each API key.
//! - [`cursor`]: the signed cursors of pages.
//! - [`keys`]: the API keys.
//! - [`telemetry`]: metrics and logging.
//! - [`storage`]: the promises of a store; SQLite and PostgreSQL.
//! - [`document`]: the OpenAPI document as constants, prepared by `build.rs`.
//! - [`schemas`]: the types of `components/schemas` and their limits.

/// The version of the program. The API has one of its own, [`document::Document::version`].
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

pub mod config;
pub mod cursor;
pub mod document;
pub mod http;
pub mod keys;
pub mod operations;
pub mod rate_limit;
pub mod schemas;
pub mod server;
pub mod service;
pub mod storage;
pub mod telemetry;
