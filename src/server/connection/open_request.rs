//! What a connection holds for its requests, until each of them is dropped.

use std::sync::Arc;

use super::Connection;
use crate::server::memory;

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
    /// Whether it counts as a read.
    pub(super) reads: bool,
    /// Whether it has begun and has no response.
    pub(super) runs: bool,
    /// Whether its response waits for the client.
    pub(super) has_response: bool,
}

impl OpenRequest {
    /// Waits until the request may begin.
    pub(in crate::server) async fn begin(&mut self, reads: bool) {
        let connection = &self.charge.connection;
        loop {
            {
                let mut state = connection.state();
                if state.has_room(connection.has_key()) {
                    state.running += 1;
                    state.reads += usize::from(reads);
                    (self.runs, self.reads) = (true, reads);
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
        state.running -= usize::from(self.runs);
        state.responses += 1;
        (self.runs, self.has_response) = (false, true);
        state.begin_sending(connection.shared.now());
        drop(state);
        connection.room.notify_one();
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        let connection = &self.charge.connection;
        let mut state = connection.state();
        state.requests -= 1;
        state.running -= usize::from(self.runs);
        state.reads -= usize::from(self.reads);
        if self.has_response {
            state.end_response(connection.shared.now());
        }
        state.active_at = connection.shared.now();
        drop(state);
        connection.room.notify_one();
    }
}
