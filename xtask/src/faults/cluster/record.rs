//! What clients sent and received, and what follows from it: nothing lost, nothing twice, nothing stale.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A read must show every animal that was acknowledged this long before the request was sent.
const FRESH: Duration = Duration::from_secs(1);

/// Stored animals: identifiers and names.
pub(super) type Stored = Vec<(i64, String)>;

/// Whether a request adds an animal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Write,
    Read,
}

/// A response, or the end of a request without one.
struct Outcome {
    kind: Kind,
    replica: usize,
    at: Instant,
    /// 0 for no response.
    status: u16,
}

/// An acknowledged animal.
#[derive(Clone)]
struct Acknowledged {
    name: String,
    at: Instant,
}

/// The record of all clients of a fault.
#[derive(Default)]
pub(super) struct Record(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    outcomes: Vec<Outcome>,
    acknowledged: BTreeMap<i64, Acknowledged>,
    /// The identifiers in the order of their acknowledgements.
    order: Vec<i64>,
    /// The reads that lacked an animal that they must have shown, by replica.
    stale: BTreeMap<usize, usize>,
    /// Animals that a client that polls has left behind without seeing them.
    missed: usize,
    /// What was wrong in another way.
    wrong: Vec<String>,
}

/// A page of a list as a client got it.
pub(super) struct Page<'a> {
    /// All animals of the page have greater identifiers.
    pub(super) after: i64,
    pub(super) ids: &'a [i64],
    pub(super) has_next: bool,
}

/// What happened from the fault on.
pub(super) struct Summary {
    /// The longest time without a successful request at one replica.
    pub(super) without_writes: Duration,
    pub(super) without_reads: Duration,
    /// How often each status was returned, except for success; 0 stands for no response.
    pub(super) writes: BTreeMap<u16, usize>,
    pub(super) reads: BTreeMap<u16, usize>,
    pub(super) acknowledged: usize,
    pub(super) lost: usize,
    pub(super) doubled: usize,
    pub(super) stale: BTreeMap<usize, usize>,
    pub(super) missed: usize,
    pub(super) wrong: Vec<String>,
}

impl Record {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the end of a request.
    pub(super) fn ended(&self, kind: Kind, replica: usize, status: u16) {
        self.lock().outcomes.push(Outcome { kind, replica, at: Instant::now(), status });
    }

    /// Records that an animal was acknowledged.
    pub(super) fn acknowledged(&self, id: i64, name: String) {
        let mut inner = self.lock();
        let acknowledged = Acknowledged { name, at: Instant::now() };
        if let Some(other) = inner.acknowledged.insert(id, acknowledged.clone()) {
            inner.wrong.push(format!("identifier {id} for {} and {}", other.name, acknowledged.name));
        }
        inner.order.push(id);
    }

    /// Returns an animal that a read which is sent now must show: one of the latest, selected by `seed`.
    pub(super) fn expected(&self, seed: usize) -> Option<(i64, String)> {
        let inner = self.lock();
        let known = inner.order.iter().rev().take(400);
        let known: Vec<_> =
            known.filter(|id| inner.acknowledged[id].at.elapsed() > FRESH).take(100).collect();
        let id = **known.get(seed.checked_rem(known.len())?)?;
        Some((id, inner.acknowledged[&id].name.clone()))
    }

    /// Compares an animal that [`Record::expected`] returned with what a replica found.
    pub(super) fn found(&self, replica: usize, id: i64, name: &str, found: Option<&str>) {
        match found {
            None => *self.lock().stale.entry(replica).or_default() += 1,
            Some(found) if found != name => self.lock().wrong.push(format!("{id} is {found}, not {name}")),
            Some(_) => {}
        }
    }

    /// Compares a page with the animals that it must show. `sent` is when it was requested.
    pub(super) fn listed(&self, replica: usize, page: &Page<'_>, sent: Instant) {
        let mut inner = self.lock();
        let last = if page.has_next { page.ids.last().copied().unwrap_or(page.after) } else { i64::MAX };
        let ids: BTreeSet<i64> = page.ids.iter().copied().collect();
        let must = inner.acknowledged.range((Bound::Excluded(page.after), Bound::Included(last)));
        let mut must = must.filter(|(_, animal)| sent.saturating_duration_since(animal.at) > FRESH);
        if must.any(|(id, _)| !ids.contains(id)) {
            *inner.stale.entry(replica).or_default() += 1;
        }
    }

    /// Compares what a client that polls has seen up to `last` with what was acknowledged.
    pub(super) fn polled(&self, seen: &BTreeSet<i64>, last: i64) {
        let mut inner = self.lock();
        let missed = inner.acknowledged.range(..=last).filter(|(id, _)| !seen.contains(id)).count();
        inner.missed += missed;
    }

    /// Whether each of these replicas has had a successful request of this kind since `since`.
    pub(super) fn has_succeeded(&self, kind: Kind, replicas: usize, since: Instant) -> bool {
        (0..replicas).all(|replica| self.first_success(kind, replica, since).is_some())
    }

    /// When the first request of this kind that succeeded at a replica after `since` ended.
    pub(super) fn first_success(&self, kind: Kind, replica: usize, since: Instant) -> Option<Instant> {
        let inner = self.lock();
        let mut successes = inner.outcomes.iter().filter(|outcome| {
            outcome.kind == kind && outcome.replica == replica && outcome.at > since && outcome.is_success()
        });
        successes.next().map(|outcome| outcome.at)
    }

    /// Summarises what happened from `fault` to `end` at the first `replicas` replicas. `stored` are the identifiers and
    /// names of all animals afterwards.
    pub(super) fn summary(
        &self,
        replicas: usize,
        (fault, end): (Instant, Instant),
        stored: &[(i64, String)],
    ) -> Summary {
        let inner = self.lock();
        let longest = |kind| (0..replicas).map(|replica| inner.without(kind, replica, fault, end)).max();
        let failures = |kind| {
            let mut failures = BTreeMap::new();
            let counted =
                inner.outcomes.iter().filter(|it| it.kind == kind && it.at > fault && !it.is_success());
            counted.for_each(|it| *failures.entry(it.status).or_default() += 1);
            failures
        };
        let found: BTreeMap<i64, &str> = stored.iter().map(|(id, name)| (*id, &**name)).collect();
        let names: BTreeSet<&str> = stored.iter().map(|(_, name)| &**name).collect();
        let is_lost = |(id, animal): &(&i64, &Acknowledged)| found.get(id) != Some(&&*animal.name);
        Summary {
            without_writes: longest(Kind::Write).unwrap_or_default(),
            without_reads: longest(Kind::Read).unwrap_or_default(),
            writes: failures(Kind::Write),
            reads: failures(Kind::Read),
            acknowledged: inner.acknowledged.len(),
            lost: inner.acknowledged.iter().filter(is_lost).count(),
            doubled: stored.len() - names.len(),
            stale: inner.stale.clone(),
            missed: inner.missed,
            wrong: inner.wrong.clone(),
        }
    }
}

impl Outcome {
    fn is_success(&self) -> bool {
        // A 404 is a response too; whether it is right is counted separately.
        [200, 201, 404].contains(&self.status)
    }
}

impl Inner {
    /// The longest time without a success at a replica, from the last one before the fault on.
    fn without(&self, kind: Kind, replica: usize, fault: Instant, end: Instant) -> Duration {
        let of_replica = self.outcomes.iter().filter(|it| it.kind == kind && it.replica == replica);
        let mut times: Vec<_> =
            of_replica.filter(|it| it.is_success() && it.at <= end).map(|it| it.at).collect();
        times.push(end);
        times.sort();
        let first = times.iter().rposition(|at| *at <= fault).unwrap_or(0);
        times[first..].windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(animals: &[(i64, &str)]) -> Vec<(i64, String)> {
        animals.iter().map(|(id, name)| (*id, (*name).to_owned())).collect()
    }

    #[test]
    fn lost_and_doubled_animals_are_counted() {
        let (record, start) = (Record::default(), Instant::now());
        for id in 1..=3 {
            record.acknowledged(id, format!("animal {id}"));
        }
        let found = stored(&[(1, "animal 1"), (2, "animal 9"), (4, "animal 3"), (5, "animal 3")]);
        let summary = record.summary(1, (start, Instant::now()), &found);
        assert_eq!((summary.acknowledged, summary.lost, summary.doubled), (3, 2, 1));
    }

    #[test]
    fn only_animals_of_more_than_a_second_ago_must_be_shown() {
        let record = Record::default();
        record.acknowledged(1, "animal 1".to_owned());
        assert_eq!(record.expected(0), None);
        let now = Instant::now();
        let page = |ids| Page { after: 0, ids, has_next: false };
        record.listed(0, &page(&[]), now);
        assert!(record.lock().stale.is_empty());
        record.listed(0, &page(&[1]), now + 2 * FRESH);
        record.listed(1, &Page { after: 1, ids: &[], has_next: false }, now + 2 * FRESH);
        record.listed(1, &Page { after: 0, ids: &[], has_next: true }, now + 2 * FRESH);
        assert!(record.lock().stale.is_empty());
        record.listed(2, &page(&[2]), now + 2 * FRESH);
        assert_eq!(record.lock().stale.get(&2), Some(&1));
    }

    #[test]
    fn the_longest_time_without_a_success_is_that_of_the_worst_replica() {
        let record = Record::default();
        let start = Instant::now();
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        for (replica, time, status) in
            [(0, 90, 201), (1, 50, 201), (0, 200, 201), (1, 300, 503), (1, 400, 201), (0, 450, 201)]
        {
            record.lock().outcomes.push(Outcome { kind: Kind::Write, replica, at: at(time), status });
        }
        let summary = record.summary(2, (at(100), at(500)), &[]);
        assert_eq!(summary.without_writes, Duration::from_millis(350));
        assert_eq!(summary.writes, BTreeMap::from([(503, 1)]));
        assert_eq!(record.first_success(Kind::Write, 1, at(100)), Some(at(400)));
    }
}
