//! Reports what only one of two lists has, and pairs what both have.

use std::hash::Hash;

use document::openapi::Object;

use super::comparer::Comparer;
use super::data::pairs;
use super::matching::named;
use super::place::At;
use super::rules::ChangeRule;

impl<'a> Comparer<'a> {
    /// Reports the items that only one of two lists has, and returns the pairs that both have. Removed items are
    /// reported at `remaining`. Messages call an item a `noun`. Several values of a list are one change.
    pub(super) fn in_both<K: Hash + Eq, T: Copy + Into<At<'a>>>(
        &mut self,
        noun: &str,
        (added, removed): (&'static ChangeRule, &'static ChangeRule),
        (old, new): (impl IntoIterator<Item = (K, T)>, impl IntoIterator<Item = (K, T)>),
        remaining: At<'a>,
    ) -> Vec<(T, T)> {
        let paired = pairs(old, new);
        let places = |items: Vec<T>| items.into_iter().map(Into::into).collect::<Vec<At<'a>>>();
        let (gone, new) = (places(paired.removed), places(paired.added));
        let kept = paired.both.first().map(|(old, _)| (*old).into());
        let old_list = gone.first().copied().or(kept).and_then(|old| old.list());
        let new_list = new.first().and_then(At::list);
        if old_list.is_some() && gone.len() > 1 {
            let what = format!("the {noun}s {} were removed", listed(&gone));
            self.report(removed, old_list, Some(remaining), what);
        } else {
            for old in gone {
                let what = format!("the {noun} {} was removed", old.name());
                self.report(removed, Some(old), Some(remaining), what);
            }
        }
        if new_list.is_some() && new.len() > 1 {
            self.report(added, old_list, new_list, format!("the {noun}s {} were added", listed(&new)));
        } else {
            for new in new {
                let what = match new.is_object() {
                    true => "it was added".to_owned(),
                    false => format!("the {noun} {} was added", new.name()),
                };
                self.report(added, None, Some(new), what);
            }
        }
        paired.both
    }

    /// Same as [`Self::in_both`] for the objects under a keyword, by name.
    pub(super) fn children_in_both(
        &mut self,
        noun: &str,
        rules: (&'static ChangeRule, &'static ChangeRule),
        (old, new): (&Object<'a>, &Object<'a>),
        keyword: &str,
    ) -> Vec<(Object<'a>, Object<'a>)> {
        let lists = (named(old, keyword), named(new, keyword));
        self.in_both(noun, rules, lists, At::value_or_object(new, keyword))
    }
}

/// Returns the names of at least two items for a sentence.
fn listed(items: &[At<'_>]) -> String {
    const MOST: usize = 20;
    let mut names: Vec<_> = items.iter().take(MOST).map(At::name).collect();
    let last = match items.len().checked_sub(MOST) {
        Some(more) if more > 0 => format!("{more} more"),
        _ => names.pop().unwrap_or_default(),
    };
    format!("{} and {last}", names.join(", "))
}
