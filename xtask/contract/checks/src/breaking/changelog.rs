//! The changes of a release for users of the API: in the words of the document, without names of rules and positions in
//! files where those are not asked for.

use std::collections::{HashMap, HashSet};

use changes::{Entry, Release};

use super::change::Change;
use super::rules::{Bump, Chapter};
use super::version::bump;
use crate::finding::Severity;

/// Returns the release of version `to` on `date`, with its changes in the order of the chapters. `from` is the version
/// before it; `None` for the first release. Waived changes are listed, but not as breaking.
pub fn changelog(changes: &[Change], from: Option<&str>, to: &str, date: &str) -> Release {
    let mut entries: Vec<(Title, Entry)> = Vec::new();
    let mut listed_at: HashMap<(String, String), usize> = HashMap::new();
    let mut broken = HashSet::new();
    let listed = changes.iter().filter(|change| from.is_some() && change.rule.bump != Bump::None);
    for change in listed {
        let chapter = chapter(change);
        let entry = entry(change, chapter);
        if chapter.0 == 0 {
            broken.insert(entry.sentence.clone());
        } else if change.severity == Severity::Info && broken.contains(&entry.sentence) {
            // The other direction of a breaking change that is listed already.
            continue;
        }
        let key = (entry.sentence.clone(), entry.words().to_owned());
        let position = *listed_at.entry(key).or_insert(entries.len());
        match entries.get_mut(position) {
            Some((_, known)) => {
                known.operations.extend(entry.operations);
                known.places.extend(entry.places);
            }
            None => entries.push((chapter, entry)),
        }
    }
    entries.sort_by_key(|(chapter, _)| *chapter);
    let changes = entries.into_iter().map(|(_, mut entry)| {
        for list in [&mut entry.operations, &mut entry.places] {
            list.sort();
            list.dedup();
        }
        entry
    });
    Release {
        version: to.to_owned(),
        date: date.to_owned(),
        previous: from.map(str::to_owned),
        changes: changes.collect(),
    }
}

fn entry(change: &Change, chapter: Title) -> Entry {
    Entry {
        chapter: chapter.1.to_owned(),
        rule: change.rule.name.to_owned(),
        severity: change.severity.to_string(),
        sentence: change.sentence(),
        impact: change.rule.explanation.to_owned(),
        description: change.description.clone(),
        waiver: change.waived.clone(),
        operations: change.operations.clone(),
        places: vec![change.place.pointer.clone()],
    }
}

/// Position and title of a chapter.
type Title = (u8, &'static str);

/// The chapter that a change is listed in.
fn chapter(change: &Change) -> Title {
    match (change.breaks() && bump(change) == Bump::Major, change.rule.chapter) {
        (true, _) => (0, "Breaking"),
        (false, Chapter::Added) => (1, "Added"),
        (false, Chapter::Changed) => (2, "Changed"),
        (false, Chapter::Deprecated) => (3, "Deprecated"),
        (false, Chapter::Removed) => (4, "Removed"),
    }
}
