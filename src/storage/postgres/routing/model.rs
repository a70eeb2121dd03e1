//! Explores every order of events of a cluster, of the polls of its hosts, and of time, with the real [`ClusterView`].
//!
//! Any host may be silent for any time, and polls overlap. Left out is what the service cannot see without the rights of a
//! superuser (`src/storage/README.md`, "Failover"): an old primary that has written more since the promotion than the new
//! one, a standby that restarts after a promotion, and one that shows less after a restart than before.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use cluster::{Change, Cluster, HOSTS, Limits, Node};

use super::*;

mod cluster;

/// The unit of time: an observation is fresh in its own unit and the next one, and a read is allowed in one more.
const UNIT: Duration = Duration::from_millis(400);
/// The age in units from which on all are equal.
const OLD: u32 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Event {
    Cluster(Change),
    /// A poll starts.
    Ask(usize),
    /// A host answers a poll.
    Answer(usize),
    /// The answer of a host arrives.
    Arrive(usize),
    /// A host did not respond in time.
    Silent(usize),
    /// Time passes.
    Pass,
}

/// Changes before and after the first polls.
type Changes = (&'static [Change], &'static [Change]);

#[derive(Clone, Default, PartialEq, Eq, Hash)]
enum Poll {
    #[default]
    Idle,
    Asked(Instant),
    Answered(HostStatus),
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    view: ClusterView,
    polls: [Poll; HOSTS],
    cluster: Cluster,
    now: Instant,
}

impl State {
    /// Returns a cluster that made these changes, before and after its hosts were polled once.
    fn new((before, after): Changes, start: Instant) -> Self {
        let now = start + UNIT * (OLD + 1);
        let mut state =
            Self { view: ClusterView::new(HOSTS), polls: Default::default(), cluster: Cluster::new(), now };
        let polls = (0..HOSTS).flat_map(|host| [Event::Ask(host), Event::Answer(host), Event::Arrive(host)]);
        let [before, after] = [before, after].map(|changes| changes.iter().map(|it| Event::Cluster(*it)));
        before.chain(polls).chain(after).for_each(|event| state.happen(event));
        state
    }

    fn possible(&self, limits: Limits) -> Vec<Event> {
        let polls = self.polls.iter().enumerate().flat_map(|(host, poll)| match poll {
            Poll::Idle => vec![Event::Ask(host), Event::Silent(host)],
            Poll::Asked(_) => vec![Event::Answer(host)],
            Poll::Answered(_) => vec![Event::Arrive(host)],
        });
        self.cluster.possible(limits).map(Event::Cluster).chain(polls).chain([Event::Pass]).collect()
    }

    fn happen(&mut self, event: Event) {
        self.now += Duration::from_nanos(1);
        match event {
            Event::Cluster(change) => self.cluster.change(change, self.now),
            Event::Ask(host) => self.polls[host] = Poll::Asked(self.now),
            Event::Answer(host) => {
                if let Poll::Asked(started) = self.polls[host] {
                    self.polls[host] = Poll::Answered(seen(&self.cluster.nodes[host], started));
                }
            }
            Event::Arrive(host) => {
                if let Poll::Answered(seen) = mem::take(&mut self.polls[host]) {
                    self.polled(host, Some(HostStatus { ended: self.now, ..seen }));
                }
            }
            Event::Silent(host) => self.polled(host, None),
            Event::Pass => self.now += UNIT,
        }
    }

    /// Does what `monitor.rs` does with the result of a poll.
    fn polled(&mut self, host: usize, seen: Option<HostStatus>) {
        self.view.polled(host, seen);
        if self.view.is_complete() {
            self.view.decide(self.now);
        }
    }

    /// Makes states equal that differ only in the date: times keep their order, and their ages in units.
    fn normalise(&mut self, start: Instant) {
        let Self { view, polls, cluster, now } = self;
        let mut times = vec![&mut *now];
        let hosts = view.hosts.iter_mut();
        for seen in hosts.flat_map(|host| [&mut host.seen, &mut host.before]).flatten() {
            times.extend([&mut seen.started, &mut seen.ended]);
        }
        times.extend(view.routing.read.as_mut().map(|read| &mut read.as_of));
        for poll in polls {
            match poll {
                Poll::Idle => {}
                Poll::Asked(started) => times.push(started),
                Poll::Answered(seen) => times.extend([&mut seen.started, &mut seen.ended]),
            }
        }
        // Every read must show what was acknowledged before all else.
        let oldest = times.iter().map(|time| **time).min();
        for time in cluster.acknowledged.iter_mut().flatten() {
            if Some(*time) < oldest {
                *time = start;
            } else {
                times.push(time);
            }
        }
        let now = *times[0];
        let mut order: Vec<Instant> = times.iter().map(|time| **time).collect();
        order.sort_unstable_by(|one, other| other.cmp(one));
        order.dedup();
        for time in times {
            let place = order.iter().position(|other| other == time).unwrap();
            let units = now.duration_since(*time).as_nanos() / UNIT.as_nanos();
            let age = UNIT * OLD.min(units as u32) + Duration::from_nanos(place as u64);
            *time = start + UNIT * (OLD + 1) - age;
        }
    }

    /// Returns the rule that this state breaks.
    fn broken_rule(&self) -> Option<&'static str> {
        let Self { view: ClusterView { routing, .. }, cluster, .. } = self;
        if let Some(Read { from, as_of }) = routing.read.filter(|read| read.is_allowed(self.now)) {
            // A standby refuses a read of a primary.
            let is_refused = !from.is_standby && cluster.nodes[from.host].is_standby();
            if !is_refused && !cluster.shows(from.host, as_of) {
                return Some("a read returns what was acknowledged before `as_of`");
            }
        }
        let all_are_known = (0..HOSTS).all(|host| self.is_known(host));
        if all_are_known && routing.primary != Some(cluster.primary) {
            return Some("the primary is used while all hosts respond");
        }
        None
    }

    /// Whether the last poll of a host shows its present state.
    fn is_known(&self, host: usize) -> bool {
        let is_present = |found: &&HostStatus| {
            let present = HostStatus { ended: found.ended, ..seen(&self.cluster.nodes[host], found.started) };
            **found == present && self.now - found.started < FRESH
        };
        self.view.hosts[host].seen.as_ref().filter(is_present).is_some()
    }
}

/// Returns the result of the query of `monitor.rs`.
fn seen(node: &Node, started: Instant) -> HostStatus {
    HostStatus {
        started,
        ended: started,
        is_standby: node.is_standby(),
        timeline: node.timeline(),
        received_lsn: node.received() as u64,
        replay_lsn: node.replayed() as u64,
        is_synchronous: !node.is_standby(),
    }
}

/// Checks each state that at most `events` events reach. Returns the number of different ones of those before the last
/// event.
fn explore(changes: Changes, limits: Limits, events: usize) -> usize {
    let start = Instant::now();
    let fingerprint = |state: &State| {
        let mut hasher = DefaultHasher::new();
        state.hash(&mut hasher);
        hasher.finish()
    };
    let mut known = HashSet::new();
    // Each state with the place of its predecessor, and the event between them.
    let mut paths: Vec<(usize, Event)> = Vec::new();
    let mut states = vec![(usize::MAX, State::new(changes, start))];
    for depth in 1..=events {
        let mut next = Vec::new();
        for (place, state) in states {
            for event in state.possible(limits) {
                let mut after = state.clone();
                after.happen(event);
                if let Some(rule) = after.broken_rule() {
                    let mut path = vec![event];
                    let mut before = place;
                    while let Some((place, event)) = paths.get(before) {
                        path.push(*event);
                        before = *place;
                    }
                    path.reverse();
                    panic!("broken: {rule}, after {changes:?} and then {path:?}: {:?}", after.view);
                }
                if depth < events {
                    after.normalise(start);
                    if known.insert(fingerprint(&after)) {
                        next.push((paths.len(), after));
                        paths.push((place, event));
                    }
                }
            }
        }
        states = next;
    }
    known.len()
}

fn check(name: &str, changes: Changes, limits: Limits, events: usize) {
    let is_long = std::env::var_os("STORE_TESTS_LONG").is_some();
    let events = events + usize::from(is_long);
    println!("{name}: every order of {events} events, {} states", explore(changes, limits, events));
}

/// A write was acknowledged that one standby has not received.
#[test]
fn writes_and_restarts_in_every_order() {
    let write = &[Change::Write(0), Change::Receive(1), Change::Acknowledge(0)];
    check("writes and restarts", (write, &[]), Limits { writes: 2, promotions: 0, restarts: true }, 8);
}

#[test]
fn a_promotion_in_every_order() {
    check("a promotion", (&[], &[]), Limits { writes: 1, promotions: 1, restarts: false }, 7);
}

/// The old primary goes on, and the new one has acknowledged a write.
#[test]
fn the_time_after_a_promotion_in_every_order() {
    let promotion = &[
        Change::Promote,
        Change::Follow(2),
        Change::Receive(2),
        Change::Synchronous(2),
        Change::Write(1),
        Change::Receive(2),
        Change::Acknowledge(1),
    ];
    check("after a promotion", (&[], promotion), Limits { writes: 2, promotions: 1, restarts: false }, 8);
}
