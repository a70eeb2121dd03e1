//! The turns of connections over HTTP/2 whose clients have sent no valid API key.
//!
//! A client can send a hundred requests at once, and thousands of clients would fill the queue of the runtime, so that
//! each request of another client waits behind all of theirs. So only half of the processors read their requests at the
//! same time. The other connections wait outside of that queue.

use std::sync::Arc;
use std::thread::available_parallelism;

use tokio::sync::Semaphore;

/// The turns of the connections of a listener.
pub(super) struct Turns(pub(super) Arc<Semaphore>);

impl Default for Turns {
    fn default() -> Self {
        let processors = available_parallelism().map_or(1, usize::from);
        Self(Arc::new(Semaphore::new(processors.div_ceil(2))))
    }
}
