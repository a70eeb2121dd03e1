//! `oneOf` and `anyOf`: the alternatives of a schema.

use document::openapi::Object;

use super::both::Both;
use crate::breaking::comparer::Comparer;
use crate::breaking::conjunction::{Schema, UNIONS};
use crate::breaking::place::At;
use crate::breaking::rules::{self, Family};
use crate::subschema::{ANNOTATIONS, flattened};

/// A `oneOf` or `anyOf`.
pub(super) struct Union<'a> {
    pub(super) keyword: &'static str,
    pub(super) list: At<'a>,
    pub(super) alternatives: Vec<Object<'a>>,
}

impl Union<'_> {
    /// The rules of an alternative that was added, and of one that was removed.
    pub(super) fn rules(&self) -> (&'static Family, &'static Family) {
        match self.keyword {
            "oneOf" => (&rules::ONE_OF_ADDED, &rules::ONE_OF_REMOVED),
            _ => (&rules::ANY_OF_ADDED, &rules::ANY_OF_REMOVED),
        }
    }
}

/// Returns the unions of a schema, all of which apply.
pub(super) fn unions<'a>(schema: &Schema<'a>) -> Vec<Union<'a>> {
    let of = |part: &Object<'a>, keyword: &'static str| {
        let alternatives = alternatives_under(part, keyword);
        let is_union = !alternatives.is_empty() && !schema.chosen.contains(&(part.id, keyword));
        let list = At::value(part, keyword).filter(|_| is_union)?;
        Some(Union { keyword, list, alternatives })
    };
    schema.parts.iter().flat_map(|part| UNIONS.map(|keyword| of(part, keyword))).flatten().collect()
}

/// The alternatives under a keyword, with those of unions that are alternatives themselves.
fn alternatives_under<'a>(part: &Object<'a>, keyword: &str) -> Vec<Object<'a>> {
    let is_union = |one: &Object<'a>| {
        let mut entries = one.node().entries().iter().map(|entry| entry.key.as_str());
        one.has(keyword) && entries.all(|key| key == keyword || ANNOTATIONS.contains(&key))
    };
    let (mut alternatives, mut open) = (Vec::new(), vec![*part]);
    while let Some(one) = open.pop() {
        match one == *part || is_union(&one) {
            true => {
                let first = open.len();
                open.extend(one.children(keyword));
                open[first..].reverse();
            }
            false => alternatives.push(one),
        }
    }
    alternatives
}

/// Replaces unions of a single alternative by the alternative, unless both sides have corresponding unions.
pub(super) fn unwrap<'a>(cx: &mut Comparer<'a>, both: &mut Both<'a>) {
    let singles = |schema: &Schema<'a>| {
        let of = |part: &Object<'a>| {
            let part = *part;
            UNIONS.map(|keyword| Some(((part.id, keyword), only(&part, keyword)?)))
        };
        let singles = schema.parts.iter().flat_map(of).flatten();
        singles.filter(|(union, _)| !schema.chosen.contains(union)).collect::<Vec<_>>()
    };
    let nests = |schema: &Schema<'a>| {
        let singles = singles(schema).into_iter().filter_map(|(_, single)| single.resolved());
        singles.into_iter().any(|single| UNIONS.iter().any(|keyword| single.has(keyword)))
    };
    let correspond = unions(&both.base).len() == unions(&both.revision).len();
    if correspond && !nests(&both.base) && !nests(&both.revision) {
        return;
    }
    for schema in [&mut both.base, &mut both.revision] {
        loop {
            let (chosen, singles): (Vec<_>, Vec<_>) = singles(schema).into_iter().unzip();
            if chosen.is_empty() {
                break;
            }
            let mut added = flattened(singles, &mut || cx.may_go_on());
            added.retain(|part| !schema.parts.contains(part));
            schema.parts.extend(added);
            schema.chosen.extend(chosen);
        }
    }
}

/// The alternative under a keyword, if it is the only one.
fn only<'a>(part: &Object<'a>, keyword: &str) -> Option<Object<'a>> {
    let mut alternatives = part.children(keyword);
    alternatives.next().filter(|_| alternatives.next().is_none())
}
