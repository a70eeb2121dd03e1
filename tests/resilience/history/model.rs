//! What some animals with neighbouring identifiers may do, one operation at a time: the specification that the checker
//! compares histories with.

use todc_utils::Specification;

/// The number of animals that are judged together.
pub const SIZE: usize = 4;

/// The state of one addition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Slot {
    /// Nothing was stored.
    Absent,
    /// A page went past the identifier without the animal, so it must not be stored any more.
    Passed,
    /// This variant was stored. The identifier is `None` until a response shows it.
    Stored { variant: u8, id: Option<i64> },
}

/// The result of an addition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    /// 201 without `Idempotency-Replayed`: this request stored the animal.
    Now(i64),
    /// 201 with `Idempotency-Replayed: ?1`: an earlier request stored the same animal.
    Before(i64),
    /// 422: an earlier request with the same idempotency key stored a different animal.
    Differs,
    /// No response: the request stores the animal at any later time or never, or replays.
    Unknown,
}

/// An animal that a response contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    pub slot: usize,
    pub variant: u8,
    pub id: i64,
}

/// An operation, as far as it concerns these animals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    Add { slot: usize, variant: u8, added: Added },
    Read(Read),
}

/// One read of a single moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Read {
    pub present: Vec<Seen>,
    /// The animals that were not returned, although the read covers their identifiers.
    pub absent: Vec<usize>,
    /// Those of `absent` that are before the last one of their page: nothing is added there later.
    pub passed: Vec<usize>,
}

/// The specification.
pub struct Animals;

impl Specification for Animals {
    type State = [Slot; SIZE];
    type Operation = Operation;

    fn init() -> Self::State {
        [Slot::Absent; SIZE]
    }

    fn apply(operation: &Operation, before: &Self::State) -> (bool, Self::State) {
        let mut state = *before;
        let valid = match operation {
            Operation::Add { slot, variant, added } => add(&mut state[*slot], *variant, *added),
            Operation::Read(Read { present, absent, passed }) => {
                let seen = present.iter().all(|seen| see(&mut state[seen.slot], seen.variant, seen.id));
                let missed = absent.iter().all(|slot| !matches!(state[*slot], Slot::Stored { .. }));
                if missed {
                    passed.iter().for_each(|slot| state[*slot] = Slot::Passed);
                }
                seen && missed
            }
        };
        (valid, if valid { state } else { *before })
    }
}

fn add(slot: &mut Slot, variant: u8, added: Added) -> bool {
    match (added, *slot) {
        (Added::Now(id), Slot::Absent) => {
            *slot = Slot::Stored { variant, id: Some(id) };
            true
        }
        (Added::Now(_), _) => false,
        (Added::Before(id), _) => see(slot, variant, id),
        (Added::Differs, Slot::Stored { variant: stored, .. }) => stored != variant,
        (Added::Differs, _) => false,
        (Added::Unknown, Slot::Absent) => {
            *slot = Slot::Stored { variant, id: None };
            true
        }
        (Added::Unknown, _) => true,
    }
}

/// Whether a response with the animal is right. The first such response fixes the identifier.
fn see(slot: &mut Slot, variant: u8, id: i64) -> bool {
    match slot {
        Slot::Stored { variant: stored, id: known } if *stored == variant => *known.get_or_insert(id) == id,
        _ => false,
    }
}
