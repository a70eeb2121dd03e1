//! A budget of frames of HTTP/2 that carry neither a request nor a part of a body, such as PING and SETTINGS.
//!
//! hyper answers them before the service sees them, so a client that sends nothing else could use a processor without a
//! request. A client earns frames with its requests, because it has to answer SETTINGS and to enlarge windows.

use super::sending::Time;

/// The budget of a new connection.
const BUDGET: u32 = 1_000;
/// What a request adds.
const OF_REQUEST: u32 = 20;
/// What a second adds.
const OF_SECOND: u64 = 10;
/// A DATA frame with a payload of this size costs nothing.
const LARGE: u32 = 256;

/// Types of frames (RFC 9113, section 6).
const DATA: u8 = 0;
const HEADERS: u8 = 1;
/// The size of a frame's head: length, type, flags, stream (section 4.1).
const HEAD: usize = 9;
/// The size of what the client sends before its first frame (section 3.4).
const PREFACE: u32 = 24;

/// Counts the frames in the bytes of a client.
pub(super) struct FrameBudget {
    left: u32,
    /// Until when seconds were added.
    added_at: Time,
    /// How many bytes come before the head of the next frame.
    skip: u32,
    /// The begin of a head, and its size.
    head: [u8; HEAD],
    received: usize,
}

impl FrameBudget {
    pub(super) fn new(now: Time) -> Self {
        Self { left: BUDGET, added_at: now, skip: PREFACE, head: [0; HEAD], received: 0 }
    }

    /// Counts the frames that begin in these bytes. Returns whether the budget suffices.
    pub(super) fn receive(&mut self, mut bytes: &[u8], now: Time) -> bool {
        let seconds = now.saturating_sub(self.added_at) / 1_000;
        self.added_at += seconds * 1_000;
        self.add(u32::try_from(seconds * OF_SECOND).unwrap_or(BUDGET));
        let mut suffices = true;
        while !bytes.is_empty() {
            let skipped = bytes.len().min(self.skip as usize);
            self.skip -= skipped as u32;
            bytes = &bytes[skipped..];
            let (head, rest) = bytes.split_at(bytes.len().min(HEAD - self.received));
            self.head[self.received..][..head.len()].copy_from_slice(head);
            self.received += head.len();
            bytes = rest;
            if self.received == HEAD {
                self.received = 0;
                let [a, b, c, kind, ..] = self.head;
                self.skip = u32::from_be_bytes([0, a, b, c]);
                match kind {
                    HEADERS => self.add(OF_REQUEST),
                    DATA if self.skip >= LARGE => {}
                    _ if self.left == 0 => suffices = false,
                    _ => self.left -= 1,
                }
            }
        }
        suffices
    }

    fn add(&mut self, frames: u32) {
        self.left = self.left.saturating_add(frames).min(BUDGET);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, length: u32) -> Vec<u8> {
        let [_, a, b, c] = length.to_be_bytes();
        [vec![a, b, c, kind, 0, 0, 0, 0, 1], vec![HEADERS; length as usize]].concat()
    }

    /// Returns how many of these frames a connection accepts, at most 5,000. They arrive in pieces of a size.
    fn accepted(kind: u8, length: u32, piece: usize) -> usize {
        let mut budget = FrameBudget::new(0);
        assert!(budget.receive(&[0; PREFACE as usize], 0));
        let frame = frame(kind, length);
        (0..5_000).take_while(|_| frame.chunks(piece).all(|piece| budget.receive(piece, 0))).count()
    }

    #[test]
    fn frames_are_counted_however_their_bytes_arrive() {
        const PING: u8 = 6;
        for piece in [1, 2, 8, 9, 10, 17, 100] {
            assert_eq!(accepted(PING, 8, piece), 1_000, "pieces of {piece}");
            assert_eq!(accepted(0xfa, 300, piece), 1_000, "pieces of {piece}");
        }
        assert_eq!(accepted(DATA, 255, 100), 1_000);
    }

    #[test]
    fn requests_and_large_parts_of_bodies_cost_nothing() {
        assert_eq!(accepted(HEADERS, 50, 7), 5_000);
        assert_eq!(accepted(DATA, 256, 100), 5_000);
    }

    #[test]
    fn requests_and_time_add_to_the_budget() {
        let (mut budget, ping) = (FrameBudget::new(0), frame(6, 8));
        assert!(budget.receive(&[0; PREFACE as usize], 0));
        assert!(budget.receive(&ping.repeat(1_000), 0) && !budget.receive(&ping, 999));
        assert!(budget.receive(&ping.repeat(10), 1_000) && !budget.receive(&ping, 1_000));
        let mut budget = FrameBudget::new(0);
        assert!(budget.receive(&[0; PREFACE as usize], 0) && budget.receive(&ping.repeat(1_000), 0));
        assert!(budget.receive(&frame(HEADERS, 5), 0));
        assert!(budget.receive(&ping.repeat(20), 0) && !budget.receive(&ping, 0));
    }
}
