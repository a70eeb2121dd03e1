//! A cluster of three servers that Patroni manages as `src/storage/README.md` asks for.
//!
//! A write is acknowledged when the synchronous standby has received it, and only that standby is promoted. An old primary
//! does not know that it was replaced: it still writes and sends, but nothing is acknowledged.

use tokio::time::Instant;

pub(super) const HOSTS: usize = 3;
/// The maximum number of writes and promotions together.
const MAX: usize = 4;

/// What happens in the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Change {
    /// A primary writes.
    Write(usize),
    /// A standby receives a record of the WAL from the primary that it follows.
    Receive(usize),
    /// A standby shows one more of the records that it has received.
    Replay(usize),
    /// A primary acknowledges a write that its synchronous standby has received.
    Acknowledge(usize),
    /// The synchronous standby becomes the primary. The old one goes on.
    Promote,
    /// A host becomes a standby of the present primary.
    Follow(usize),
    /// The primary takes another synchronous standby.
    Synchronous(usize),
    /// A standby restarts, and does not report what it had received.
    Restart(usize),
    /// A standby reports the timeline that it follows.
    Restartpoint(usize),
}

/// How often something may happen.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    pub(super) writes: usize,
    pub(super) promotions: i64,
    pub(super) restarts: bool,
}

/// A server.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Node {
    /// The primary that a standby follows.
    follows: Option<usize>,
    timeline: i64,
    /// What a standby reports, a lower bound of `timeline`.
    shown_timeline: i64,
    /// Each write, by its number from 1, and each promotion, as [`MAX`] plus its timeline.
    wal: [usize; MAX],
    length: usize,
    replayed: usize,
    /// Whether a standby reports what it has received.
    knows_received: bool,
    /// The standby that a primary waits for.
    synchronous: Option<usize>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Cluster {
    pub(super) nodes: [Node; HOSTS],
    /// The primary that Patroni has chosen.
    pub(super) primary: usize,
    written: usize,
    /// When each write was acknowledged.
    pub(super) acknowledged: [Option<Instant>; MAX],
}

impl Node {
    pub(super) fn is_standby(&self) -> bool {
        self.follows.is_some()
    }

    pub(super) fn timeline(&self) -> i64 {
        if self.is_standby() { self.shown_timeline } else { self.timeline }
    }

    pub(super) fn received(&self) -> usize {
        if self.is_standby() && !self.knows_received { self.replayed } else { self.length }
    }

    pub(super) fn replayed(&self) -> usize {
        if self.is_standby() { self.replayed } else { 0 }
    }

    /// Returns what a client reads.
    fn shown(&self) -> &[usize] {
        &self.wal[..if self.is_standby() { self.replayed } else { self.length }]
    }

    fn push(&mut self, record: usize) {
        self.wal[self.length] = record;
        self.length += 1;
    }
}

impl Cluster {
    /// Returns a cluster at rest: the first host is the primary, the second its synchronous standby.
    pub(super) fn new() -> Self {
        let node = |host: usize| Node {
            follows: (host > 0).then_some(0),
            timeline: 1,
            shown_timeline: 1,
            wal: [0; MAX],
            length: 0,
            replayed: 0,
            knows_received: true,
            synchronous: (host == 0).then_some(1),
        };
        Self { nodes: [0, 1, 2].map(node), primary: 0, written: 0, acknowledged: [None; MAX] }
    }

    /// Whether a client of this host sees every write that was acknowledged before `as_of`.
    pub(super) fn shows(&self, host: usize, as_of: Instant) -> bool {
        self.contains_acknowledged(self.nodes[host].shown(), |at| at < as_of)
    }

    fn contains_acknowledged(&self, wal: &[usize], counts: impl Fn(Instant) -> bool) -> bool {
        let mut writes = self.acknowledged.iter().enumerate();
        writes.all(|(write, at)| !at.is_some_and(&counts) || wal.contains(&(write + 1)))
    }

    /// Returns the primary that sends its WAL to a standby.
    fn sender(&self, standby: usize) -> Option<usize> {
        let Node { follows, timeline, .. } = self.nodes[standby];
        follows
            .filter(|primary| !self.nodes[*primary].is_standby() && self.nodes[*primary].timeline == timeline)
    }

    /// Returns the next write that a primary may acknowledge.
    fn next_acknowledged(&self, primary: usize) -> Option<usize> {
        let standby = self.nodes[primary].synchronous.filter(|it| self.sender(*it) == Some(primary))?;
        let Node { wal, length, .. } = &self.nodes[standby];
        let mut writes = wal[..*length].iter().filter(|record| **record <= MAX).map(|record| record - 1);
        writes.find(|write| self.acknowledged[*write].is_none())
    }

    /// Returns all changes that can happen next.
    pub(super) fn possible(&self, limits: Limits) -> impl Iterator<Item = Change> {
        let of_host = |host| {
            [
                Change::Write(host),
                Change::Receive(host),
                Change::Replay(host),
                Change::Acknowledge(host),
                Change::Follow(host),
                Change::Synchronous(host),
                Change::Restart(host),
                Change::Restartpoint(host),
            ]
        };
        let all = (0..HOSTS).flat_map(of_host).chain([Change::Promote]);
        all.filter(move |change| self.is_possible(*change, limits))
    }

    fn is_possible(&self, change: Change, limits: Limits) -> bool {
        let node = |host: usize| &self.nodes[host];
        match change {
            Change::Write(host) => !node(host).is_standby() && self.written < limits.writes,
            Change::Receive(host) => {
                self.sender(host).is_some_and(|sender| node(host).length < node(sender).length)
            }
            Change::Replay(host) => node(host).is_standby() && node(host).replayed < node(host).length,
            Change::Acknowledge(host) => self.next_acknowledged(host).is_some(),
            Change::Promote => {
                let Node { synchronous, timeline, .. } = node(self.primary);
                synchronous.is_some() && *timeline <= limits.promotions
            }
            Change::Follow(host) => host != self.primary && node(host).follows != Some(self.primary),
            Change::Synchronous(host) => {
                self.sender(host) == Some(self.primary)
                    && node(self.primary).synchronous != Some(host)
                    && self.contains_acknowledged(&node(host).wal, |_| true)
            }
            Change::Restart(host) => limits.restarts && node(host).is_standby() && node(host).knows_received,
            Change::Restartpoint(host) => node(host).shown_timeline < node(host).timeline,
        }
    }

    /// Makes a change that is possible.
    pub(super) fn change(&mut self, change: Change, now: Instant) {
        match change {
            Change::Write(host) => {
                self.written += 1;
                self.nodes[host].push(self.written);
            }
            Change::Receive(host) => {
                let next = self.sender(host).map(|sender| self.nodes[sender].wal[self.nodes[host].length]);
                self.nodes[host].push(next.unwrap());
                self.nodes[host].knows_received = true;
            }
            Change::Replay(host) => self.nodes[host].replayed += 1,
            Change::Acknowledge(host) => {
                let write = self.next_acknowledged(host).unwrap();
                self.acknowledged[write] = Some(now);
            }
            Change::Promote => {
                let Node { synchronous, timeline, .. } = self.nodes[self.primary];
                self.primary = synchronous.unwrap();
                let node = &mut self.nodes[self.primary];
                (node.follows, node.timeline) = (None, timeline + 1);
                node.push(MAX + node.timeline as usize);
                node.replayed = node.length;
            }
            Change::Follow(host) => {
                let Node { wal, length, timeline, .. } = self.nodes[self.primary];
                let node = &mut self.nodes[host];
                // `pg_rewind` removes what the primary does not have.
                let both = wal[..length].iter().zip(&node.wal[..node.length]);
                let common = both.take_while(|(one, other)| one == other).count();
                node.wal[common..].fill(0);
                node.replayed = if node.is_standby() { node.replayed.min(common) } else { common };
                (node.length, node.timeline, node.knows_received) = (common, timeline, false);
                (node.follows, node.synchronous) = (Some(self.primary), None);
            }
            Change::Synchronous(host) => self.nodes[self.primary].synchronous = Some(host),
            Change::Restart(host) => self.nodes[host].knows_received = false,
            Change::Restartpoint(host) => self.nodes[host].shown_timeline = self.nodes[host].timeline,
        }
    }
}
