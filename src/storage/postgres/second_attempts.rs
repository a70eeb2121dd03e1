//! How many reads may be sent a second time while the first attempt may still succeed.
//!
//! A server that is slow because it has too much to do becomes slower by each of them. So they are at most a tenth of the
//! reads, after ten at once. gRPC limits its retries like this (proposal A6, "Throttling Retry Attempts").

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// What a read adds, and a second attempt takes.
const READ: u32 = 1;
const SECOND_ATTEMPT: u32 = 10;
/// What is kept at most.
const MAX: u32 = 10 * SECOND_ATTEMPT;

/// The second attempts that are left.
pub(super) struct SecondAttempts(AtomicU32);

impl SecondAttempts {
    pub(super) fn new() -> Self {
        Self(AtomicU32::new(MAX))
    }

    /// Counts a read.
    pub(super) fn read(&self) {
        // An error is one that has the maximum.
        let _ = self.0.fetch_update(Relaxed, Relaxed, |left| (left < MAX).then_some(left + READ));
    }

    /// Takes a second attempt, if one is left.
    pub(super) fn take(&self) -> bool {
        self.0.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(SECOND_ATTEMPT)).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenth_of_the_reads_may_be_sent_again_after_ten() {
        let attempts = SecondAttempts::new();
        let takes = |reads: usize| {
            (0..reads)
                .filter(|_| {
                    attempts.read();
                    attempts.take()
                })
                .count()
        };
        assert_eq!(takes(10), 10);
        assert_eq!(takes(1_000), 100);
        (0..1_000).for_each(|_| attempts.read());
        assert_eq!((0..100).filter(|_| attempts.take()).count(), 10);
    }
}
