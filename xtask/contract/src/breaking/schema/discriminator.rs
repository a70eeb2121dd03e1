//! `discriminator`: the property that tells which alternative a value is.

use super::{Both, Schema};
use crate::breaking::comparer::Comparer;
use crate::breaking::data::{same, shown};
use crate::breaking::place::At;
use crate::breaking::rules;
use crate::breaking::unknown;
use crate::openapi::Object;

pub(super) fn compare<'a>(cx: &mut Comparer<'a>, both: &Both<'a>) {
    let discriminator = |schema: &Schema<'a>| schema.children("discriminator").first().copied();
    let (old, new) = match (discriminator(&both.base), discriminator(&both.revision)) {
        (None, None) => return,
        (None, Some(new)) => {
            let what = "a `discriminator` was added";
            return both.report(cx, &rules::DISCRIMINATOR_ADDED, None, Some(At::of(&new)), what);
        }
        (Some(old), None) => {
            let what = "its `discriminator` was removed";
            return both.report(cx, &rules::DISCRIMINATOR_REMOVED, Some(At::of(&old)), None, what);
        }
        (Some(old), Some(new)) => (old, new),
    };
    cx.compare_keyword(rules::DISCRIMINATOR_RENAMED.rule(both.role), (&old, &new), "propertyName");
    mapping(cx, both, &old, &new);
    unknown::compare(cx, &old, &new, &[]);
}

fn mapping<'a>(cx: &mut Comparer<'a>, both: &Both<'a>, old: &Object<'a>, new: &Object<'a>) {
    let mapping = |discriminator: &Object<'a>| {
        At::value(discriminator, "mapping").into_iter().flat_map(At::entries).collect::<Vec<_>>()
    };
    let survivor = At::value_or_object(new, "mapping");
    let rules = both.rules(&rules::MAPPING_ADDED, &rules::MAPPING_DELETED);
    let in_both = cx.in_both("discriminating value", rules, (mapping(old), mapping(new)), survivor);
    for (old, new) in in_both.into_iter().filter(|(old, new)| !same(old, new)) {
        let (from, to) = (shown(&old), shown(&new));
        let what = format!("the discriminating value {} changed from {from} to {to}", old.name());
        both.report(cx, &rules::MAPPING_CHANGED, Some(old), Some(new), what);
    }
}
