//! What clients sent and received, and what follows from it: nothing lost, nothing twice, nothing stale.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound::{Excluded, Included, Unbounded};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The identifier and the name of a stored animal.
pub(super) type Animal = (i64, String);

/// What a client asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// To add an animal with this name.
    Add(String),
    /// An animal.
    Get(i64),
    /// A page of the animals with identifiers above `after`, by the target of its link.
    Page { after: i64, target: String },
}

/// A request that has ended.
#[derive(Clone)]
pub(super) struct Call {
    pub(super) replica: usize,
    pub(super) asked: Asked,
    pub(super) sent: Instant,
    pub(super) ended: Instant,
    /// 0 for no response.
    pub(super) status: u16,
    /// The animals of the response.
    pub(super) animals: Vec<Animal>,
    /// The target of the link to the next page.
    pub(super) next: Option<String>,
}

/// The calls of all clients during a fault, in the order of their ends.
#[derive(Default)]
pub(super) struct Record(pub(super) Mutex<Vec<Call>>);

/// What happened from the fault on.
#[derive(Debug, Default)]
pub(super) struct Summary {
    /// The longest time without a successful write, and read, at one replica.
    pub(super) without: [Duration; 2],
    /// How often each status was returned to writes, and to reads, except for success; 0 stands for no response.
    pub(super) failures: [BTreeMap<u16, usize>; 2],
    pub(super) acknowledged: usize,
    /// What must never happen: animals that were lost, stored twice or changed, or that a read lacked.
    pub(super) wrong: Vec<String>,
}

impl Call {
    pub(super) fn is_write(&self) -> bool {
        matches!(self.asked, Asked::Add(_))
    }

    fn is_success(&self) -> bool {
        // A 404 is a response too; whether it is right is counted separately.
        [200, 201, 404].contains(&self.status)
    }

    /// Returns the animal that was acknowledged.
    fn acknowledged(&self) -> Option<&Animal> {
        self.animals.first().filter(|_| self.is_write() && self.status == 201)
    }

    /// Whether the response lacks an animal of `acknowledged` that it must show.
    fn is_stale(&self, acknowledged: &BTreeMap<i64, &Call>) -> bool {
        let last = self.animals.last().map(|(id, _)| *id);
        let range = match self.asked {
            Asked::Add(_) => return false,
            Asked::Get(id) => (Included(id), Included(id)),
            Asked::Page { after, .. } if self.next.is_none() => (Excluded(after), Unbounded),
            // A page that should not be may end before it begins.
            Asked::Page { after, .. } => {
                (Excluded(after), Included(last.map_or(after, |last| last.max(after))))
            }
        };
        let ids: BTreeSet<i64> = self.animals.iter().map(|(id, _)| *id).collect();
        let mut must = acknowledged.range(range).filter(|(_, call)| call.ended < self.sent);
        self.is_success() && must.any(|(id, _)| !ids.contains(id))
    }
}

impl Record {
    /// Returns the identifier of an animal that was acknowledged before: one of the latest, selected by `seed`.
    pub(super) fn known(&self, seed: usize) -> Option<i64> {
        let calls = lock(&self.0);
        let known: Vec<_> = calls.iter().rev().filter_map(Call::acknowledged).take(100).collect();
        known.get(seed.checked_rem(known.len())?).map(|(id, _)| *id)
    }

    /// When the first write or read that succeeded at a replica after `since` ended.
    pub(super) fn first_success(&self, is_write: bool, replica: usize, since: Instant) -> Option<Instant> {
        let calls = lock(&self.0);
        let mut successes = calls.iter().filter(|call| {
            call.is_write() == is_write && call.replica == replica && call.ended > since && call.is_success()
        });
        successes.next().map(|call| call.ended)
    }

    /// Summarises what happened from `fault` to `end` at the first `replicas` replicas. `stored` are all animals
    /// afterwards.
    pub(super) fn summary(
        &self,
        replicas: usize,
        (fault, end): (Instant, Instant),
        stored: &[Animal],
    ) -> Summary {
        let calls = &*lock(&self.0);
        let longest = |is_write| {
            let times = (0..replicas).map(|replica| {
                without(calls, |call| call.is_write() == is_write && call.replica == replica, fault, end)
            });
            times.max().unwrap_or_default()
        };
        let mut summary = Summary { without: [true, false].map(longest), ..Summary::default() };
        let mut acknowledged = BTreeMap::new();
        for call in calls {
            if call.ended > fault && !call.is_success() {
                *summary.failures[usize::from(!call.is_write())].entry(call.status).or_default() += 1;
            }
            if let Some((id, name)) = call.acknowledged()
                && let Some(other) = acknowledged.insert(*id, call)
            {
                summary.wrong.push(format!("identifier {id} for {name} and {}", other.animals[0].1));
            }
        }
        let name = |id: &i64| acknowledged.get(id).map(|call| &call.animals[0].1);
        let mut stale = BTreeMap::<_, usize>::new();
        for call in calls {
            if call.is_stale(&acknowledged) {
                *stale.entry(call.replica).or_default() += 1;
            }
            let wrong = call.animals.iter().filter(|(id, found)| name(id).is_some_and(|name| name != found));
            summary.wrong.extend(wrong.map(|(id, found)| format!("{id} is {found}")));
        }
        // As many as a cell of the table can show.
        summary.wrong.truncate(3);
        let found: BTreeMap<i64, &String> = stored.iter().map(|(id, name)| (*id, name)).collect();
        let names: BTreeSet<&String> = found.values().copied().collect();
        let lost = acknowledged.keys().filter(|id| found.get(id).copied() != name(id)).count();
        let stale =
            stale.iter().map(|(replica, count)| (*count, format!("stale reads at replica {replica}")));
        let counts = [
            (lost, "lost".to_owned()),
            (stored.len() - names.len(), "stored twice".to_owned()),
            (missed(calls, &acknowledged), "missed by clients that poll".to_owned()),
        ];
        let counts = counts.into_iter().chain(stale).filter(|(count, _)| *count > 0);
        summary.wrong.extend(counts.map(|(count, what)| format!("{count} {what}")));
        summary.acknowledged = acknowledged.len();
        summary
    }
}

/// Returns the longest time without a success among these calls, from the last one before the fault on.
fn without(calls: &[Call], is_meant: impl Fn(&Call) -> bool, fault: Instant, end: Instant) -> Duration {
    let meant = calls.iter().filter(|call| is_meant(call) && call.is_success() && call.ended <= end);
    let mut times: Vec<_> = meant.map(|call| call.ended).chain([end]).collect();
    times.sort();
    let first = times.iter().rposition(|at| *at <= fault).unwrap_or(0);
    times[first..].windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or_default()
}

/// Returns how many acknowledged animals the clients that poll have left behind: one client at each replica.
fn missed(calls: &[Call], acknowledged: &BTreeMap<i64, &Call>) -> usize {
    let mut clients: BTreeMap<usize, (i64, BTreeSet<i64>)> = BTreeMap::new();
    for call in calls {
        if let Asked::Page { after, .. } = call.asked {
            let (last, seen) = clients.entry(call.replica).or_default();
            *last = after;
            seen.extend(call.animals.iter().map(|(id, _)| *id));
        }
    }
    let left = |(last, seen): &(i64, BTreeSet<i64>)| {
        acknowledged.range(..=*last).filter(|(id, _)| !seen.contains(id)).count()
    };
    clients.values().map(left).sum()
}

/// Locks, also after a thread panicked.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn animals(all: &[(i64, &str)]) -> Vec<Animal> {
        all.iter().map(|(id, name)| (*id, (*name).to_owned())).collect()
    }

    fn add() -> Asked {
        Asked::Add(String::new())
    }

    fn page(after: i64) -> Asked {
        Asked::Page { after, target: String::new() }
    }

    /// Returns a call that ended at once.
    fn call(replica: usize, asked: Asked, at: Instant, status: u16, shown: &[(i64, &str)]) -> Call {
        Call { replica, asked, sent: at, ended: at, status, animals: animals(shown), next: None }
    }

    #[test]
    fn lost_and_doubled_animals_are_counted() {
        let (start, record) = (Instant::now(), Record::default());
        let names = ["animal 1", "animal 2", "animal 3"];
        for (id, name) in (1..).zip(names) {
            record.0.lock().unwrap().push(call(0, add(), start, 201, &[(id, name)]));
        }
        let stored = animals(&[(1, "animal 1"), (2, "animal 9"), (4, "animal 3"), (5, "animal 3")]);
        let summary = record.summary(1, (start, start), &stored);
        assert_eq!(summary.acknowledged, 3);
        assert_eq!(summary.wrong, ["2 lost", "1 stored twice"]);
    }

    #[test]
    fn animals_that_were_acknowledged_before_must_be_shown() {
        let start = Instant::now();
        let added = call(0, add(), start, 201, &[(1, "animal 1")]);
        let acknowledged = BTreeMap::from([(1, &added)]);
        let later = start + Duration::from_millis(1);
        for (asked, at, status, shown, is_stale) in [
            (page(0), start, 200, &[][..], false),
            (page(0), later, 200, &[(1, "animal 1")], false),
            (page(1), later, 200, &[], false),
            (page(0), later, 503, &[], false),
            (page(0), later, 200, &[(2, "animal 2")], true),
            (Asked::Get(1), start, 404, &[], false),
            (Asked::Get(1), later, 404, &[], true),
            (Asked::Get(1), later, 200, &[(1, "animal 1")], false),
        ] {
            let read = call(1, asked.clone(), at, status, shown);
            assert_eq!(read.is_stale(&acknowledged), is_stale, "{asked:?} {status} {shown:?}");
        }
        // What comes after the last animal of a page may be on the next one.
        let mut read = call(1, page(-1), later, 200, &[(0, "animal 0")]);
        assert!(read.is_stale(&acknowledged));
        read.next = Some("/v1/pets?cursor=next".to_owned());
        assert!(!read.is_stale(&acknowledged));
        for shown in [&[][..], &[(-3, "animal 3")]] {
            read.animals = animals(shown);
            assert!(!read.is_stale(&acknowledged), "{shown:?}");
        }
    }

    #[test]
    fn animals_behind_a_client_that_polls_and_other_names_are_reported() {
        let (start, record) = (Instant::now(), Record::default());
        let calls = [
            call(0, add(), start, 201, &[(1, "animal 1")]),
            call(0, add(), start, 201, &[(2, "animal 2")]),
            call(0, page(0), start, 200, &[(2, "animal 3")]),
            call(0, page(2), start, 200, &[]),
        ];
        record.0.lock().unwrap().extend(calls);
        let summary = record.summary(1, (start, start), &animals(&[(1, "animal 1"), (2, "animal 2")]));
        assert_eq!(summary.wrong, ["2 is animal 3", "1 missed by clients that poll"]);
    }

    #[test]
    fn the_longest_time_without_a_success_is_that_of_the_worst_replica() {
        let record = Record::default();
        let start = Instant::now();
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        for (replica, time, status) in
            [(0, 90, 201), (1, 50, 201), (0, 200, 201), (1, 300, 503), (1, 400, 201), (0, 450, 201)]
        {
            record.0.lock().unwrap().push(call(replica, add(), at(time), status, &[]));
        }
        let summary = record.summary(2, (at(100), at(500)), &[]);
        assert_eq!(summary.without[0], Duration::from_millis(350));
        assert_eq!(summary.failures, [BTreeMap::from([(503, 1)]), BTreeMap::new()]);
        assert_eq!(record.first_success(true, 1, at(100)), Some(at(400)));
    }
}
