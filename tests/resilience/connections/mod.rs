//! Connections of hostile clients to the program, beside those of good clients.
//!
//! `clients` connects both. Every wait is for an event: the end of a connection, a response, or the value of a
//! metric. No result depends on a duration, except whether a test whose client was stopped is repeated.

mod clients;
#[cfg(target_os = "linux")]
mod link;
mod service;

mod heads;
mod http2;
mod memory;
mod number;
mod shutdown;
#[cfg(target_os = "linux")]
mod slow;
mod unread;
mod waits;
