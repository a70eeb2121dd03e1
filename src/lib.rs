//! A catalogue of animals over HTTP, whose hand-written OpenAPI document is the source of truth.
//!
//! The layers, from the top; the program's `cli` is above them:
//!
//! - [`config`] is what an operator can set.
//! - [`server`] starts and stops: listeners, TLS, the operators' listener.
//! - [`operations`] has a file for each `operationId`.
//! - [`http`] is the way of a request in and of its response out: routes, keys, inputs, errors, the access
//!   log, the published documents.
//! - [`service`] is what operations can reach: [`storage`], [`keys`], cursors, [`rate_limit`]s.
//! - [`telemetry`] is metrics and logging.
//! - [`document`] is what the service reads from the YAML at run time.
//! - [`schemas`] has the types of `components/schemas`.

pub mod config;
mod cursor;
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
