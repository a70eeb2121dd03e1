//! Changes of the text that no other module reported: keywords that are written in another way with the same meaning,
//! and keywords without effect where they are. Each object with such changes gets one note.
//!
//! The objects of both documents are paired by their places, items of lists by their names or content. Words for people
//! and examples are left out, and so are extensions, which [`unknown`](super::unknown) compares.

use std::collections::{BTreeSet, HashSet};

use document::openapi::{Id, Kind, Object, Step, template};
use document::{Node, pointer};

use super::comparer::Comparer;
use super::data::{canonical, same};
use super::matching::pairs_then;
use super::place::At;
use super::rules;
use crate::subschema::Side;

/// The keywords for people, and `links`, of which every change is reported.
const LEFT_OUT: [&str; 10] = [
    "title",
    "summary",
    "description",
    "example",
    "examples",
    "externalDocs",
    "openapi",
    "info",
    "tags",
    "links",
];

/// The JSON pointers of the changes that were found, in the base and in the revision, and the schemas that were compared.
struct Reported([BTreeSet<String>; 2], HashSet<Id>);

impl Reported {
    fn of(cx: &Comparer<'_>) -> Self {
        let mut reported = [BTreeSet::new(), BTreeSet::new()];
        for places in cx.found() {
            for (known, at) in reported.iter_mut().zip(places) {
                known.extend(at.map(|at| at.location("").pointer));
            }
        }
        Self(reported, cx.parts())
    }

    /// Whether a change was found at a place or below it.
    fn is_within(&self, side: Side, at: &str) -> bool {
        let (places, below) = (&self.0[side as usize], format!("{at}/"));
        let next = places.range(below.clone()..).next();
        places.contains(at) || next.is_some_and(|next| next.starts_with(&below))
    }

    /// Whether a change was found at a keyword of an object, or below it.
    fn is_at(&self, side: Side, object: &Object<'_>, keyword: &str) -> bool {
        self.is_within(side, &pointer::below(object.pointer(), keyword))
    }

    /// Whether a change was found of an object as a whole.
    fn is_whole(&self, side: Side, object: &Object<'_>) -> bool {
        self.0[side as usize].contains(&object.pointer())
    }

    /// Whether a change was found in an object, or where it leads as a reference. What leads to another file is not
    /// compared.
    fn is_in(&self, side: Side, object: &Object<'_>) -> bool {
        let Some(target) = object.resolved() else { return true };
        [*object, target].iter().any(|object| self.is_within(side, &object.pointer()))
    }
}

pub(super) fn compare(cx: &mut Comparer<'_>) {
    cx.begin_document();
    let reported = Reported::of(cx);
    let mut open = vec![(cx.base.root(), cx.revision.root())];
    while let Some((old, new)) = open.pop() {
        // Callbacks of callbacks are compared as data.
        let is_nested = old.keyword() == "callbacks"
            && old.parent().and_then(|owner| owner.within(Kind::Callback)).is_some();
        if cx.inclusion.is_same_text(old, new) || is_nested || LEFT_OUT.contains(&old.keyword()) {
            continue;
        }
        let (mut named, rest) = pairs_then(children(&old), children(&new), rank);
        named.extend(rest.both);
        if old.is_reference() == new.is_reference() {
            open.extend(named);
        }
        let one_sided = [(Side::Base, rest.removed), (Side::Revision, rest.added)];
        note(cx, &reported, (&old, &new), one_sided);
    }
}

/// Reports the keywords of two objects that differ and that no change explains.
fn note<'a>(
    cx: &mut Comparer<'a>,
    reported: &Reported,
    (old, new): (&Object<'a>, &Object<'a>),
    one_sided: [(Side, Vec<Object<'a>>); 2],
) {
    let differing = differing(old, new);
    if differing.is_empty() && one_sided.iter().all(|(_, objects)| objects.is_empty()) {
        return;
    }
    let sides = [(Side::Base, old), (Side::Revision, new)];
    // A change of the whole object has all of its keywords as its reason.
    let is_reference = old.is_reference() || new.is_reference();
    let is_explained = |(side, object): &(Side, &Object<'a>)| {
        // The URLs of a server have the values of its variables.
        let whole = object.within(Kind::Server).unwrap_or(**object);
        reported.is_whole(*side, &whole) || (is_reference && reported.is_in(*side, object))
    };
    if sides.iter().any(is_explained) {
        return;
    }
    let is_reported =
        |keyword: &str| sides.iter().any(|(side, object)| reported.is_at(*side, object, keyword));
    let mut keywords: BTreeSet<&str> =
        differing.iter().copied().filter(|keyword| !is_reported(keyword)).collect();
    for (side, objects) in &one_sided {
        let silent = objects.iter().filter(|one| {
            let is_left_out = LEFT_OUT.contains(&one.keyword()) || is_listed(one);
            let is_item = matches!(one.steps().last(), Some(Step::Item(_)));
            !(is_left_out || reported.is_in(*side, one) || (is_item && is_reported(one.keyword())))
        });
        keywords.extend(silent.map(|one| one.keyword()));
    }
    if keywords.is_empty() {
        return;
    }
    let names = keywords.iter().map(|keyword| format!("`{keyword}`")).collect::<Vec<_>>().join(", ");
    let around = |object: &Object<'a>| {
        let around =
            object.ancestors().take_while(|one| matches!(one.kind(), Kind::Schema | Kind::Parameter));
        around.last().unwrap_or(*object)
    };
    // The comparison reports the keywords of a schema until they explain the impact.
    let is_within =
        |(side, object): &(Side, &Object<'a>)| reported.is_within(*side, &around(object).pointer());
    let whole = around(old);
    let what = match sides.iter().any(is_within) {
        true => format!("{names} changed too"),
        _ if whole.keyword() == "schemas" && !reported.1.contains(&whole.id) => {
            format!("{names} changed, but no operation uses it")
        }
        false => format!("{names} changed, with the same meaning"),
    };
    let place = |object: &Object<'a>| match keywords.first() {
        Some(keyword) if keywords.len() == 1 => At::value_or_object(object, keyword),
        _ => At::of(object),
    };
    cx.report(&rules::SAME_MEANING, Some(place(old)), Some(place(new)), what);
}

/// Whether an object is in a list whose changes are reported by name: components and paths.
fn is_listed(object: &Object<'_>) -> bool {
    let owner = object.parent().map(|owner| owner.kind());
    matches!(owner, Some(Kind::Components | Kind::Paths)) || object.kind() == Kind::Components
}

/// Returns the keywords that hold no objects and whose values differ, in the order of the file.
fn differing<'a>(old: &Object<'a>, new: &Object<'a>) -> Vec<&'a str> {
    let holding: HashSet<&str> = old.parts().chain(new.parts()).map(|part| part.keyword()).collect();
    let matters = |key: &&str| !(holding.contains(key) || LEFT_OUT.contains(key) || key.starts_with("x-"));
    let keys = |object: &Object<'a>| object.node().entries().iter().map(|entry| entry.key.as_str());
    let removed = keys(old).filter(matters).filter(|key| !new.has(key));
    let changed = keys(new).filter(matters).filter(|key| match (old.get(key), new.get(key)) {
        (Some(old), Some(new)) => !is_same(key, old, new),
        _ => true,
    });
    removed.chain(changed).collect()
}

/// Whether two values are the same data. The order of `enum` and `required` has no meaning.
fn is_same(keyword: &str, old: &Node, new: &Node) -> bool {
    let sorted = |node: &Node| {
        let mut items: Vec<String> = node.items().iter().map(canonical).collect();
        items.sort_unstable();
        items
    };
    match keyword {
        "enum" | "required" if !old.items().is_empty() && !new.items().is_empty() => {
            sorted(old) == sorted(new)
        }
        _ => same(old, new),
    }
}

/// The objects below an object, with a key that identifies each in both documents.
fn children<'a>(owner: &Object<'a>) -> Vec<(String, Object<'a>)> {
    owner.parts().map(|child| (key(&child), child)).collect()
}

fn key(child: &Object<'_>) -> String {
    let keyword = child.keyword();
    match (child.kind(), child.steps().last()) {
        (Kind::PathItem, _) => format!("{keyword} {}", template(child.name()).0),
        (Kind::Parameter, Some(Step::Item(_))) => {
            let parameter = child.resolved().unwrap_or(*child);
            let text = |keyword: &str| parameter.text(keyword).unwrap_or_default();
            format!("{keyword} {} {}", text("in"), text("name"))
        }
        (_, Some(Step::Item(_))) => format!("{keyword} {}", canonical(child.node())),
        (_, Some(Step::Key(name))) => format!("{keyword} {name}"),
        (_, None) => keyword.to_owned(),
    }
}

/// The second key: an edited item of a list is paired with the next one that has no pair.
fn rank(child: Object<'_>) -> String {
    match child.steps().last() {
        Some(Step::Item(_)) => child.keyword().to_owned(),
        _ => key(&child),
    }
}
