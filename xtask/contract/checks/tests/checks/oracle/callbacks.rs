//! Callbacks: the service sends their requests and receives their responses.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::case::{Case, Dice, Direction, breaks, changes, changes_in, generated, names, yaml};
use super::edit::edited;
use super::generate::{self, Vocabulary};
use super::shrink;

/// The number of pairs in short runs.
const PAIRS: usize = 20;

/// A direction in a callback, and the direction of the operation with the same sender.
const REVERSED: [(Direction, Direction); 2] =
    [(Direction::Request, Direction::Response), (Direction::Response, Direction::Request)];

/// Returns a document whose operation has a callback with the schema in its request or response.
fn callback(case: &Case, direction: Direction) -> Value {
    let mut document = case.document(direction);
    let called = std::mem::take(&mut document["paths"]["/a"]["post"]);
    document["paths"]["/a"]["post"] = json!({
        "responses": {"204": {"description": "Done."}},
        "callbacks": {"done": {"{$request.query.url}": {"post": called}}},
    });
    document
}

#[test]
fn a_callback_reverses_the_direction() {
    let (mut pairs, mut breaking, mut failures) = (0, 0, String::new());
    let make = |dice: &mut Dice| {
        // `readOnly` and `writeOnly` depend on request and response, not on the sender.
        let vocabulary = Vocabulary { hiding: false, ..Vocabulary::random(dice) };
        let base = generate::case(dice, vocabulary);
        let revision = edited(dice, &base, vocabulary);
        (base, revision)
    };
    for (base, revision) in generated(PAIRS, make) {
        if ![&base, &revision].into_iter().all(shrink::is_sound) {
            continue;
        }
        pairs += 1;
        for (direction, turned) in REVERSED {
            let called = changes(&callback(&base, direction), &callback(&revision, direction));
            let direct = changes_in(turned, &base, &revision);
            breaking += usize::from(breaks(&direct));
            if breaks(&called) != breaks(&direct) {
                let (called, direct) = (names(&called), names(&direct));
                let _ = writeln!(
                    failures,
                    "## {direction:?} of a callback: {called}; {turned:?}: {direct}\n{}",
                    yaml(&base, &revision)
                );
            }
        }
    }
    let wrong = failures.matches("## ").count();
    println!("callbacks: {pairs} pairs, {breaking} directions breaking, {wrong} judged differently");
    assert!(breaking > pairs / 4, "only {breaking} of {pairs} pairs break");
    assert!(failures.is_empty(), "{failures}");
}
