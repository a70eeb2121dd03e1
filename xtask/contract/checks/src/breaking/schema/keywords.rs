//! Keywords that restrict values by themselves: bounds, multiples, patterns, and lists without duplicates.

use std::cmp::Ordering;
use std::collections::HashSet;

use super::both::Both;
use crate::breaking::comparer::Comparer;
use crate::breaking::conjunction::Schema;
use crate::breaking::data::{canonical, difference, order};
use crate::breaking::place::At;
use crate::breaking::rules::{self, Family};
use crate::pattern::is_universal;

const NUMBERS: &[&str] = &["integer", "number"];

/// A keyword, and the rules for each way of changing it.
struct Keyword {
    name: &'static str,
    /// The types that it applies to.
    types: &'static [&'static str],
    /// Which of several values restricts most: the least, or the greatest. `None` if each restricts in its own way.
    strictest: Option<Ordering>,
    /// The rules of a keyword that was set, unset, increased, and changed otherwise.
    rules: [&'static Family; 4],
}

const UPPER: Option<Ordering> = Some(Ordering::Less);
const LOWER: Option<Ordering> = Some(Ordering::Greater);

#[rustfmt::skip]
static KEYWORDS: [Keyword; 13] = [
    Keyword { name: "maximum", types: NUMBERS, strictest: UPPER, rules: [&rules::MAX_SET, &rules::MAX_UNSET, &rules::MAX_INCREASED, &rules::MAX_DECREASED] },
    Keyword { name: "exclusiveMaximum", types: NUMBERS, strictest: None, rules: [&rules::EXCLUSIVE_MAX_SET, &rules::EXCLUSIVE_MAX_UNSET, &rules::EXCLUSIVE_MAX_UNSET, &rules::EXCLUSIVE_MAX_SET] },
    Keyword { name: "minimum", types: NUMBERS, strictest: LOWER, rules: [&rules::MIN_SET, &rules::MIN_UNSET, &rules::MIN_INCREASED, &rules::MIN_DECREASED] },
    Keyword { name: "exclusiveMinimum", types: NUMBERS, strictest: None, rules: [&rules::EXCLUSIVE_MIN_SET, &rules::EXCLUSIVE_MIN_UNSET, &rules::EXCLUSIVE_MIN_UNSET, &rules::EXCLUSIVE_MIN_SET] },
    Keyword { name: "multipleOf", types: NUMBERS, strictest: None, rules: [&rules::MULTIPLE_SET, &rules::MULTIPLE_UNSET, &rules::MULTIPLE_CHANGED, &rules::MULTIPLE_CHANGED] },
    Keyword { name: "maxLength", types: &["string"], strictest: UPPER, rules: [&rules::MAX_LENGTH_SET, &rules::MAX_LENGTH_UNSET, &rules::MAX_LENGTH_INCREASED, &rules::MAX_LENGTH_DECREASED] },
    Keyword { name: "minLength", types: &["string"], strictest: LOWER, rules: [&rules::MIN_LENGTH_INCREASED, &rules::MIN_LENGTH_DECREASED, &rules::MIN_LENGTH_INCREASED, &rules::MIN_LENGTH_DECREASED] },
    Keyword { name: "pattern", types: &["string"], strictest: None, rules: [&rules::PATTERN_ADDED, &rules::PATTERN_REMOVED, &rules::PATTERN_CHANGED, &rules::PATTERN_CHANGED] },
    Keyword { name: "maxItems", types: &["array"], strictest: UPPER, rules: [&rules::MAX_ITEMS_SET, &rules::MAX_ITEMS_UNSET, &rules::MAX_ITEMS_INCREASED, &rules::MAX_ITEMS_DECREASED] },
    Keyword { name: "minItems", types: &["array"], strictest: LOWER, rules: [&rules::MIN_ITEMS_SET, &rules::MIN_ITEMS_UNSET, &rules::MIN_ITEMS_INCREASED, &rules::MIN_ITEMS_DECREASED] },
    Keyword { name: "uniqueItems", types: &["array"], strictest: None, rules: [&rules::UNIQUE_SET, &rules::UNIQUE_UNSET, &rules::UNIQUE_UNSET, &rules::UNIQUE_SET] },
    Keyword { name: "maxProperties", types: &["object"], strictest: UPPER, rules: [&rules::MAX_PROPERTIES_SET, &rules::MAX_PROPERTIES_UNSET, &rules::MAX_PROPERTIES_INCREASED, &rules::MAX_PROPERTIES_DECREASED] },
    Keyword { name: "minProperties", types: &["object"], strictest: LOWER, rules: [&rules::MIN_PROPERTIES_INCREASED, &rules::MIN_PROPERTIES_DECREASED, &rules::MIN_PROPERTIES_INCREASED, &rules::MIN_PROPERTIES_DECREASED] },
];

impl Keyword {
    /// Whether a value has no effect: `false`, a lower bound of 0 for a count, and a pattern that matches every string.
    fn is_idle(&self, at: &At<'_>) -> bool {
        let counts = self.types != NUMBERS && self.strictest == LOWER;
        at.as_bool() == Some(false)
            || (self.strictest.is_some() && order(at, at).is_none())
            || at.as_str().is_some_and(is_universal)
            || (counts && canonical(at) == "0")
    }

    /// Returns the value that matters in a comparison with another schema.
    fn value<'a>(&self, schema: &Schema<'a>, other: &Schema<'a>) -> Option<At<'a>> {
        let mut values = schema.all(self.name).filter(|at| !self.is_idle(at));
        match self.strictest {
            Some(strictest) => {
                values.reduce(|best, at| if order(&at, &best) == Some(strictest) { at } else { best })
            }
            None => {
                let others: HashSet<String> = other.all(self.name).map(|at| canonical(&at)).collect();
                values.find(|at| !others.contains(&canonical(at)))
            }
        }
    }
}

pub(super) fn compare<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
    let apply = |keyword: &&Keyword| both.base.may_be(keyword.types) && both.revision.may_be(keyword.types);
    for keyword in KEYWORDS.iter().filter(apply) {
        let old = keyword.value(&both.base, &both.revision);
        let new = keyword.value(&both.revision, &both.base);
        let [set, unset, increased, changed] = keyword.rules;
        let family = match (old, new) {
            (None, None) => continue,
            (None, _) => set,
            (_, None) => unset,
            (Some(old), Some(new)) if order(&old, &new) == Some(Ordering::Less) => increased,
            _ => changed,
        };
        // A value without effect is written too, and so part of the sentence.
        let idle = |schema: &Schema<'a>| schema.all(keyword.name).find(|at| keyword.is_idle(at));
        let (old, new) = (old.or_else(|| idle(&both.base)), new.or_else(|| idle(&both.revision)));
        if let Some(what) = difference(&format!("`{}`", keyword.name), old.as_deref(), new.as_deref()) {
            both.report(cx, family, old, new.or_else(|| both.revision.first(keyword.name)), what);
        }
    }
}
