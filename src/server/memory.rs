//! What the connections of a listener hold together, in bytes of memory, and how much that may be.
//!
//! [`Connection`](super::connection::Connection) charges here everything that it holds, until it is freed. What is known
//! in bytes is charged in bytes; the costs below are measured, as the page on memory says.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use http::HeaderMap;
use http::header::HeaderValue;
use tokio::sync::Notify;
use tokio::sync::futures::OwnedNotified;

use super::first_request::Protocol;

/// A connection before its first complete head.
pub(super) const ACCEPTED: usize = 2 * 1024;
/// The state and the buffers of TLS.
pub(super) const TLS: usize = 12 * 1024;
/// What hyper keeps for each of the most requests that a connection has had at the same time.
pub(super) const STREAM: usize = 512;
/// The task and the state of a request, without its head and its body.
pub(super) const REQUEST: usize = 4 * 1024;
/// The task that reads a body to its end, beside the body.
pub(super) const READING: usize = 1024;
/// A header of a request, without its value.
const HEADER: usize = 112;

/// Returns the size of the buffers of a connection that uses HTTP.
pub(super) fn buffers(protocol: Protocol) -> usize {
    match protocol {
        Protocol::Http1 => 10 * 1024,
        Protocol::Http2 => 18 * 1024,
    }
}

/// Returns the size of the headers of a request.
pub(super) fn headers(headers: &HeaderMap) -> usize {
    headers.capacity() * HEADER + headers.values().map(HeaderValue::len).sum::<usize>()
}

/// What connections hold together.
#[derive(Debug, Default)]
pub(super) struct Memory {
    pub(super) all: Pool,
    /// The part of those whose clients have sent no valid API key.
    pub(super) without_key: Pool,
    /// Notified when a limit is exceeded.
    pub(super) exceeded: Notify,
    /// Notified when a full pool has room again.
    freed: Arc<Notify>,
}

/// What some connections hold, in bytes.
#[derive(Debug, Default)]
pub(super) struct Pool {
    held: AtomicUsize,
    pub(super) limit: usize,
    /// Whether the limit was exceeded, until [`Self::enough`] is reached.
    full: AtomicBool,
}

impl Memory {
    /// Sets the limits, in MiB.
    pub(super) fn new(all: usize, without_key: usize) -> Self {
        let pool = |mib: usize| Pool { limit: mib.saturating_mul(1024 * 1024), ..Pool::default() };
        Self { all: pool(all), without_key: pool(without_key), ..Self::default() }
    }

    /// Adds bytes of a connection.
    pub(super) fn add(&self, has_key: bool, bytes: usize) {
        let exceeded = self.all.add(bytes);
        if !has_key && self.without_key.add(bytes) || exceeded {
            self.exceeded.notify_one();
        }
    }

    /// Subtracts bytes of a connection.
    pub(super) fn subtract(&self, has_key: bool, bytes: usize) {
        let freed = self.all.subtract(bytes);
        if !has_key && self.without_key.subtract(bytes) || freed {
            self.freed.notify_waiters();
        }
    }

    /// Wakes the connections that wait, if they need not.
    pub(super) fn update(&self) {
        self.subtract(false, 0);
    }

    /// Returns what a connection has to wait for before it takes more: until enough of the others were freed that hold
    /// too much.
    pub(super) fn wait(&self, has_key: bool) -> Option<Pin<Box<OwnedNotified>>> {
        let is_full = || self.all.is_full() || !has_key && self.without_key.is_full();
        if !is_full() {
            return None;
        }
        let mut freed = Box::pin(self.freed.clone().notified_owned());
        freed.as_mut().enable();
        is_full().then_some(freed)
    }

    /// Returns what all connections hold, and those without a valid API key.
    #[cfg(test)]
    pub(super) fn held(&self) -> [usize; 2] {
        [&self.all, &self.without_key].map(|pool| pool.held.load(Relaxed))
    }
}

impl Pool {
    /// What may remain when connections are closed: less than the limit, so that this is not for every byte.
    pub(super) fn enough(&self) -> usize {
        self.limit / 8 * 7
    }

    pub(super) fn is_full(&self) -> bool {
        self.full.load(Relaxed)
    }

    /// Returns whether the limit is exceeded.
    fn add(&self, bytes: usize) -> bool {
        let exceeded = self.held.fetch_add(bytes, Relaxed) + bytes > self.limit;
        if exceeded {
            self.full.store(true, Relaxed);
        }
        exceeded
    }

    /// Returns whether the pool was full and has room again.
    fn subtract(&self, bytes: usize) -> bool {
        let held = self.held.fetch_sub(bytes, Relaxed) - bytes;
        held <= self.enough() && self.is_full() && self.full.swap(false, Relaxed)
    }
}
