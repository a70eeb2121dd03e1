//! Bounds of numbers, lengths and counts.

use std::cmp::Ordering;

use super::{Both, Schema};
use crate::breaking::comparer::Comparer;
use crate::breaking::data::{order, same, shown};
use crate::breaking::place::At;
use crate::breaking::rules::{self, Family};
use crate::document::{Node, Value};

/// A keyword that bounds something, and the rules for each way of changing it.
struct Bound {
    keyword: &'static str,
    /// Of several such bounds the smallest counts, rather than the greatest.
    upper: bool,
    set: &'static Family,
    unset: &'static Family,
    increased: &'static Family,
    decreased: &'static Family,
    /// The keyword that excludes the bound itself, and its rules.
    exclusive: Option<(&'static str, &'static Family, &'static Family)>,
}

/// A bound whose rules are in this order: set, unset, increased, decreased.
const fn bound(
    keyword: &'static str,
    upper: bool,
    [set, unset, increased, decreased]: [&'static Family; 4],
) -> Bound {
    Bound { keyword, upper, set, unset, increased, decreased, exclusive: None }
}

#[rustfmt::skip]
static BOUNDS: [Bound; 8] = [
    Bound {
        exclusive: Some(("exclusiveMaximum", &rules::EXCLUSIVE_MAX_SET, &rules::EXCLUSIVE_MAX_UNSET)),
        ..bound("maximum", true, [&rules::MAX_SET, &rules::MAX_UNSET, &rules::MAX_INCREASED, &rules::MAX_DECREASED])
    },
    Bound {
        exclusive: Some(("exclusiveMinimum", &rules::EXCLUSIVE_MIN_SET, &rules::EXCLUSIVE_MIN_UNSET)),
        ..bound("minimum", false, [&rules::MIN_SET, &rules::MIN_UNSET, &rules::MIN_INCREASED, &rules::MIN_DECREASED])
    },
    bound("maxLength", true, [&rules::MAX_LENGTH_SET, &rules::MAX_LENGTH_UNSET, &rules::MAX_LENGTH_INCREASED, &rules::MAX_LENGTH_DECREASED]),
    bound("minLength", false, [&rules::MIN_LENGTH_INCREASED, &rules::MIN_LENGTH_DECREASED, &rules::MIN_LENGTH_INCREASED, &rules::MIN_LENGTH_DECREASED]),
    bound("maxItems", true, [&rules::MAX_ITEMS_SET, &rules::MAX_ITEMS_UNSET, &rules::MAX_ITEMS_INCREASED, &rules::MAX_ITEMS_DECREASED]),
    bound("minItems", false, [&rules::MIN_ITEMS_SET, &rules::MIN_ITEMS_UNSET, &rules::MIN_ITEMS_INCREASED, &rules::MIN_ITEMS_DECREASED]),
    bound("maxProperties", true, [&rules::MAX_PROPERTIES_SET, &rules::MAX_PROPERTIES_UNSET, &rules::MAX_PROPERTIES_INCREASED, &rules::MAX_PROPERTIES_DECREASED]),
    bound("minProperties", false, [&rules::MIN_PROPERTIES_INCREASED, &rules::MIN_PROPERTIES_DECREASED, &rules::MIN_PROPERTIES_INCREASED, &rules::MIN_PROPERTIES_DECREASED]),
];

pub(super) fn compare<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
    for bound in &BOUNDS {
        one(cx, both, bound);
    }
    multiple_of(cx, both);
    let rules = (&rules::UNIQUE_SET, &rules::UNIQUE_UNSET);
    both.flag(
        cx,
        "uniqueItems",
        rules,
        ("its items must now be unique", "its items need no longer be unique"),
    );
}

fn one<'a>(cx: &mut Comparer<'a>, both: &Both<'a>, bound: &Bound) {
    let keyword = bound.keyword;
    let (base, revision) = (strictest(&both.base, bound), strictest(&both.revision, bound));
    let (old, new) = match (base, revision) {
        (None, None) => return,
        (None, Some((new, _))) => {
            let what = format!("`{keyword}` was set to {}", shown(&new));
            return both.report(cx, bound.set, None, Some(new), what);
        }
        (Some((old, _)), None) => {
            let what = format!("`{keyword}` {} was removed", shown(&old));
            return both.report(cx, bound.unset, Some(old), None, what);
        }
        (Some(old), Some(new)) => (old, new),
    };
    let what = || format!("`{keyword}` changed from {} to {}", shown(&old.0), shown(&new.0));
    match order(&old.0, &new.0) {
        Some(Ordering::Less) => both.report(cx, bound.increased, Some(old.0), Some(new.0), what()),
        Some(Ordering::Greater) => both.report(cx, bound.decreased, Some(old.0), Some(new.0), what()),
        _ => {}
    }
    let Some((keyword, set, unset)) = bound.exclusive else { return };
    match (old.1, new.1) {
        (None, Some(place)) => {
            let what = format!("`{keyword}` was set: the bound itself is excluded");
            both.report(cx, set, None, Some(place), what);
        }
        (Some(place), None) => {
            let what = format!("`{keyword}` was removed: the bound itself is included");
            both.report(cx, unset, Some(place), None, what);
        }
        _ => {}
    }
}

/// The bound that counts, and the place that excludes it. A lower bound of 0 for a count has no effect.
fn strictest<'a>(schema: &Schema<'a>, bound: &Bound) -> Option<(At<'a>, Option<At<'a>>)> {
    let counts = bound.exclusive.is_none() && !bound.upper;
    let mut strictest: Option<(At<'a>, Option<At<'a>>)> = None;
    for part in &schema.parts {
        let Some(place) = At::value(part, bound.keyword) else { continue };
        let Value::Number(number) = &place.value else { continue };
        if counts && number.as_u64() == Some(0) {
            continue;
        }
        let exclusive = bound.exclusive.and_then(|(keyword, ..)| At::value(part, keyword));
        let exclusive = exclusive.filter(|place| place.as_bool() == Some(true));
        let stricter = strictest.is_none_or(|(best, best_exclusive)| match order(&place, &best) {
            Some(Ordering::Less) => bound.upper,
            Some(Ordering::Greater) => !bound.upper,
            _ => exclusive.is_some() && best_exclusive.is_none(),
        });
        if stricter {
            strictest = Some((place, exclusive));
        }
    }
    strictest
}

fn multiple_of<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
    let (base, revision) = (both.base.first("multipleOf"), both.revision.first("multipleOf"));
    let (family, what) = match (base, revision) {
        (None, Some(new)) => (&rules::MULTIPLE_SET, format!("`multipleOf` was set to {}", shown(&new))),
        (Some(old), None) => (&rules::MULTIPLE_UNSET, format!("`multipleOf` {} was removed", shown(&old))),
        (Some(old), Some(new)) if !same(&old, &new) => {
            let family = match (is_multiple(&new, &old), is_multiple(&old, &new)) {
                (true, false) => &rules::MULTIPLE_SET,
                (false, true) => &rules::MULTIPLE_UNSET,
                _ => &rules::MULTIPLE_CHANGED,
            };
            (family, format!("`multipleOf` changed from {} to {}", shown(&old), shown(&new)))
        }
        _ => return,
    };
    both.report(cx, family, base, revision, what);
}

/// Whether all multiples of one number are multiples of the other, as far as both are integers.
fn is_multiple(one: &Node, of: &Node) -> bool {
    let integer = |node: &Node| match &node.value {
        Value::Number(number) => number.as_u64(),
        _ => None,
    };
    matches!((integer(one), integer(of)), (Some(one), Some(of)) if of > 0 && one % of == 0)
}
