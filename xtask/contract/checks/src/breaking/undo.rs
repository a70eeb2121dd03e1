//! Changes that only a waived change explains. The keywords of a schema are reported until they explain that clients
//! break, so a second reason at the same place is found only without the first: this module undoes the waived changes in
//! the text of the revision, for another comparison.

use document::edits::{edited, edits};
use document::finding::Location;
use document::openapi::Model;
use document::repair::Repair;
use document::rule::Findings;
use document::{Document, Node, pointer};

use super::change::Change;

/// Returns the revision with the values of the base at the places of the waived changes. `None` if nothing is waived, or
/// nothing can be undone.
pub(crate) fn without_waived(base: &Document, revision: &Document, changes: &[Change]) -> Option<Document> {
    let waived = changes.iter().filter(|change| change.waived.is_some());
    let mut repairs: Vec<Repair> = waived.filter_map(|change| repair(base, revision, change)).collect();
    repairs.dedup();
    let mut undone = None;
    for repair in repairs {
        let document = undone.as_ref().unwrap_or(revision);
        let model = Model::of(document, &mut Findings::default());
        if let Some(edits) = edits(&model, &repair) {
            undone = Some(Document::parse(&revision.path, &edited(&document.text, &edits)).ok()?);
        }
    }
    undone
}

/// Returns the repair that writes the value of the base at the place of a change.
fn repair(base: &Document, revision: &Document, change: &Change) -> Option<Repair> {
    let at = change.place.pointer.clone();
    let Some(Location { pointer: was, .. }) = &change.base else { return Some(Repair::Remove { at }) };
    let old = base.root.pointer(was)?;
    let last = |pointer: &str| pointer::tokens(pointer)?.last().map(String::from);
    if last(&at) == last(was) {
        return Some(Repair::Write { at, value: old.to_json() });
    }
    // The place is the owner of what was removed: a list or a mapping.
    let (owner, key) = (was.rsplit_once('/')?.0, last(was)?);
    match revision.root.pointer(&at)?.items() {
        [] => Some(Repair::Add { at, key, value: old.to_json() }),
        _ => Some(Repair::Write { at, value: base.root.pointer(owner).map(Node::to_json)? }),
    }
}
