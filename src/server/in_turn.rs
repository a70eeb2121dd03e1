//! The work of a connection, in [turns](super::turns).

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio_util::sync::PollSemaphore;

use super::connection::Connection;

/// The work of a connection, which waits for a turn each time it can go on. It must not wait while it goes on.
pub(super) struct InTurn<F> {
    pub(super) work: Pin<Box<F>>,
    connection: Arc<Connection>,
    /// `None` over HTTP/1, and once the client has sent a valid API key.
    turns: Option<PollSemaphore>,
}

impl<F> InTurn<F> {
    /// The protocol of the connection is known.
    pub(super) fn new(connection: Arc<Connection>, work: F) -> Self {
        let turns = connection.is_http2().then(|| PollSemaphore::new(connection.turns()));
        Self { work: Box::pin(work), connection, turns }
    }
}

impl<F: Future> Future for InTurn<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = &mut *self;
        if this.connection.has_key() {
            // It would keep the turn that it waits for.
            this.turns = None;
        }
        let _turn = match &mut this.turns {
            Some(turns) => ready!(turns.poll_acquire(context)),
            None => None,
        };
        this.work.as_mut().poll(context)
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use futures::future::poll_fn;
    use tokio::task::yield_now;

    use super::*;
    use crate::server::connection::Phase;
    use crate::server::first_request::Protocol;

    #[tokio::test]
    async fn connections_without_a_key_wait_and_the_others_do_not() {
        let shared = Arc::default();
        let [first, second, with_key] = std::array::from_fn(|_| {
            let connection = Connection::new(Arc::clone(&shared), Phase::New);
            connection.set_protocol(Protocol::Http2);
            Arc::new(connection)
        });
        with_key.set_has_key();
        let mut turns = Vec::new();
        while let Ok(turn) = first.turns().try_acquire_owned() {
            turns.push(turn);
        }
        InTurn::new(with_key, async {}).await;
        let waits = tokio::spawn(InTurn::new(first.clone(), async {}));
        yield_now().await;
        assert!(!waits.is_finished());
        drop(turns);
        waits.await.unwrap();

        // A connection that waits for its client leaves the turn to others.
        let idle = tokio::spawn(InTurn::new(second, poll_fn(|_| Poll::<()>::Pending)));
        yield_now().await;
        assert!(first.turns().try_acquire_owned().is_ok());
        idle.abort();
    }

    #[tokio::test]
    async fn a_connection_that_gets_a_key_while_it_waits_keeps_no_turn() {
        let connection = Arc::new(Connection::new(Arc::default(), Phase::New));
        connection.set_protocol(Protocol::Http2);
        let all_turns = || {
            let mut turns = Vec::new();
            while let Ok(turn) = connection.turns().try_acquire_owned() {
                turns.push(turn);
            }
            turns
        };
        let turns = all_turns();
        let count = turns.len();
        let mut work = InTurn::new(connection.clone(), poll_fn(|_| Poll::<()>::Pending));
        assert!((&mut work).now_or_never().is_none());
        connection.set_has_key();
        assert!((&mut work).now_or_never().is_none());
        drop(turns);
        assert_eq!(all_turns().len(), count);
    }
}
