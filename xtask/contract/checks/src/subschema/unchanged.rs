//! Recognises the parts of two documents that are the same data, so that nothing in them has to be compared.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hash, Hasher, RandomState};

use document::openapi::{Id, Kind, Model, Object};
use document::{Node, Value};

/// The keywords of a schema of which no change is reported.
const IDLE: [&str; 4] = ["title", "description", "example", "externalDocs"];

/// Which objects of two documents are the same data, with all that they lead to. An object is identified by its number in the
/// base, or by that in the revision plus the number of objects of the base.
pub(super) struct Unchanged {
    /// For each object the first that is the same. Discriminators do not restrict values, so they lead to nothing here.
    pub(super) first: Vec<Id>,
    /// Whether an object of the base leads to one that may have changed, also by discriminators.
    pub(super) leads: Vec<bool>,
}

impl Unchanged {
    pub(super) fn of(base: &Model<'_>, revision: &Model<'_>) -> Self {
        // The random key keeps anybody from writing different objects with equal digests.
        let state = RandomState::new();
        let texts = [base, revision].map(|model| digests(model, &state));
        let [leads_by_references, leads] = leading_to_changes(base, revision, &texts);
        let mut known: HashMap<u64, Id> = HashMap::new();
        let mut first: Vec<Id> =
            texts[0].iter().enumerate().map(|(id, text)| *known.entry(*text).or_insert(id)).collect();
        known.retain(|_, id| !leads_by_references[*id]);
        let numbered = texts[1].iter().enumerate();
        first.extend(numbered.map(|(id, text)| *known.entry(*text).or_insert(base.len() + id)));
        Self { first, leads }
    }
}

/// Returns the digests of all objects. The order of keys does not count.
fn digests(model: &Model<'_>, state: &RandomState) -> Vec<u64> {
    let mut digests = vec![0; model.len()];
    // The parts of an object come after it.
    for id in (0..model.len()).rev() {
        let object = model.object(id);
        let is_idle = |keyword: &str| object.kind() == Kind::Schema && IDLE.contains(&keyword);
        let parts = || object.parts().filter(|part| !is_idle(part.keyword()));
        let keywords: HashSet<_> = parts().map(|part| part.keyword()).collect();
        let entries = object.node().entries().iter();
        let entries = entries.filter(|it| !is_idle(&it.key) && !keywords.contains(it.key.as_str()));
        let own = entries.map(|entry| {
            let mut hasher = state.build_hasher();
            entry.key.hash(&mut hasher);
            hash(&entry.value, &mut hasher);
            hasher.finish()
        });
        let own = own.fold(0, u64::wrapping_add);
        let parts = parts().map(|part| state.hash_one((part.steps(), digests[part.id])));
        digests[id] = state.hash_one((object.kind(), own, parts.fold(0, u64::wrapping_add)));
    }
    digests
}

fn hash(node: &Node, hasher: &mut impl Hasher) {
    std::mem::discriminant(&node.value).hash(hasher);
    match &node.value {
        Value::Null => {}
        Value::Bool(value) => value.hash(hasher),
        Value::Number(value) => value.hash(hasher),
        Value::String(text) => text.hash(hasher),
        Value::Sequence(items) => {
            items.len().hash(hasher);
            items.iter().for_each(|item| hash(item, hasher));
        }
        Value::Mapping(mapping) => {
            mapping.entries().len().hash(hasher);
            for entry in mapping.entries() {
                entry.key.hash(hasher);
                hash(&entry.value, hasher);
            }
        }
    }
}

/// Returns for each object of the base whether it may lead to a change: by a reference whose target is not the same in
/// the revision, and in the second list also by a discriminator, which leads to the schemas that it names.
fn leading_to_changes(base: &Model<'_>, revision: &Model<'_>, texts: &[Vec<u64>; 2]) -> [Vec<bool>; 2] {
    let key = |object: &Object<'_>| (object.kind(), object.text("$ref").unwrap_or_default().to_owned());
    let end = |object: &Object<'_>, side: usize| object.resolved().map(|end| texts[side][end.id]);
    let after: HashMap<_, Option<u64>> =
        revision.everything().filter(Object::is_reference).map(|it| (key(&it), end(&it, 1))).collect();
    let mut open = Vec::new();
    let mut referring: HashMap<Id, Vec<Object<'_>>> = HashMap::new();
    for object in base.everything().filter(Object::is_reference) {
        let before = end(&object, 0);
        if before.is_none() || after.get(&key(&object)) != Some(&before) {
            open.push(object);
        }
        if let Some(end) = object.resolved() {
            referring.entry(end.id).or_default().push(object);
        }
    }
    let mut leads = vec![false; base.len()];
    let by_references = spread(open, &referring, &mut leads);
    let [before, after] =
        [(base, &texts[0]), (revision, &texts[1])].map(|(model, texts)| named(model, texts));
    let mut open = Vec::new();
    for (name, (owner, selected)) in &before {
        let same = |(_, others): &(Object<'_>, Vec<Selected>)| {
            selected.len() == others.len()
                && selected.iter().zip(others).all(|(one, other)| (&one.0, one.1) == (&other.0, other.1))
        };
        if !after.get(name).is_some_and(same) {
            open.push(*owner);
        }
        for (.., selected) in selected {
            referring.entry(*selected).or_default().push(*owner);
        }
    }
    let new = after.iter().filter(|(name, _)| !before.contains_key(*name));
    let components: HashMap<&str, Object<'_>> = base.schemas().map(|one| (one.name(), one)).collect();
    open.extend(new.filter_map(|(name, _)| components.get(name)));
    for id in (0..base.len()).filter(|id| by_references[*id]) {
        open.extend(referring.get(&id).into_iter().flatten());
    }
    [by_references, spread(open, &referring, &mut leads)]
}

/// Marks objects, what contains them, and what refers to that. Returns all marks.
fn spread<'a>(
    mut open: Vec<Object<'a>>,
    referring: &HashMap<Id, Vec<Object<'a>>>,
    leads: &mut [bool],
) -> Vec<bool> {
    while let Some(object) = open.pop() {
        if !std::mem::replace(&mut leads[object.id], true) {
            open.extend(object.parent());
            open.extend(referring.get(&object.id).into_iter().flatten());
        }
    }
    leads.to_vec()
}

/// A component that a discriminator can select: its name, its digest and its number.
type Selected = (String, u64, Id);

/// Returns the components with the components that a discriminator can select in their place: those that extend them, and
/// those in a `mapping`.
fn named<'a>(model: &'a Model<'a>, texts: &[u64]) -> HashMap<&'a str, (Object<'a>, Vec<Selected>)> {
    let components: HashMap<&str, Object<'_>> =
        model.schemas().map(|schema| (schema.name(), schema)).collect();
    let mut named: HashMap<&str, (Object<'a>, Vec<Selected>)> = HashMap::new();
    let mut add = |owner: Object<'a>, one: Object<'a>| {
        let selected = (one.name().to_owned(), texts[one.id], one.id);
        named.entry(owner.name()).or_insert((owner, Vec::new())).1.push(selected);
    };
    for component in components.values() {
        let parents = component.children("allOf").filter(Object::is_reference);
        parents.filter_map(|parent| parent.resolved()).for_each(|parent| add(parent, *component));
    }
    for discriminator in model.all(Kind::Discriminator) {
        let Some(owner) = discriminator.within(Kind::Schema) else { continue };
        let mapping = discriminator.get("mapping").map(Node::entries).unwrap_or_default();
        let targets = mapping.iter().filter_map(|entry| entry.value.as_str()?.rsplit('/').next());
        targets.filter_map(|name| components.get(name)).for_each(|one| add(owner, *one));
    }
    named.values_mut().for_each(|(_, selected)| selected.sort_unstable());
    named
}
