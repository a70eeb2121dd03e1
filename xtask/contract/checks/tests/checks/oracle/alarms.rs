//! Changes that are reported as breaking although no value was found that one side sends and the other refuses.
//!
//! Values do not prove that nothing breaks, but nearly every such change is a false alarm or one that the
//! comparison cannot decide. Each must belong to a kind with a reason.

use serde_json::Value;

use super::case::{
    Case, DIRECTIONS, Direction, breaks, changes_in, generated, is_required_but_not_listed, yaml,
};
use super::edit::places;
use super::instances::{Failures, pair, refused, sides};
use super::judge::{Judge, Part};
use super::shrink;
use super::values::{FEW, MANY, values};

/// The number of pairs in short runs.
const PAIRS: usize = 80;

/// One direction of a pair.
struct Alarm<'c> {
    direction: Direction,
    base: &'c Case,
    revision: &'c Case,
}

/// A kind of alarm: the reason why it is right or accepted, the condition, and the limit for each thousand
/// directions.
struct Kind {
    why: &'static str,
    most: usize,
    applies: fn(&Alarm<'_>) -> bool,
}

static KINDS: [Kind; 7] = [
    Kind {
        why: "a property is no longer listed although `required` names it: probably renamed",
        most: 30,
        applies: |it| {
            let changes = changes_in(it.direction, it.base, it.revision);
            changes.iter().all(|change| !change.breaks() || is_required_but_not_listed(change))
        },
    },
    Kind {
        why: "properties that are not listed were accepted and no longer are, although the schema lists others",
        most: 30,
        applies: |it| {
            let rules =
                ["request-additional-properties-forbidden", "request-additional-properties-specialized"];
            let changes = changes_in(it.direction, it.base, it.revision);
            changes.iter().all(|change| !change.breaks() || rules.contains(&change.rule.name))
        },
    },
    Kind {
        why: "a discriminator or a schema that it names changed: clients choose types by it, even for equal values",
        most: 30,
        applies: |it| yaml(it.base, it.revision).contains("discriminator: "),
    },
    Kind {
        why: "a schema of the sender has no values by the letter, so its keywords are compared",
        most: 100,
        applies: |it| admits_nothing(sides(it.direction, it.base, it.revision).0, it.direction),
    },
    Kind {
        why: "the number of properties is not always compared with the listed properties",
        most: 10,
        applies: |it| {
            let text = yaml(it.base, it.revision);
            ["minProperties: ", "maxProperties: "].iter().any(|keyword| text.contains(keyword))
        },
    },
    Kind {
        why: "patterns are compared with patterns, not with lengths and enums",
        most: 20,
        applies: |it| yaml(it.base, it.revision).contains("pattern: "),
    },
    Kind {
        why: "several alternatives together may include all values of one",
        most: 20,
        applies: |it| {
            let text = yaml(it.base, it.revision);
            ["oneOf: ", "anyOf: ", "not: "].iter().any(|keyword| text.contains(keyword))
        },
    },
];

/// Whether one of the schemas has a property.
fn any(case: &Case, property: impl Fn(&Value) -> bool) -> bool {
    let mut roots = std::iter::once(&case.schema).chain(case.components.values());
    roots.any(|root| places(root).iter().filter_map(|place| root.pointer(place)).any(&property))
}

pub(crate) fn admits_nothing(case: &Case, direction: Direction) -> bool {
    any(case, |schema| {
        let part = Case { schema: schema.clone(), components: case.components.clone() };
        let judge = Judge::new(&part, direction, Part::Sender);
        !values(direction, &[&part], FEW).iter().any(|value| judge.accepts(value))
    })
}

fn is_alarm(it: &Alarm<'_>) -> bool {
    breaks(&changes_in(it.direction, it.base, it.revision))
        && [FEW, MANY].iter().all(|most| refused(it.direction, it.base, it.revision, *most).1.is_none())
}

#[test]
fn a_breaking_change_without_a_refused_value_is_of_a_known_kind() {
    let (mut directions, mut breaking) = (0, 0);
    let mut kinds = [0; KINDS.len()];
    let mut failures = Failures::default();
    for (base, revision) in generated(PAIRS, pair) {
        if ![&base, &revision].into_iter().all(shrink::is_sound) {
            continue;
        }
        for direction in DIRECTIONS {
            let it = Alarm { direction, base: &base, revision: &revision };
            directions += 1;
            breaking += usize::from(breaks(&changes_in(direction, &base, &revision)));
            if !is_alarm(&it) {
                continue;
            }
            if let Some(kind) = KINDS.iter().position(|kind| (kind.applies)(&it)) {
                kinds[kind] += 1;
                continue;
            }
            let (base, revision) = shrink::pair(base.clone(), revision.clone(), |base, revision| {
                let it = Alarm { direction, base, revision };
                is_alarm(&it) && !KINDS.iter().any(|kind| (kind.applies)(&it))
            });
            failures.add(direction, &base, &revision, None);
        }
    }
    println!(
        "alarms: {directions} directions, {breaking} reported as breaking, {} of unknown kind",
        failures.number()
    );
    for (kind, count) in KINDS.iter().zip(kinds) {
        println!("  {count}: {}", kind.why);
        assert!(count * 1000 <= kind.most * directions, "{count} of {directions}: {}", kind.why);
    }
    assert!(failures.number() == 0, "{}", failures.text());
}
