//! Which of several hosts is used, decided from what the monitor (`monitor.rs`) has seen of them.
//!
//! Writes and reads use the primary. It is the one with the highest timeline, which each promotion increases, and counts
//! only while nothing contradicts it: no host has a higher timeline, no standby has received more than it has written,
//! and, with three hosts or more, a majority responds. So an old primary that comes back alone is not used, nor one that
//! is cut off together with this process.
//!
//! While there is no such primary, reads use a standby. An acknowledged write has been received by a synchronous standby,
//! but which one that is only the primary knows. So all hosts except one, the primary, must respond; and a standby is
//! read once it has replayed all that any standby has received. That contains everything that was acknowledged before the
//! oldest of these observations ([`Read::as_of`]).
//!
//! Everything here is a function of observations and the time, without input or output.

use std::cmp::Ordering;
use std::mem;
use std::time::Duration;

use tokio::time::Instant;

/// How long an observation counts after its start. Less than [`MAX_AGE`], so that the next decision is made in time.
const FRESH: Duration = Duration::from_millis(800);
/// The maximum age of what a read returns: how long after [`Read::as_of`] a read may start.
pub(super) const MAX_AGE: Duration = Duration::from_secs(1);

/// What one poll found out about a host.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct HostStatus {
    /// When the poll started and ended.
    pub(super) started: Instant,
    pub(super) ended: Instant,
    pub(super) is_standby: bool,
    /// Of a standby a lower bound, because only superusers can see what it follows.
    pub(super) timeline: i64,
    /// The position in the WAL (LSN) up to which a primary has flushed it, and a standby received it.
    pub(super) received_lsn: u64,
    /// The LSN up to which a standby shows the changes.
    pub(super) replay_lsn: u64,
    /// Whether a commit on this primary waits for a standby.
    pub(super) is_synchronous: bool,
}

/// A host and its role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Target {
    /// The position in the URL.
    pub(super) host: usize,
    pub(super) is_standby: bool,
}

/// From which host to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Read {
    pub(super) from: Target,
    /// Reads return everything that was acknowledged before.
    pub(super) as_of: Instant,
}

impl Read {
    /// Whether a read may start now.
    pub(super) fn is_allowed(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.as_of) < MAX_AGE
    }
}

/// Which hosts to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Routing {
    /// The host to write to.
    pub(super) primary: Option<usize>,
    pub(super) read: Option<Read>,
}

/// What is known about the hosts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ClusterView {
    hosts: Vec<Host>,
    routing: Routing,
    /// The timeline of the last primary.
    timeline: i64,
    /// Whether commits on the last primary waited for a standby.
    was_synchronous: bool,
    /// The LSN that any standby has received since the last primary was promoted.
    received_lsn: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Host {
    /// Whether it was polled before, with or without success.
    is_known: bool,
    seen: Option<HostStatus>,
    /// What the poll before the last one found out.
    before: Option<HostStatus>,
    /// Whether this primary lacks what a standby has received.
    is_behind: bool,
}

impl Host {
    /// Returns the last observation of a standby that ended before this one of a primary started. A later one may have
    /// received what the primary wrote meanwhile.
    fn compared(&self, primary: &HostStatus) -> Option<&HostStatus> {
        let mut seen = [&self.seen, &self.before].into_iter().flatten().filter(|seen| seen.is_standby);
        seen.find(|seen| seen.ended <= primary.started)
    }
}

impl ClusterView {
    pub(super) fn new(hosts: usize) -> Self {
        Self {
            hosts: vec![Host::default(); hosts],
            routing: Routing::default(),
            timeline: 0,
            was_synchronous: false,
            received_lsn: 0,
        }
    }

    /// Notes the result of a poll; `None` if the host did not respond.
    pub(super) fn polled(&mut self, host: usize, seen: Option<HostStatus>) {
        if let Some(primary) = seen.as_ref().filter(|seen| !seen.is_standby) {
            let standbys = self.hosts.iter().filter_map(|host| host.compared(primary));
            let compared: Vec<bool> = standbys.map(|standby| is_ahead(standby, primary)).collect();
            if !compared.is_empty() {
                self.hosts[host].is_behind = compared.contains(&true);
            }
        }
        let known = &mut self.hosts[host];
        known.is_behind &= seen.as_ref().is_none_or(|seen| !seen.is_standby);
        known.is_known = true;
        known.before = mem::replace(&mut known.seen, seen);
    }

    /// Whether each host was polled.
    pub(super) fn is_complete(&self) -> bool {
        self.hosts.iter().all(|host| host.is_known)
    }

    /// Decides which hosts to use.
    pub(super) fn decide(&mut self, now: Instant) -> Routing {
        let is_fresh = |seen: &&HostStatus| now.saturating_duration_since(seen.started) < FRESH;
        let fresh: Vec<(usize, HostStatus)> = self
            .hosts
            .iter()
            .enumerate()
            .filter_map(|(host, known)| Some((host, known.seen.as_ref().filter(is_fresh)?.clone())))
            .collect();
        let primary = self.primary(&fresh);
        let read = match primary {
            Some((host, as_of)) => Some(Read { from: Target { host, is_standby: false }, as_of }),
            None => {
                let as_of = fresh.iter().map(|(_, seen)| seen.started).min();
                let from = self.standby(&fresh).map(|host| Target { host, is_standby: true });
                from.zip(as_of).map(|(from, as_of)| Read { from, as_of })
            }
        };
        self.routing = Routing { primary: primary.map(|(host, _)| host), read };
        self.routing
    }

    /// Returns the primary, if nothing contradicts it, and before when nothing did.
    fn primary(&mut self, fresh: &[(usize, HostStatus)]) -> Option<(usize, Instant)> {
        let primaries = fresh.iter().filter(|(_, seen)| !seen.is_standby);
        // If two hosts are equal, for example because they are two names of one, the one in use stays in use.
        let in_use = self.routing.primary;
        let (host, found) =
            primaries.max_by_key(|(host, seen)| (seen.timeline, Some(*host) == in_use, usize::MAX - host))?;
        let all = self.hosts.len();
        let is_majority = all < 3 || fresh.len() * 2 > all;
        let is_contradicted = found.timeline < self.timeline || self.hosts[*host].is_behind;
        // If all hosts respond, another primary would be seen, and what was seen before does not count. Else a standby
        // says whether there is another, as of the observation that can be compared.
        let mut as_of = fresh.iter().map(|(_, seen)| seen.started).min()?;
        if fresh.len() < all {
            if !is_majority || is_contradicted {
                return None;
            }
            for (standby, _) in fresh.iter().filter(|(_, seen)| seen.is_standby) {
                as_of = as_of.min(self.hosts[*standby].compared(found)?.started);
            }
        }
        if found.timeline != self.timeline {
            (self.timeline, self.received_lsn) = (found.timeline, 0);
        }
        self.was_synchronous = found.is_synchronous;
        // Not only what was seen now: a standby that restarts does not report what it had received.
        self.received_lsn = self.received_lsn.max(received_lsn(fresh));
        Some((*host, as_of))
    }

    /// Returns a standby that shows every acknowledged write.
    fn standby(&mut self, fresh: &[(usize, HostStatus)]) -> Option<usize> {
        if !self.was_synchronous || fresh.len() + 1 < self.hosts.len() {
            return None;
        }
        self.received_lsn = self.received_lsn.max(received_lsn(fresh));
        let timeline = fresh.iter().map(|(_, seen)| seen.timeline).max()?;
        let complete = fresh.iter().filter(|(_, seen)| {
            seen.is_standby && seen.timeline == timeline && seen.replay_lsn >= self.received_lsn
        });
        let in_use = self.routing.read.map(|read| read.from.host);
        complete.map(|(host, _)| *host).max_by_key(|host| (Some(*host) == in_use, usize::MAX - host))
    }
}

/// Returns the LSN up to which any standby has received the WAL.
fn received_lsn(fresh: &[(usize, HostStatus)]) -> u64 {
    let standbys = fresh.iter().filter(|(_, seen)| seen.is_standby);
    standbys.map(|(_, seen)| seen.received_lsn.max(seen.replay_lsn)).max().unwrap_or(0)
}

/// Whether a standby follows another primary than this one.
fn is_ahead(standby: &HostStatus, primary: &HostStatus) -> bool {
    match standby.timeline.cmp(&primary.timeline) {
        Ordering::Greater => true,
        // A primary sends what it has flushed.
        Ordering::Equal => standby.received_lsn > primary.received_lsn,
        // A standby that has not followed a promotion yet may have received what was never acknowledged.
        Ordering::Less => false,
    }
}

#[cfg(test)]
mod model;

#[cfg(test)]
mod tests {
    use super::*;

    const POLL: Duration = Duration::from_millis(10);

    /// A view with one clock, on which each poll takes [`POLL`].
    struct Test(ClusterView, Instant);

    impl Test {
        fn new(hosts: usize) -> Self {
            Self(ClusterView::new(hosts), Instant::now())
        }

        fn poll(
            &mut self,
            host: usize,
            is_standby: bool,
            timeline: i64,
            (received_lsn, replay_lsn): (u64, u64),
        ) {
            let started = self.1;
            self.1 += POLL;
            let is_synchronous = !is_standby;
            let seen = HostStatus {
                started,
                ended: self.1,
                is_standby,
                timeline,
                received_lsn,
                replay_lsn,
                is_synchronous,
            };
            self.0.polled(host, Some(seen));
        }

        fn primary(&mut self, host: usize, timeline: i64, flushed: u64) -> &mut Self {
            self.poll(host, false, timeline, (flushed, 0));
            self
        }

        fn standby(&mut self, host: usize, received_lsn: u64, replay_lsn: u64) -> &mut Self {
            self.poll(host, true, 1, (received_lsn, replay_lsn));
            self
        }

        fn gone(&mut self, host: usize) -> &mut Self {
            self.0.polled(host, None);
            self
        }

        /// Returns the primary, the host that is read, and the age of what is read.
        fn decide(&mut self) -> (Option<usize>, Option<usize>, Duration) {
            let routing = self.0.decide(self.1);
            let age = routing.read.map_or(Duration::ZERO, |read| self.1 - read.as_of);
            (routing.primary, routing.read.map(|read| read.from.host), age)
        }
    }

    /// Returns a view of three hosts, of which the first is the primary.
    fn three() -> Test {
        let mut test = Test::new(3);
        test.standby(1, 90, 90).standby(2, 95, 80).primary(0, 1, 100);
        assert_eq!(test.decide(), (Some(0), Some(0), 3 * POLL));
        test
    }

    #[test]
    fn the_primary_needs_a_majority_of_three() {
        let mut test = three();
        test.gone(1);
        assert_eq!(test.decide().0, Some(0));
        test.gone(2);
        assert_eq!(test.decide(), (None, None, Duration::ZERO));
        let mut two = Test::new(2);
        assert_eq!(two.primary(0, 1, 100).gone(1).decide().1, Some(0));
    }

    #[test]
    fn an_observation_counts_for_less_than_a_second() {
        let mut test = three();
        test.1 += FRESH - POLL * 5 / 2;
        // The first observation is too old, the second one counts.
        assert_eq!(test.decide(), (Some(0), Some(0), FRESH - POLL / 2));
        test.1 += POLL;
        assert_eq!(test.decide(), (None, None, Duration::ZERO));
        assert!(FRESH < MAX_AGE);
    }

    #[test]
    fn the_highest_timeline_wins_and_is_remembered() {
        let mut test = three();
        test.primary(1, 2, 99);
        assert_eq!(test.decide().0, Some(1));
        // The old primary, once the new one is not visible.
        test.gone(1);
        assert_eq!(test.decide().0, None);
        // If all hosts respond, there is no newer one.
        test.standby(1, 99, 99);
        assert_eq!(test.decide().0, Some(0));
    }

    #[test]
    fn a_primary_that_lacks_what_a_standby_has_received_is_old() {
        let mut test = Test::new(3);
        test.gone(1).standby(2, 101, 101).primary(0, 1, 100);
        assert_eq!(test.decide().0, None);
        // The standby was polled after the primary, so it may have received more meanwhile.
        let mut test = Test::new(3);
        test.gone(1).standby(2, 100, 100).primary(0, 1, 100).standby(2, 101, 101);
        assert_eq!(test.decide().0, Some(0));
        // A standby that did not follow the promotion yet.
        let mut test = Test::new(3);
        test.gone(0).standby(2, 101, 101).primary(1, 2, 100);
        assert_eq!(test.decide().0, Some(1));
        // One that is on a later timeline, as far as it has replayed.
        let mut test = Test::new(3);
        test.poll(2, true, 2, (90, 90));
        test.gone(1).primary(0, 1, 100);
        assert_eq!(test.decide().0, None);
    }

    #[test]
    fn polls_that_overlap_do_not_hide_an_old_primary() {
        let mut test = three();
        // The new primary is silent. The standby follows it, but reports the old timeline.
        test.gone(1);
        let mut overlapping = || {
            let started = test.1;
            test.standby(2, 120, 80);
            let ended = test.1;
            test.1 = started;
            test.primary(0, 1, 100);
            assert_eq!(test.1, ended);
            test.decide()
        };
        // The poll of the standby before these says that there was no new primary then.
        assert_eq!(overlapping(), (Some(0), Some(0), 3 * POLL));
        assert_eq!(overlapping(), (None, None, Duration::ZERO));
    }

    #[test]
    fn an_old_primary_that_was_a_standby_since_may_be_promoted() {
        let mut test = Test::new(2);
        test.standby(1, 101, 101).primary(0, 1, 100).gone(1);
        assert_eq!(test.decide().0, None);
        test.standby(0, 110, 110).primary(0, 1, 120);
        assert_eq!(test.decide().0, Some(0));
    }

    #[test]
    fn a_standby_is_read_when_it_has_replayed_what_any_standby_has_received() {
        let mut test = three();
        test.gone(0);
        assert_eq!(test.decide().1, None);
        test.standby(2, 95, 94);
        assert_eq!(test.decide().1, None);
        test.standby(2, 95, 95);
        assert_eq!(test.decide(), (None, Some(2), 5 * POLL));
        // After a restart, the other one reports less than it had received.
        test.standby(1, 10, 96).standby(2, 95, 95);
        assert_eq!(test.decide().1, Some(1));
        test.standby(1, 10, 10);
        assert_eq!(test.decide().1, None);
        // A new primary.
        test.primary(1, 2, 97);
        assert_eq!(test.decide().1, Some(1));
    }

    #[test]
    fn what_a_standby_had_received_before_its_restart_is_remembered() {
        let mut test = three();
        test.standby(2, 80, 80);
        assert_eq!(test.decide().0, Some(0));
        // One of them may have received up to 95 what the primary has acknowledged.
        test.gone(0);
        assert_eq!(test.decide().1, None);
        test.standby(2, 80, 95);
        assert_eq!(test.decide().1, Some(2));
    }

    #[test]
    fn a_standby_is_read_only_if_all_hosts_but_one_respond() {
        let mut test = three();
        test.gone(0).gone(1).standby(2, 95, 95);
        assert_eq!(test.decide().1, None);
        let mut two = Test::new(2);
        two.standby(1, 95, 95).primary(0, 1, 100).decide();
        assert_eq!(two.gone(0).decide().1, Some(1));
    }

    #[test]
    fn no_standby_is_read_without_synchronous_replication() {
        let mut test = three();
        test.0.hosts[0].seen.as_mut().unwrap().is_synchronous = false;
        test.decide();
        assert_eq!(test.gone(0).standby(2, 95, 95).decide().1, None);
    }

    #[test]
    fn two_names_of_one_host_do_not_alternate() {
        let mut test = Test::new(2);
        test.primary(0, 1, 100).primary(1, 1, 100);
        assert_eq!(test.decide().0, Some(0));
        test.gone(0);
        assert_eq!(test.decide().0, Some(1));
        test.primary(0, 1, 100);
        assert_eq!(test.decide().0, Some(1));
    }
}
