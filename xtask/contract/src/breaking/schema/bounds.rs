//! Bounds of numbers, lengths and counts.

use std::cmp::Ordering;

use crate::document::{Node, Value};

use super::{Both, Schema};
use crate::breaking::comparer::Comparer;
use crate::breaking::rules::{self, Family};
use crate::breaking::values::{order, same, shown};

/// A keyword that bounds something, and the rules for each way it can change.
struct Bound {
    keyword: &'static str,
    /// Of several such bounds the smallest counts, rather than the greatest.
    upper: bool,
    set: &'static Family,
    unset: &'static Family,
    increased: &'static Family,
    decreased: &'static Family,
    /// The keyword that takes the bound itself out, and its rules.
    exclusive: Option<(&'static str, &'static Family, &'static Family)>,
}

static BOUNDS: &[Bound] = &[
    Bound {
        keyword: "maximum",
        upper: true,
        set: &rules::MAX_SET,
        unset: &rules::MAX_UNSET,
        increased: &rules::MAX_INCREASED,
        decreased: &rules::MAX_DECREASED,
        exclusive: Some(("exclusiveMaximum", &rules::EXCLUSIVE_MAX_SET, &rules::EXCLUSIVE_MAX_UNSET)),
    },
    Bound {
        keyword: "minimum",
        upper: false,
        set: &rules::MIN_SET,
        unset: &rules::MIN_UNSET,
        increased: &rules::MIN_INCREASED,
        decreased: &rules::MIN_DECREASED,
        exclusive: Some(("exclusiveMinimum", &rules::EXCLUSIVE_MIN_SET, &rules::EXCLUSIVE_MIN_UNSET)),
    },
    Bound {
        keyword: "maxLength",
        upper: true,
        set: &rules::MAX_LENGTH_SET,
        unset: &rules::MAX_LENGTH_UNSET,
        increased: &rules::MAX_LENGTH_INCREASED,
        decreased: &rules::MAX_LENGTH_DECREASED,
        exclusive: None,
    },
    Bound {
        keyword: "minLength",
        upper: false,
        set: &rules::MIN_LENGTH_INCREASED,
        unset: &rules::MIN_LENGTH_DECREASED,
        increased: &rules::MIN_LENGTH_INCREASED,
        decreased: &rules::MIN_LENGTH_DECREASED,
        exclusive: None,
    },
    Bound {
        keyword: "maxItems",
        upper: true,
        set: &rules::MAX_ITEMS_SET,
        unset: &rules::MAX_ITEMS_UNSET,
        increased: &rules::MAX_ITEMS_INCREASED,
        decreased: &rules::MAX_ITEMS_DECREASED,
        exclusive: None,
    },
    Bound {
        keyword: "minItems",
        upper: false,
        set: &rules::MIN_ITEMS_SET,
        unset: &rules::MIN_ITEMS_UNSET,
        increased: &rules::MIN_ITEMS_INCREASED,
        decreased: &rules::MIN_ITEMS_DECREASED,
        exclusive: None,
    },
    Bound {
        keyword: "maxProperties",
        upper: true,
        set: &rules::MAX_PROPERTIES_SET,
        unset: &rules::MAX_PROPERTIES_UNSET,
        increased: &rules::MAX_PROPERTIES_INCREASED,
        decreased: &rules::MAX_PROPERTIES_DECREASED,
        exclusive: None,
    },
    Bound {
        keyword: "minProperties",
        upper: false,
        set: &rules::MIN_PROPERTIES_INCREASED,
        unset: &rules::MIN_PROPERTIES_DECREASED,
        increased: &rules::MIN_PROPERTIES_INCREASED,
        decreased: &rules::MIN_PROPERTIES_DECREASED,
        exclusive: None,
    },
];

pub(super) fn compare<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
    for bound in BOUNDS {
        one(cx, both, bound);
    }
    multiple_of(cx, both);
    unique_items(cx, both);
}

fn one<'a>(cx: &mut Comparer<'a>, both: &Both<'a>, bound: &Bound) {
    let keyword = bound.keyword;
    let (base, revision) = (strictest(&both.base, bound), strictest(&both.revision, bound));
    let (old, new) = match (base, revision) {
        (None, None) => return,
        (None, Some(new)) => {
            let what = format!("`{keyword}` was set to {}", shown(new.0));
            return both.report(cx, bound.set, None, Some(new.0), what);
        }
        (Some(old), None) => {
            let what = format!("`{keyword}`, {}, was removed", shown(old.0));
            return both.report(cx, bound.unset, Some(old.0), None, what);
        }
        (Some(old), Some(new)) => (old, new),
    };
    let what = || format!("`{keyword}` went from {} to {}", shown(old.0), shown(new.0));
    match order(old.0, new.0) {
        Some(Ordering::Less) => both.report(cx, bound.increased, Some(old.0), Some(new.0), what()),
        Some(Ordering::Greater) => both.report(cx, bound.decreased, Some(old.0), Some(new.0), what()),
        _ => {}
    }
    let Some((keyword, set, unset)) = bound.exclusive else { return };
    match (old.1, new.1) {
        (None, Some(node)) => {
            both.report(cx, set, None, Some(node), format!("`{keyword}` was set: the bound itself is out"));
        }
        (Some(node), None) => {
            let what = format!("`{keyword}` was removed: the bound itself is in");
            both.report(cx, unset, Some(node), None, what);
        }
        _ => {}
    }
}

/// The bound that counts, and where it says that it is exclusive. A lower bound of 0 for a count is none.
fn strictest<'a>(schema: &Schema<'a>, bound: &Bound) -> Option<(&'a Node, Option<&'a Node>)> {
    let counts = bound.exclusive.is_none() && !bound.upper;
    let mut strictest: Option<(&'a Node, Option<&'a Node>)> = None;
    for part in &schema.parts {
        let Some(node) = part.get(bound.keyword) else { continue };
        let Value::Number(number) = &node.value else { continue };
        if counts && number.as_u64() == Some(0) {
            continue;
        }
        let exclusive = bound.exclusive.and_then(|(keyword, ..)| part.get(keyword));
        let exclusive = exclusive.filter(|node| node.as_bool() == Some(true));
        let stricter = strictest.is_none_or(|(best, best_exclusive)| match order(node, best) {
            Some(Ordering::Less) => bound.upper,
            Some(Ordering::Greater) => !bound.upper,
            _ => exclusive.is_some() && best_exclusive.is_none(),
        });
        if stricter {
            strictest = Some((node, exclusive));
        }
    }
    strictest
}

fn multiple_of<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
    let (base, revision) = (both.base.first("multipleOf"), both.revision.first("multipleOf"));
    let (family, what) = match (base, revision) {
        (None, Some(new)) => (&rules::MULTIPLE_SET, format!("`multipleOf` was set to {}", shown(new))),
        (Some(old), None) => (&rules::MULTIPLE_UNSET, format!("`multipleOf`, {}, was removed", shown(old))),
        (Some(old), Some(new)) if !same(old, new) => {
            let family = match (is_multiple(new, old), is_multiple(old, new)) {
                (true, false) => &rules::MULTIPLE_SET,
                (false, true) => &rules::MULTIPLE_UNSET,
                _ => &rules::MULTIPLE_CHANGED,
            };
            (family, format!("`multipleOf` went from {} to {}", shown(old), shown(new)))
        }
        _ => return,
    };
    both.report(cx, family, base, revision, what);
}

/// Whether all multiples of one are multiples of the other. Only integers are looked at.
fn is_multiple(one: &Node, of: &Node) -> bool {
    let integer = |node: &Node| match &node.value {
        Value::Number(number) => number.as_u64(),
        _ => None,
    };
    matches!((integer(one), integer(of)), (Some(one), Some(of)) if of > 0 && one % of == 0)
}

fn unique_items<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
    let (base, revision) = (both.base.flag("uniqueItems"), both.revision.flag("uniqueItems"));
    match (base, revision) {
        (None, Some(_)) => {
            both.report(cx, &rules::UNIQUE_SET, base, revision, "its items must now be unique")
        }
        (Some(_), None) => {
            both.report(cx, &rules::UNIQUE_UNSET, base, revision, "its items need no longer be unique");
        }
        _ => {}
    }
}
