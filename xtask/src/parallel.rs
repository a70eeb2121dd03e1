//! Work on several threads.

use std::collections::VecDeque;
use std::iter;
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Calls a function with each item, in their order and at most `at_once` at the same time. Returns the results in the
/// order of threads.
pub fn each<T: Send, R: Send>(
    items: impl IntoIterator<Item = T>,
    at_once: usize,
    work: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let queue = Mutex::new(items.into_iter().collect::<VecDeque<T>>());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    let worker = || iter::from_fn(next).map(&work).collect::<Vec<R>>();
    thread::scope(|scope| {
        let threads: Vec<_> = (0..at_once).map(|_| scope.spawn(worker)).collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
            .collect()
    })
}
