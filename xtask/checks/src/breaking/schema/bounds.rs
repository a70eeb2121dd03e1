//! Bounds of numbers, lengths and counts.

use std::cmp::Ordering;

use document::Value;
use num_rational::BigRational;
use num_traits::Zero;

use super::{Both, Schema};
use crate::breaking::comparer::Comparer;
use crate::breaking::data::{difference, order};
use crate::breaking::place::At;
use crate::breaking::rules::{self, Family};
use crate::subschema::range;

const NUMBERS: &[&str] = &["integer", "number"];

/// A keyword that bounds something, and the rules for each way of changing it.
struct Bound {
    keyword: &'static str,
    /// The types that it applies to.
    types: &'static [&'static str],
    /// Whether the bound is a maximum. The smallest of several maxima applies, and the greatest of several minima.
    upper: bool,
    /// The rules of a bound that was set, unset, increased, decreased.
    rules: [&'static Family; 4],
    /// The keyword that makes the bound exclusive, and its rules.
    exclusive: Option<(&'static str, &'static Family, &'static Family)>,
}

#[rustfmt::skip]
static BOUNDS: [Bound; 8] = [
    Bound {
        keyword: "maximum", types: NUMBERS, upper: true, rules: [&rules::MAX_SET, &rules::MAX_UNSET, &rules::MAX_INCREASED, &rules::MAX_DECREASED],
        exclusive: Some(("exclusiveMaximum", &rules::EXCLUSIVE_MAX_SET, &rules::EXCLUSIVE_MAX_UNSET)),
    },
    Bound {
        keyword: "minimum", types: NUMBERS, upper: false, rules: [&rules::MIN_SET, &rules::MIN_UNSET, &rules::MIN_INCREASED, &rules::MIN_DECREASED],
        exclusive: Some(("exclusiveMinimum", &rules::EXCLUSIVE_MIN_SET, &rules::EXCLUSIVE_MIN_UNSET)),
    },
    Bound { keyword: "maxLength", types: &["string"], upper: true, rules: [&rules::MAX_LENGTH_SET, &rules::MAX_LENGTH_UNSET, &rules::MAX_LENGTH_INCREASED, &rules::MAX_LENGTH_DECREASED], exclusive: None },
    Bound { keyword: "minLength", types: &["string"], upper: false, rules: [&rules::MIN_LENGTH_INCREASED, &rules::MIN_LENGTH_DECREASED, &rules::MIN_LENGTH_INCREASED, &rules::MIN_LENGTH_DECREASED], exclusive: None },
    Bound { keyword: "maxItems", types: &["array"], upper: true, rules: [&rules::MAX_ITEMS_SET, &rules::MAX_ITEMS_UNSET, &rules::MAX_ITEMS_INCREASED, &rules::MAX_ITEMS_DECREASED], exclusive: None },
    Bound { keyword: "minItems", types: &["array"], upper: false, rules: [&rules::MIN_ITEMS_SET, &rules::MIN_ITEMS_UNSET, &rules::MIN_ITEMS_INCREASED, &rules::MIN_ITEMS_DECREASED], exclusive: None },
    Bound { keyword: "maxProperties", types: &["object"], upper: true, rules: [&rules::MAX_PROPERTIES_SET, &rules::MAX_PROPERTIES_UNSET, &rules::MAX_PROPERTIES_INCREASED, &rules::MAX_PROPERTIES_DECREASED], exclusive: None },
    Bound { keyword: "minProperties", types: &["object"], upper: false, rules: [&rules::MIN_PROPERTIES_INCREASED, &rules::MIN_PROPERTIES_DECREASED, &rules::MIN_PROPERTIES_INCREASED, &rules::MIN_PROPERTIES_DECREASED], exclusive: None },
];

pub(super) fn compare<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
    let ranges = (range(&both.base.parts), range(&both.revision.parts));
    for bound in &BOUNDS {
        let same_range = match bound.keyword {
            "maximum" => ranges.0.high == ranges.1.high,
            "minimum" => ranges.0.low == ranges.1.low,
            _ => false,
        };
        if !same_range && both.base.may_be(bound.types) && both.revision.may_be(bound.types) {
            one(cx, both, bound);
        }
    }
    if both.base.may_be(NUMBERS) && both.revision.may_be(NUMBERS) {
        multiple_of(cx, both, ranges.0.step.as_ref(), ranges.1.step.as_ref());
    }
    let may_be_arrays = both.base.may_be(&["array"]) && both.revision.may_be(&["array"]);
    match (both.base.flag("uniqueItems"), both.revision.flag("uniqueItems")) {
        _ if !may_be_arrays => {}
        (None, Some(new)) => {
            both.report(cx, &rules::UNIQUE_SET, None, Some(new), "its items must now be unique");
        }
        (Some(old), None) => {
            let new = both.revision.first("uniqueItems");
            both.report(cx, &rules::UNIQUE_UNSET, Some(old), new, "its items need no longer be unique");
        }
        _ => {}
    }
}

fn one<'a>(cx: &mut Comparer<'a>, both: &Both<'a>, bound: &Bound) {
    let (base, revision) = (strictest(&both.base, bound), strictest(&both.revision, bound));
    let place = |bound: Option<(At<'a>, _)>| bound.map(|(place, _)| place);
    let (old, new) = (place(base), place(revision));
    let [set, unset, increased, decreased] = bound.rules;
    let family = match (old, new) {
        (None, _) => set,
        (_, None) => unset,
        (Some(old), Some(new)) if order(&old, &new) == Some(Ordering::Less) => increased,
        _ => decreased,
    };
    if let Some(what) = difference(&format!("`{}`", bound.keyword), old.as_deref(), new.as_deref()) {
        return both.report(cx, family, old, new, what);
    }
    let (Some(old), Some(new), Some((keyword, set, unset))) = (base, revision, bound.exclusive) else {
        return;
    };
    let family = if new.1.is_some() { set } else { unset };
    if let Some(what) = difference(&format!("`{keyword}`"), old.1.as_deref(), new.1.as_deref()) {
        both.report(cx, family, old.1, new.1, what);
    }
}

/// Returns the strictest bound, and the place that makes it exclusive. A lower bound of 0 for a count has no effect.
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

fn multiple_of<'a>(
    cx: &mut Comparer<'a>,
    both: &Both<'a>,
    base: Option<&BigRational>,
    revision: Option<&BigRational>,
) {
    let is_multiple = |number: &BigRational, of: &BigRational| (number / of).is_integer();
    let (old, new) = (both.base.first("multipleOf"), both.revision.first("multipleOf"));
    let family = match (base, revision) {
        (None, _) => &rules::MULTIPLE_SET,
        (_, None) => &rules::MULTIPLE_UNSET,
        (Some(old), Some(new)) if old.is_zero() || new.is_zero() || old == new => return,
        (Some(old), Some(new)) if is_multiple(new, old) => &rules::MULTIPLE_SET,
        (Some(old), Some(new)) if is_multiple(old, new) => &rules::MULTIPLE_UNSET,
        _ => &rules::MULTIPLE_CHANGED,
    };
    if let Some(what) = difference("`multipleOf`", old.as_deref(), new.as_deref()) {
        both.report(cx, family, old, new, what);
    }
}
