//! What a connection holds for its requests, until each of them is dropped.

use std::sync::Arc;

use super::Connection;
use crate::server::memory;

/// What a request that reads reserves for its response, in bytes: a page of 100 animals with the longest names has 104
/// KB. Without this, all requests of an HTTP/2 connection would start before the first response is counted.
pub(in crate::server) const RESERVED_TO_READ: usize = 128 * 1024;

/// Memory that is charged to a connection until this is dropped.
pub(in crate::server) struct Charge {
    pub(super) connection: Arc<Connection>,
    pub(super) bytes: usize,
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.connection.release(&mut self.connection.state(), self.bytes);
    }
}

/// A request of a connection, from its head until its response was sent and freed. Then this is dropped.
pub(in crate::server) struct OpenRequest {
    pub(super) charge: Charge,
    /// What it has reserved for its response, while it runs.
    pub(super) reserved: Option<usize>,
    /// The size of the response that waits for the client.
    pub(super) response: Option<usize>,
}

impl OpenRequest {
    /// Waits until the client has read its responses, and reserves these bytes for this one.
    pub(in crate::server) async fn begin(&mut self, reserve: usize) {
        let connection = &self.charge.connection;
        loop {
            {
                let mut state = connection.state();
                if state.has_room(connection.has_key()) {
                    state.running += 1;
                    state.reserved += reserve;
                    self.reserved = Some(reserve);
                    if state.has_room(connection.has_key()) {
                        connection.room.notify_one();
                    }
                    return;
                }
            }
            connection.room.notified().await;
        }
    }

    /// Records that a response of this size in memory waits for the client.
    pub(in crate::server) fn respond(&mut self, bytes: usize) {
        let connection = &self.charge.connection;
        let mut state = connection.state();
        connection.release(&mut state, self.charge.bytes);
        self.charge.bytes = memory::REQUEST + bytes;
        connection.charge(&mut state, self.charge.bytes);
        self.response = Some(bytes);
        state.responses += 1;
        state.unread += bytes;
        state.begin_sending(connection.shared.now());
        state.end_running(self.reserved.take());
        drop(state);
        connection.room.notify_one();
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        let connection = &self.charge.connection;
        let mut state = connection.state();
        state.requests -= 1;
        state.end_running(self.reserved);
        if let Some(bytes) = self.response {
            state.responses -= 1;
            state.unread -= bytes;
            state.has_taken(connection.shared.now());
        }
        state.active_at = connection.shared.now();
        drop(state);
        connection.room.notify_one();
    }
}
