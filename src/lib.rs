//! A catalogue of animals over HTTP, whose hand-written OpenAPI document is the source of truth.
//!
//! In reading order, a request's way first:
//!
//! - [`server`] starts and stops; [`edge`] is what surrounds every operation; `leftover` are the bodies
//!   that nobody read.
//! - [`call`] judges a call: key, limit, input, operation. [`input`] reads what operations take.
//! - [`operations`] has a file for each `operationId`, [`schemas`] one for each of `components/schemas`.
//! - [`responses`] is every way to be refused, and how it looks over HTTP.
//! - [`service`] is what operations can reach: [`storage`], [`keys`], cursors, limits.
//! - [`access`] logs and counts answers, [`metrics`] is what is counted, `ops` where operators read it;
//!   [`tls`] is the certificate.
//! - [`document`] is what the service reads from the YAML at run time; `published` serves it,
//!   and a page to read it on.
//! - [`config`] is what an operator can set.

pub mod access;
pub mod call;
pub mod config;
mod cursor;
pub mod document;
pub mod edge;
mod field_error;
pub mod input;
pub mod keys;
mod leftover;
pub mod metrics;
pub mod operations;
mod ops;
mod published;
pub mod responses;
pub mod schemas;
pub mod server;
pub mod service;
pub mod storage;
pub mod tls;
