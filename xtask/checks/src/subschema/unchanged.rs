//! Recognises the parts of two documents that are the same data, so that nothing in them has to be compared.
//!
//! A component may have another name: a reference counts as the object that it leads to. Only where references lead back
//! to an object that contains them do their names count, and the objects under these names have to be the same too.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hash, Hasher, RandomState};

use document::openapi::{Id, Kind, Model, Object};
use document::{Node, Value};

/// The keywords of a schema of which no change is reported.
const IDLE: [&str; 4] = ["title", "description", "example", "externalDocs"];

/// The objects of the revision that are the same as those of the base.
pub(super) struct Unchanged {
    sides: [Digests; 2],
    /// Whether an object of the base leads to one that may have changed.
    leads: Vec<bool>,
}

/// The digests of the objects of a document.
struct Digests {
    /// With references as they are written.
    texts: Vec<u64>,
    /// With references replaced by their targets.
    contents: Vec<u64>,
    /// The objects that lead back to an object around them.
    circular: Vec<Id>,
}

impl Unchanged {
    pub(super) fn of(base: &Model<'_>, revision: &Model<'_>) -> Self {
        // The random key keeps anybody from writing different objects with equal digests.
        let state = RandomState::new();
        let sides = [base, revision].map(|model| Digests::of(model, &state));
        Self { leads: leading_to_changes(base, revision, &sides), sides }
    }

    /// Whether two objects have the same text. References in it may lead to objects that changed.
    pub(super) fn is_text(&self, base: Id, revision: Id) -> bool {
        self.sides[0].texts[base] == self.sides[1].texts[revision]
    }

    /// Whether two sets of objects are the same.
    pub(super) fn are_all(&self, base: &[Id], revision: &[Id]) -> bool {
        let sum = |ids: &[Id], side: usize| {
            let contents = &self.sides[side].contents;
            ids.iter().try_fold(0_u64, |sum, id| Some(sum.wrapping_add(*contents.get(*id)?)))
        };
        base.len() == revision.len()
            && base.iter().all(|id| self.leads.get(*id) == Some(&false))
            && sum(base, 0) == sum(revision, 1)
    }
}

impl Digests {
    fn of(model: &Model<'_>, state: &RandomState) -> Self {
        #[derive(Clone, Copy, PartialEq)]
        enum Progress {
            New,
            Open,
            Done,
        }
        let mut digests =
            Self { texts: vec![0; model.len()], contents: vec![0; model.len()], circular: Vec::new() };
        let mut progress = vec![Progress::New; model.len()];
        let mut open = vec![model.root().id];
        while let Some(id) = open.pop() {
            let object = model.object(id);
            let target = object.resolved().filter(|_| object.is_reference());
            let mut below = object.parts().chain(target).map(|object| object.id);
            match progress[id] {
                Progress::New => {
                    progress[id] = Progress::Open;
                    open.push(id);
                    open.extend(below.filter(|id| progress[*id] == Progress::New));
                }
                Progress::Open => {
                    progress[id] = Progress::Done;
                    let is_circular = below.any(|id| progress[id] != Progress::Done);
                    let target = target.filter(|_| !is_circular);
                    if is_circular || (object.is_reference() && target.is_none()) {
                        digests.circular.push(id);
                    }
                    let [text, content] = digests.digest(object, state);
                    digests.texts[id] = text;
                    digests.contents[id] = target.map_or(content, |target| digests.contents[target.id]);
                }
                Progress::Done => {}
            }
        }
        digests
    }

    /// Returns the digests of an object as it is written, given those of its parts. The order of keys does not count.
    fn digest(&self, object: Object<'_>, state: &RandomState) -> [u64; 2] {
        let is_idle = |keyword: &str| object.kind() == Kind::Schema && IDLE.contains(&keyword);
        let mut own = 0_u64;
        let mut with_parts = [0_u64; 2];
        let mut keywords = HashSet::new();
        for part in object.parts().filter(|part| !is_idle(part.keyword())) {
            keywords.insert(part.keyword());
            let mut steps = state.build_hasher();
            part.steps().hash(&mut steps);
            for (sum, digests) in with_parts.iter_mut().zip([&self.texts, &self.contents]) {
                let mut hasher = steps.clone();
                hasher.write_u64(digests[part.id]);
                *sum = sum.wrapping_add(hasher.finish());
            }
        }
        let entries = object.node().entries().iter();
        for entry in entries.filter(|entry| !is_idle(&entry.key) && !keywords.contains(entry.key.as_str())) {
            let mut hasher = state.build_hasher();
            entry.key.hash(&mut hasher);
            hash(&entry.value, &mut hasher);
            own = own.wrapping_add(hasher.finish());
        }
        with_parts.map(|parts| state.hash_one((object.kind(), own, parts)))
    }
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

/// Returns for each object of the base whether it may lead to a change: by a reference back whose target is not the same
/// in the revision, or by a discriminator, which also leads to the schemas that extend its own.
fn leading_to_changes(base: &Model<'_>, revision: &Model<'_>, sides: &[Digests; 2]) -> Vec<bool> {
    let end = |object: Object<'_>, side: usize| {
        object.resolved().filter(|_| object.is_reference()).map(|end| sides[side].contents[end.id])
    };
    let text = |object: &Object<'_>| object.get("$ref").and_then(Node::as_str).unwrap_or_default().to_owned();
    let circular = sides[1].circular.iter().map(|id| revision.object(*id));
    let after: HashMap<String, Option<u64>> =
        circular.map(|object| (text(&object), end(object, 1))).collect();
    let circular = sides[0].circular.iter().map(|id| base.object(*id));
    let mut open: Vec<Object<'_>> = circular
        .filter(|object| {
            let before = end(*object, 0);
            before.is_none() || after.get(&text(object)) != Some(&before)
        })
        .chain(base.all(Kind::Discriminator))
        .collect();
    let mut referring: HashMap<Id, Vec<Object<'_>>> = HashMap::new();
    for object in base.everything().filter(Object::is_reference) {
        if let Some(end) = object.resolved() {
            referring.entry(end.id).or_default().push(object);
        }
    }
    let mut leads = vec![false; base.len()];
    while let Some(object) = open.pop() {
        if !std::mem::replace(&mut leads[object.id], true) {
            open.extend(object.parent());
            open.extend(referring.get(&object.id).into_iter().flatten());
        }
    }
    leads
}
