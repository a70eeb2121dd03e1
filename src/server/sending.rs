//! How fast a client takes what waits for it.

/// Milliseconds since the listener started.
pub(super) type Time = u64;

/// A client that takes fewer bytes in a minute is closed, so that it cannot hold memory for ever: 512 bytes a second.
const MIN_BYTES: u64 = 512 * 60;
const MINUTE: Time = 60_000;

/// What a client has taken since something waits for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sending {
    /// The bytes that it has taken since it connected; 0 until the first look.
    taken: u64,
    /// When it was last seen to take something, or when something began to wait.
    pub(super) taken_at: Time,
    /// The begin of the current minute, and the bytes that had been taken then.
    minute: (Time, u64),
    /// Whether it took fewer than [`MIN_BYTES`] in a minute.
    pub(super) is_too_slow: bool,
}

impl Sending {
    pub(super) fn new(now: Time) -> Self {
        Self { taken: 0, taken_at: now, minute: (now, 0), is_too_slow: false }
    }

    /// Notes that the client has taken this many bytes since it connected; 0 if that is not known.
    pub(super) fn look(&mut self, now: Time, taken: u64) {
        if taken == 0 {
            return;
        }
        if self.taken == 0 {
            self.minute.1 = taken;
        }
        if taken > self.taken {
            (self.taken, self.taken_at) = (taken, now);
        }
        if now.saturating_sub(self.minute.0) >= MINUTE {
            self.is_too_slow |= taken.saturating_sub(self.minute.1) < MIN_BYTES;
            self.minute = (now, taken);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the state after three minutes in which a client takes `bytes` each second.
    fn after_three_minutes(bytes: u64) -> Sending {
        let mut sending = Sending::new(0);
        for second in 0..=180 {
            sending.look(second * 1_000, 1_000_000 + second * bytes);
        }
        sending
    }

    #[test]
    fn a_client_must_take_512_bytes_a_second() {
        assert!(!after_three_minutes(512).is_too_slow);
        assert!(after_three_minutes(511).is_too_slow);
        assert_eq!(after_three_minutes(1).taken_at, 180_000);
    }

    #[test]
    fn a_client_that_takes_nothing_was_last_seen_at_the_first_look() {
        assert_eq!(after_three_minutes(0).taken_at, 0);
    }
}
