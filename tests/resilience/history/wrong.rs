//! Records that must be refused. They show that the checker can refuse, and that nothing wrong is lost on the way to it.

use crate::history::judge::judge;
use crate::history::recording::{Animal, Answer, Call, Operation, Recording};

/// The client of these records.
const CLIENT: usize = 0;

fn animal(number: u32) -> Animal {
    Animal { number, variant: 0 }
}

fn added(id: i64) -> Answer {
    Answer::Added { id, replayed: false }
}

fn replayed(id: i64) -> Answer {
    Answer::Added { id, replayed: true }
}

/// Returns a call for all animals after an identifier, and its answer.
fn page(after: i64, animals: &[(i64, u32)]) -> (Call, Answer) {
    let animals = animals.iter().map(|(id, number)| (*id, animal(*number))).collect();
    (Call::Page { after, status: None }, Answer::Page { animals, more: false })
}

/// Whether calls that follow each other are linearizable. `None` stands for no response.
fn accepts(calls: &[(Call, Option<Answer>)]) -> bool {
    let recording = Recording::default();
    for (call, answer) in calls {
        let operation = recording.begin(CLIENT, call.clone());
        if let Some(answer) = answer {
            recording.end(operation, answer.clone());
        }
    }
    is_accepted(&recording)
}

fn is_accepted(recording: &Recording) -> bool {
    judge(&recording.operations()).refused.is_empty()
}

fn add(number: u32, answer: Answer) -> (Call, Option<Answer>) {
    (Call::Add(animal(number)), Some(answer))
}

fn add_without_response(number: u32) -> (Call, Option<Answer>) {
    (Call::Add(animal(number)), None)
}

fn get(id: i64, answer: Answer) -> (Call, Option<Answer>) {
    (Call::Get(id), Some(answer))
}

fn list(animals: &[(i64, u32)]) -> (Call, Option<Answer>) {
    let (call, answer) = page(0, animals);
    (call, Some(answer))
}

fn all() -> (Call, Option<Answer>) {
    (Call::All, Some(Answer::Listed))
}

#[test]
fn right_histories_are_accepted() {
    assert!(accepts(&[add(1, added(5)), get(5, Answer::Found(animal(1))), list(&[(5, 1)])]));
    // The first request took effect, whenever that was.
    assert!(accepts(&[add_without_response(1), get(5, Answer::NotFound), add(1, replayed(5)), all()]));
    assert!(accepts(&[add_without_response(1), list(&[]), list(&[(5, 1)])]));
    // The first request never took effect.
    assert!(accepts(&[add_without_response(1), list(&[]), add(1, added(5)), list(&[(5, 1)])]));
    assert!(accepts(&[add_without_response(1), list(&[]), all()]));
    // Of two animals with one idempotency key, the one without a response was stored.
    let other = (Call::Add(Animal { number: 1, variant: 1 }), Some(Answer::Reused));
    assert!(accepts(&[add_without_response(1), other, list(&[(5, 1)]), all()]));
    // A gap in the identifiers.
    assert!(accepts(&[add(1, added(5)), add(2, added(9)), list(&[(5, 1), (9, 2)])]));
}

#[test]
fn concurrent_calls_may_take_effect_in_any_order() {
    for (first, second, is_right) in
        [(added(5), replayed(5), true), (replayed(5), added(5), true), (added(5), added(5), false)]
    {
        let recording = Recording::default();
        let one = recording.begin(CLIENT, Call::Add(animal(1)));
        let other = recording.begin(CLIENT + 1, Call::Add(animal(1)));
        recording.end(one, first.clone());
        recording.end(other, second.clone());
        assert_eq!(is_accepted(&recording), is_right, "{first:?}, {second:?}");
    }
}

#[test]
fn a_doubled_addition_is_refused() {
    assert!(!accepts(&[add(1, added(5)), add(1, added(6))]));
    assert!(!accepts(&[add(1, added(5)), list(&[(5, 1), (6, 1)])]));
    assert!(!accepts(&[add_without_response(1), add(1, added(6)), list(&[(5, 1), (6, 1)])]));
    assert!(!accepts(&[add(1, added(5)), add(1, replayed(6))]));
    // Said to be new, although an earlier response had it.
    assert!(!accepts(&[add(1, added(5)), add(1, added(5))]));
    // Said to be a repetition of a request that stored nothing.
    assert!(!accepts(&[list(&[]), add(1, replayed(5))]));
}

#[test]
fn a_lost_animal_is_refused() {
    assert!(!accepts(&[add(1, added(5)), list(&[])]));
    assert!(!accepts(&[add(1, added(5)), get(5, Answer::NotFound)]));
    assert!(!accepts(&[add(1, added(5)), add(2, added(6)), list(&[(6, 2)])]));
    // Without an acknowledgement, but seen.
    assert!(!accepts(&[add_without_response(1), list(&[(5, 1)]), list(&[])]));
    // A 422 shows that an animal was stored.
    let other = (Call::Add(Animal { number: 1, variant: 1 }), Some(Answer::Reused));
    assert!(!accepts(&[add_without_response(1), other.clone(), list(&[]), all()]));
    assert!(!accepts(&[other, all()]));
}

#[test]
fn a_stale_read_is_refused() {
    let stale = get(5, Answer::NotFound);
    assert!(!accepts(&[add(1, added(5)), stale, get(5, Answer::Found(animal(1))), list(&[(5, 1)])]));
    assert!(!accepts(&[add(1, added(5)), list(&[]), list(&[(5, 1)])]));
    // A page without the animal is right only while the addition is in progress.
    for answered_before_the_page in [true, false] {
        let recording = Recording::default();
        let adding = recording.begin(CLIENT, Call::Add(animal(1)));
        let (call, answer) = page(0, &[]);
        if answered_before_the_page {
            recording.end(adding, added(5));
        }
        recording.both(CLIENT + 1, call, answer);
        if !answered_before_the_page {
            recording.end(adding, added(5));
        }
        assert_eq!(is_accepted(&recording), !answered_before_the_page);
    }
}

#[test]
fn an_animal_behind_the_last_one_of_a_page_is_refused() {
    let last = add(2, added(6));
    assert!(!accepts(&[add_without_response(1), last.clone(), list(&[(6, 2)]), list(&[(5, 1), (6, 2)])]));
    assert!(accepts(&[add_without_response(1), last, list(&[(5, 1), (6, 2)])]));
}

#[test]
fn pages_that_disagree_about_the_order_are_refused() {
    let recording = Recording::default();
    let adding = [1, 2].map(|number| recording.begin(CLIENT, Call::Add(animal(number))));
    // Not `page`: the gap before the last animal would be refused anyway.
    let read = |id, answer| recording.both(CLIENT + 1, Call::Get(id), answer);
    read(5, Answer::Found(animal(1)));
    read(6, Answer::NotFound);
    let other = |id, answer| recording.both(CLIENT + 2, Call::Get(id), answer);
    other(6, Answer::Found(animal(2)));
    other(5, Answer::NotFound);
    adding.iter().zip([5, 6]).for_each(|(adding, id)| recording.end(*adding, added(id)));
    assert!(!is_accepted(&recording));
}

#[test]
fn an_identifier_that_is_used_twice_is_refused() {
    assert!(!accepts(&[add(1, added(5)), add(2, added(5))]));
}

#[test]
fn a_wrong_animal_is_refused() {
    let other = Animal { number: 1, variant: 1 };
    assert!(!accepts(&[add(1, added(5)), (Call::Add(other), Some(replayed(5)))]));
    assert!(!accepts(&[add(1, added(5)), get(5, Answer::Found(other))]));
    assert!(!accepts(&[add(1, added(5)), add(1, Answer::Reused)]));
}

/// Changes an accepted record of a real run in several ways, and panics if one of them is accepted.
pub fn is_refused_when_changed(operations: &[Operation]) {
    let acknowledged =
        operations.iter().enumerate().filter_map(|(position, operation)| match operation.end {
            Some((end, Answer::Added { id, replayed: false })) => Some((position, end, id)),
            _ => None,
        });
    // One that no other request added, and that a later page shows.
    let is_only = |position: usize| {
        operations.iter().filter(|other| other.call == operations[position].call).count() == 1
    };
    let (position, end, id, stale) = acknowledged
        .skip(operations.len() / 20)
        .filter(|(position, ..)| is_only(*position))
        .find_map(|(position, end, id)| {
            let page = operations.iter().position(|page| page.begin > end && is_inside(page, id))?;
            Some((position, end, id, page))
        })
        .expect("an acknowledged animal on a page");
    let without = |page: &Operation| {
        let mut page = page.clone();
        if let Some((_, Answer::Page { animals, .. })) = &mut page.end {
            animals.retain(|(other, _)| *other != id);
        }
        page
    };
    let refused = |what: &str, operations: &[Operation]| {
        assert!(!judge(operations).refused.is_empty(), "a record with {what} is accepted");
    };

    let mut once = operations.to_vec();
    once[stale] = without(&operations[stale]);
    refused("one stale page", &once);

    let lost: Vec<Operation> = operations
        .iter()
        .map(|operation| if operation.begin > end { without(operation) } else { operation.clone() })
        .collect();
    refused("a lost animal", &lost);

    let mut doubled = operations.to_vec();
    doubled[position].end = Some((end, added(i64::MAX - 1)));
    refused("another identifier in a response", &doubled);

    let mut replay = operations.to_vec();
    replay[position].end = Some((end, replayed(id)));
    refused("a replay without a first request", &replay);
}

/// Whether a page has the animal, and would cover its identifier without it.
fn is_inside(page: &Operation, id: i64) -> bool {
    let Some((_, Answer::Page { animals, more })) = &page.end else { return false };
    let is_last = animals.last().is_some_and(|(last, _)| *last == id);
    animals.iter().any(|(other, _)| *other == id) && !(is_last && *more)
}
