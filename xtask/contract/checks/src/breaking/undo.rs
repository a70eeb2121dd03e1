//! Changes that only a waived change explains. The keywords of a schema are reported until they explain that clients
//! break, so a second reason at the same place is found only without the first: this module puts the values of the base at
//! the places of the waived changes, for another comparison.

use std::collections::BTreeMap;

use document::{Document, Node, pointer};

use super::change::Change;

/// Returns the revision with the values of the base at the places of the waived changes. Everything keeps its place in the
/// text. `None` if nothing is waived.
pub(crate) fn without_waived(base: &Document, revision: &Document, changes: &[Change]) -> Option<Document> {
    let waived = changes.iter().filter(|change| change.waived.is_some());
    let masks: BTreeMap<String, Option<Node>> =
        waived.flat_map(|change| masks(base, revision, change).unwrap_or_default()).collect();
    let root = revision.root.with(&masks);
    (!masks.is_empty()).then(|| Document { path: revision.path.clone(), text: revision.text.clone(), root })
}

/// Returns the values of the base at the place of a change, by their JSON pointers in the revision.
fn masks(base: &Document, revision: &Document, change: &Change) -> Option<Vec<(String, Option<Node>)>> {
    let at = change.place.pointer.clone();
    let Some(was) = &change.base else { return Some(added(revision, at)) };
    if change.end.is_some() {
        // The reference.
        return Some(vec![(at.clone(), base.root.pointer(&at).cloned())]);
    }
    let old = base.root.pointer(&was.pointer)?;
    let last = |pointer: &str| pointer::tokens(pointer)?.last().map(String::from);
    if last(&at) == last(&was.pointer) {
        return Some(vec![(at, Some(old.clone()))]);
    }
    // The place is the owner of what was removed: a list or a mapping.
    let (owner, key) = (was.pointer.rsplit_once('/')?.0, last(&was.pointer)?);
    Some(vec![match revision.root.pointer(&at)?.items() {
        [] => (pointer::below(at, &key), Some(old.clone())),
        _ => (at, base.root.pointer(owner).cloned()),
    }])
}

/// Returns the places of something that was added: its own, and for a property its name in `required`.
fn added(revision: &Document, at: String) -> Vec<(String, Option<Node>)> {
    let name = at.rsplit_once("/properties/").and_then(|(schema, _)| {
        let required = pointer::below(schema, "required");
        let name = pointer::tokens(&at)?.last()?;
        let number =
            revision.root.pointer(&required)?.items().iter().position(|it| it.as_str() == Some(&name))?;
        Some(pointer::below(required, &number.to_string()))
    });
    [at].into_iter().chain(name).map(|at| (at, None)).collect()
}
