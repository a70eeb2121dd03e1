//! Merge keys of YAML 1.1.

use document::openapi::Model;
use document::place::Spot;
use document::pointer;

use crate::rule::{Findings, rules};

rules! {
    MERGE_KEY: Spec Warning "yaml-merge-key", "OpenAPI 3.0.3, 4.3; YAML 1.1",
        "No mapping has a merge key (`<<`), because YAML 1.2 has none.";
}

pub(crate) fn check(model: &Model<'_>, findings: &mut Findings) {
    if !model.source().contains("<<") {
        return;
    }
    let mut open = vec![(model.root(), String::new(), model.root().node())];
    while let Some((owner, pointer, node)) = open.pop() {
        let owner = model.at(node).unwrap_or(owner);
        if let Some(span) = node.merge_key() {
            let subject = owner.subject();
            let message = format!(
                "{subject} has the merge key `<<` of YAML 1.1. Tools for YAML 1.2 do not merge, and read a key `<<`."
            );
            let spot = Spot { pointer: pointer.clone(), span, subject, alias: None };
            findings.add(&MERGE_KEY, spot, message, "Write the keys out, or use a `$ref`.");
        }
        let own = node.entries().iter().filter(|entry| node.inherited(entry).is_none());
        let values = own.map(|entry| (pointer::below(pointer.as_str(), &entry.key), &entry.value));
        let items = node.items().iter().enumerate();
        let items = items.map(|(number, item)| (pointer::below(pointer.as_str(), &number.to_string()), item));
        let parts = values.chain(items).filter(|(_, node)| node.alias.is_none());
        open.extend(parts.map(|(pointer, node)| (owner, pointer, node)));
    }
}
