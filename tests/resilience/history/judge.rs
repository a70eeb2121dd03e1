//! Splits a record into independent histories and has each judged by the checker of `todc-utils`.
//!
//! Whether this file is right is tested in `wrong.rs`, with records that must be refused.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use todc_utils::{Action, History, WGLChecker};

use crate::history::model::{Added, Animals, Operation, Read, SIZE, Seen};
use crate::history::recording::{Animal, Answer, Call, Operation as Recorded};

/// The result for a record.
#[derive(Debug, Default)]
pub struct Verdict {
    /// The histories that were judged.
    pub histories: usize,
    /// The operations in them. A page belongs to several histories.
    pub judged: usize,
    /// The operations in the longest of them.
    pub longest: usize,
    /// The refused histories, as text.
    pub refused: Vec<String>,
}

/// What is known of the additions with one number.
#[derive(Default)]
struct Member {
    /// The identifiers that responses showed, with the variant.
    ids: BTreeMap<i64, u8>,
    /// Whether responses showed two identifiers or two variants, which the checker refuses.
    is_disputed: bool,
    /// When the first addition was sent.
    begin: Option<usize>,
    /// When a response first showed that the animal is stored.
    known: Option<usize>,
    /// Whether an addition was rejected because of a different animal.
    reused: bool,
}

/// The place of a number: its history, and the slot in it.
type Places = BTreeMap<u32, (usize, usize)>;

/// One independent history.
struct Part<'a> {
    /// When the first addition was sent.
    begin: usize,
    /// From when on all animals are known to be stored.
    known: usize,
    /// Whether responses disagree about an animal, so that no read is left out.
    is_disputed: bool,
    operations: Vec<(&'a Recorded, Operation)>,
}

/// Judges a record.
pub fn judge(recorded: &[Recorded]) -> Verdict {
    let members = members(recorded);
    let mut verdict = Verdict::default();
    let mut numbers: BTreeMap<i64, Animal> = BTreeMap::new();
    for (&number, member) in &members {
        for (&id, &variant) in &member.ids {
            if let Some(other) = numbers.insert(id, Animal { number, variant }) {
                verdict
                    .refused
                    .push(format!("identifier {id} belongs to animals {} and {number}", other.number));
            }
        }
    }
    let (places, mut parts) = split(&members);
    for operation in recorded {
        project(operation, &numbers, &places, &mut parts);
    }
    for part in parts {
        verdict.histories += 1;
        verdict.judged += part.operations.len();
        verdict.longest = verdict.longest.max(part.operations.len());
        if !is_linearizable(&part, usize::MAX) {
            verdict.refused.push(describe(&part));
        }
    }
    verdict
}

/// Collects what the record says about each number.
fn members(recorded: &[Recorded]) -> BTreeMap<u32, Member> {
    let mut members: BTreeMap<u32, Member> = BTreeMap::new();
    for operation in recorded {
        let end = operation.end.as_ref();
        if let Call::Add(animal) = operation.call {
            let member = members.entry(animal.number).or_default();
            member.begin = Some(member.begin.map_or(operation.begin, |begin| begin.min(operation.begin)));
            member.reused |= matches!(end, Some((_, Answer::Reused)));
        }
        let Some((end, answer)) = end else { continue };
        for (id, animal) in shown(&operation.call, answer) {
            let member = members.entry(animal.number).or_default();
            let is_other = |variant| variant != animal.variant;
            member.is_disputed |= member.ids.insert(id, animal.variant).is_some_and(is_other);
            member.is_disputed |= member.ids.len() > 1;
            member.known = Some(member.known.map_or(*end, |known| known.min(*end)));
        }
    }
    members
}

/// Returns the animals that a response contains.
fn shown(call: &Call, answer: &Answer) -> Vec<(i64, Animal)> {
    match (call, answer) {
        (Call::Add(animal), Answer::Added { id, .. }) => vec![(*id, *animal)],
        (Call::Get(id), Answer::Found(animal)) => vec![(*id, *animal)],
        (_, Answer::Page { animals, .. }) => animals.clone(),
        _ => Vec::new(),
    }
}

/// Assigns numbers with neighbouring identifiers to one history. A number without an identifier has a history of its own
/// if a response depended on it; otherwise nothing was ever seen of it.
fn split<'a>(members: &BTreeMap<u32, Member>) -> (Places, Vec<Part<'a>>) {
    let mut order: Vec<(i64, u32)> = Vec::new();
    let mut groups: Vec<Vec<u32>> = Vec::new();
    for (&number, member) in members {
        match member.ids.keys().next() {
            Some(&first) => order.push((first, number)),
            None if member.reused => groups.push(vec![number]),
            None => {}
        }
    }
    order.sort_unstable();
    groups.extend(order.chunks(SIZE).map(|chunk| chunk.iter().map(|(_, number)| *number).collect()));
    let mut places = Places::new();
    let mut parts = Vec::new();
    for group in groups {
        for (slot, number) in group.iter().enumerate() {
            places.insert(*number, (parts.len(), slot));
        }
        let of_group = || group.iter().map(|number| &members[number]);
        parts.push(Part {
            begin: of_group().filter_map(|member| member.begin).min().unwrap_or(0),
            known: of_group().map(|member| member.known.unwrap_or(usize::MAX)).max().unwrap_or(usize::MAX),
            is_disputed: of_group().any(|member| member.is_disputed),
            operations: Vec::new(),
        });
    }
    (places, parts)
}

/// Adds an operation to the histories that it concerns.
fn project<'a>(
    recorded: &'a Recorded,
    numbers: &BTreeMap<i64, Animal>,
    places: &Places,
    parts: &mut [Part<'a>],
) {
    if let Call::Add(animal) = recorded.call {
        let Some(&(part, slot)) = places.get(&animal.number) else { return };
        let added = match &recorded.end {
            Some((_, Answer::Added { id, replayed: false })) => Added::Now(*id),
            Some((_, Answer::Added { id, replayed: true })) => Added::Before(*id),
            Some((_, Answer::Reused)) => Added::Differs,
            None => Added::Unknown,
            Some((_, other)) => unreachable!("{other:?}"),
        };
        let add = Operation::Add { slot, variant: animal.variant, added };
        let operations = &mut parts[part].operations;
        // What the second of two additions without a response can do, the first can do at the same time.
        if recorded.end.is_some() || operations.iter().all(|(_, operation)| *operation != add) {
            operations.push((recorded, add));
        }
        return;
    }
    let Some((end, answer)) = &recorded.end else { return };
    let mut reads: BTreeMap<usize, Read> = BTreeMap::new();
    let present = shown(&recorded.call, answer);
    let last = present.last().map(|(id, _)| *id);
    for (id, number) in absent(&recorded.call, answer, numbers, places) {
        let (part, slot) = places[&number];
        let read = reads.entry(part).or_default();
        read.absent.push(slot);
        if last.is_some_and(|last| id < last) {
            read.passed.push(slot);
        }
    }
    for (id, Animal { number, variant }) in present {
        let (part, slot) = places[&number];
        // A read that begins after all animals are known and shows them as before is right in any order.
        let is_after = recorded.begin > parts[part].known && !parts[part].is_disputed;
        if !is_after || reads.contains_key(&part) {
            reads.entry(part).or_default().present.push(Seen { slot, variant, id });
        }
    }
    for (part, read) in reads {
        // A read that ends before the first addition and shows nothing is right in any order.
        let is_before = *end < parts[part].begin && read.present.is_empty() && read.passed.is_empty();
        if !is_before {
            parts[part].operations.push((recorded, Operation::Read(read)));
        }
    }
}

/// Returns the identifiers and numbers of the animals that a response would contain if they were stored.
fn absent(call: &Call, answer: &Answer, numbers: &BTreeMap<i64, Animal>, places: &Places) -> Vec<(i64, u32)> {
    match (call, answer) {
        (Call::Get(id), Answer::NotFound) => {
            numbers.get(id).map(|animal| (*id, animal.number)).into_iter().collect()
        }
        (Call::Page { after, status }, Answer::Page { animals, more }) => {
            // A page with a next one ends at its last animal.
            let last = animals.last().map(|(id, _)| *id);
            let end = if *more { last.unwrap_or(*after) } else { i64::MAX };
            let present: BTreeSet<i64> = animals.iter().map(|(id, _)| *id).collect();
            let matching = |animal: &Animal| status.is_none() || animal.status() == *status;
            numbers
                .range(after.saturating_add(1)..)
                .take_while(|(id, _)| **id <= end)
                .filter(|(id, animal)| matching(animal) && !present.contains(id))
                .map(|(id, animal)| (*id, animal.number))
                .collect()
        }
        // All pages were read in the meantime, and the animals without an identifier were on none of them.
        (Call::All, Answer::Listed) => {
            let with_id: BTreeSet<u32> = numbers.values().map(|animal| animal.number).collect();
            let without_id = places.keys().filter(|number| !with_id.contains(number));
            without_id.map(|number| (i64::MAX, *number)).collect()
        }
        _ => Vec::new(),
    }
}

fn is_linearizable(part: &Part<'_>, until: usize) -> bool {
    let mut events = Vec::new();
    for (process, (recorded, operation)) in part.operations.iter().enumerate() {
        let end = recorded.end.as_ref().map_or(usize::MAX, |(end, _)| *end);
        let operation = match operation {
            _ if recorded.begin > until => continue,
            // The response is not known yet.
            Operation::Add { slot, variant, .. } if end > until => {
                Operation::Add { slot: *slot, variant: *variant, added: Added::Unknown }
            }
            Operation::Read(_) if end > until => continue,
            other => other.clone(),
        };
        events.push((recorded.begin, process, Action::Call(operation.clone())));
        // An addition without a response may take effect after all others, where no read shows it.
        events.push((if end > until { usize::MAX } else { end }, process, Action::Response(operation)));
    }
    if events.is_empty() {
        return true;
    }
    events.sort_by_key(|(time, ..)| *time);
    let actions = events.into_iter().map(|(_, process, action)| (process, action)).collect();
    WGLChecker::<Animals>::is_linearizable(History::from_actions(actions))
}

/// Returns the shortest beginning of a refused history that is refused, as text.
fn describe(part: &Part<'_>) -> String {
    let ends = part.operations.iter().filter_map(|(recorded, _)| Some(recorded.end.as_ref()?.0));
    let mut ends: Vec<usize> = ends.collect();
    ends.sort_unstable();
    // What is refused remains refused, whatever follows.
    let first = ends.partition_point(|end| is_linearizable(part, *end));
    let until = ends.get(first).copied().unwrap_or(usize::MAX);
    let mut text = format!("not linearizable at {until}:\n");
    for (Recorded { client, call, begin, end }, operation) in &part.operations {
        let end = end.as_ref().map_or(usize::MAX, |(end, _)| *end);
        match operation {
            _ if *begin > until => {}
            Operation::Add { .. } if end > until => {
                let _ = writeln!(text, "  from {begin}, client {client}: {call:?}, no response until then");
            }
            Operation::Add { added, .. } => {
                let _ = writeln!(text, "  {begin} to {end}, client {client}: {call:?}: {added:?}");
            }
            Operation::Read(_) if end > until => {}
            Operation::Read(_) => {
                let _ = writeln!(text, "  {begin} to {end}, client {client}: {call:?}: {operation:?}");
            }
        }
    }
    text
}
