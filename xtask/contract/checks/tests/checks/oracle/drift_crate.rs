//! The crate `drift` (Oxide Computer, Apache-2.0) as a second opinion.
//!
//! The crate reports two schemas as incompatible (another type, or another kind of composition), as different in a
//! way that it does not handle, or as the same. It does not distinguish the directions of a change, and does not
//! compare `nullable`, `readOnly` and `writeOnly`. Unhandled differences are ignored here.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use checks::breaking::Change;
use drift::ChangeClass;
use serde_json::Value;

use super::alarms::admits_nothing;
use super::case::{Case, DIRECTIONS, Dice, Direction, breaks, changes_in, generated, names, yaml};
use super::edit::edited;
use super::generate::{self, Vocabulary};
use super::instances::{is_overlap, refused, refused_from};
use super::judge::Part;
use super::shrink;
use super::values::{FEW, MANY};

/// The number of pairs in short runs.
const PAIRS: usize = 120;

/// The result of the crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Opinion {
    Incompatible,
    Unhandled,
    Same,
    Failed,
    Panicked,
}

fn opinion(direction: Direction, base: &Case, revision: &Case) -> Opinion {
    let (base, revision) = (base.document(direction), revision.document(direction));
    let Ok(result) = catch_unwind(AssertUnwindSafe(|| drift::compare(&base, &revision))) else {
        return Opinion::Panicked;
    };
    let Ok(changes) = result else { return Opinion::Failed };
    let classes: Vec<ChangeClass> =
        changes.iter().flat_map(|change| change.changes.iter().map(|info| info.class)).collect();
    let is_incompatible = |class| {
        use ChangeClass::{BackwardIncompatible, ForwardIncompatible, Incompatible};
        matches!(class, BackwardIncompatible | ForwardIncompatible | Incompatible)
    };
    match () {
        () if classes.iter().any(|class| is_incompatible(*class)) => Opinion::Incompatible,
        () if classes.contains(&ChangeClass::Unhandled) => Opinion::Unhandled,
        () => Opinion::Same,
    }
}

/// A pair and both results.
struct Comparison<'c> {
    direction: Direction,
    base: &'c Case,
    revision: &'c Case,
    opinion: Opinion,
    /// Whether this crate reports that clients break.
    breaks: bool,
}

/// A kind of disagreement: the reason why this crate is right, and the condition.
struct Kind {
    why: &'static str,
    applies: fn(&Comparison<'_>) -> bool,
}

static KINDS: [Kind; 6] = [
    Kind {
        why: "`drift` ignores the direction: the opposite change breaks clients or has a note about an overlap, and no \
              value shows that this one breaks them",
        applies: |it| {
            let back = changes_in(it.direction, it.revision, it.base);
            let overlaps = |change: &Change| change.rule.name.ends_with("-alternatives-overlap");
            it.opinion == Opinion::Incompatible
                && !it.breaks
                && refused(it.direction, it.base, it.revision, FEW).1.is_none()
                && (breaks(&back) || back.iter().any(overlaps))
        },
    },
    Kind {
        why: "`drift` compares the text of schemas: no value is valid against only one of these two",
        applies: |it| {
            it.opinion == Opinion::Incompatible
                && !it.breaks
                && refused(it.direction, it.base, it.revision, FEW).1.is_none()
                && refused(it.direction, it.revision, it.base, FEW).1.is_none()
        },
    },
    Kind {
        why: "the refused value matches several alternatives of `oneOf`, which is a note",
        applies: |it| {
            let value = refused(it.direction, it.base, it.revision, FEW).1;
            let changes = changes_in(it.direction, it.base, it.revision);
            it.opinion == Opinion::Incompatible
                && !it.breaks
                && value
                    .is_some_and(|value| is_overlap(it.direction, (it.base, it.revision), &value, &changes))
        },
    },
    Kind {
        why: "`drift` does not compare `nullable`, `readOnly` and `writeOnly`",
        applies: |it| {
            it.opinion == Opinion::Same
                && it.breaks
                && without_uncompared(it.base) == without_uncompared(it.revision)
        },
    },
    Kind {
        why: "`drift` ignores the difference (`additionalProperties: true`, a type that excludes the values of `enum`): a \
              value of one side is refused by the other",
        applies: |it| {
            it.opinion == Opinion::Same
                && it.breaks
                && refused_from(Part::Receiver, it.direction, it.base, it.revision, MANY).1.is_some()
        },
    },
    Kind {
        why: "a schema accepts nothing by the letter, so its keywords are compared",
        applies: |it| {
            it.opinion == Opinion::Same
                && it.breaks
                && [it.base, it.revision].into_iter().any(|case| admits_nothing(case, it.direction))
        },
    },
];

/// The case without the keywords that `drift` does not compare.
fn without_uncompared(case: &Case) -> Case {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(map) => {
                for keyword in ["nullable", "readOnly", "writeOnly"] {
                    map.remove(keyword);
                }
                map.values_mut().for_each(strip);
            }
            Value::Array(list) => list.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let mut case = case.clone();
    strip(&mut case.schema);
    case.components.values_mut().for_each(strip);
    case
}

impl<'c> Comparison<'c> {
    fn new(direction: Direction, base: &'c Case, revision: &'c Case) -> Self {
        let opinion = opinion(direction, base, revision);
        let breaks = breaks(&changes_in(direction, base, revision));
        Self { direction, base, revision, opinion, breaks }
    }

    fn is_disagreement(&self) -> bool {
        match self.opinion {
            Opinion::Incompatible => !self.breaks,
            Opinion::Same => self.breaks,
            Opinion::Unhandled | Opinion::Failed | Opinion::Panicked => false,
        }
    }

    /// The position of its kind of disagreement in [`KINDS`].
    fn kind(&self) -> Option<usize> {
        KINDS.iter().position(|kind| (kind.applies)(self))
    }
}

#[test]
fn each_disagreement_with_the_crate_drift_is_of_a_known_kind() {
    let mut verdicts: BTreeMap<(Opinion, bool), usize> = BTreeMap::new();
    let mut kinds = [0; KINDS.len()];
    let mut failures: BTreeMap<String, (usize, String)> = BTreeMap::new();
    let mut pairs = 0;
    let make = |dice: &mut Dice| {
        let vocabulary = Vocabulary::random(dice);
        let base = generate::case(dice, vocabulary);
        let revision = edited(dice, &base, vocabulary);
        (base, revision)
    };
    for (base, revision) in generated(PAIRS, make) {
        if ![&base, &revision].into_iter().all(shrink::is_sound) {
            continue;
        }
        pairs += 1;
        for direction in DIRECTIONS {
            let found = Comparison::new(direction, &base, &revision);
            let opinion = found.opinion;
            *verdicts.entry((opinion, found.breaks)).or_default() += 1;
            if !found.is_disagreement() {
                continue;
            }
            if let Some(kind) = found.kind() {
                kinds[kind] += 1;
                continue;
            }
            let fails = |base: &Case, revision: &Case| {
                let found = Comparison::new(direction, base, revision);
                found.is_disagreement() && found.kind().is_none()
            };
            let (base, revision) = shrink::pair(base.clone(), revision.clone(), fails);
            let said = names(&changes_in(direction, &base, &revision));
            let text =
                format!("# {direction:?}, drift: {opinion:?}, ours: {said}\n{}", yaml(&base, &revision));
            failures.entry(format!("drift {opinion:?} {said}")).or_insert((0, text)).0 += 1;
        }
    }
    println!("drift: {pairs} pairs in two directions");
    for ((opinion, breaks), count) in &verdicts {
        println!("  drift {opinion:?}, ours {}: {count}", if *breaks { "breaking" } else { "not breaking" });
    }
    for (kind, count) in KINDS.iter().zip(kinds) {
        println!("  {count}: {}", kind.why);
    }
    let text: String =
        failures.iter().map(|(said, (count, text))| format!("## {count} times, {said}\n{text}\n")).collect();
    assert!(failures.is_empty(), "{text}");
    let stale: Vec<_> =
        KINDS.iter().zip(kinds).filter(|(_, count)| *count == 0).map(|(kind, _)| kind.why).collect();
    assert!(stale.is_empty() || !kit::is_long(), "no disagreement is of this kind: {stale:?}");
    // The crate must be able to read every generated document.
    let failed = verdicts.iter().filter(|((opinion, _), _)| *opinion == Opinion::Failed);
    assert_eq!(failed.map(|(_, count)| count).sum::<usize>(), 0, "`drift` could not read the documents");
}
