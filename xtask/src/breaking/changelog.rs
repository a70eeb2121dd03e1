//! What changed, for people who only use the API: no rules, no lines, no code.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;

use super::change::Change;
use super::rules::{Bump, Chapter};

/// The entry of a changelog for version `to`, released on `date`, in Markdown. `from` is the version before
/// it; without one this is the first. Changes that were waived are listed with the others, but not as
/// breaking.
pub fn changelog(changes: &[Change], from: Option<&str>, to: &str, date: &str) -> String {
    let mut text = format!("## {to} ({date})\n");
    let Some(from) = from else {
        text.push_str("\nThe first release.\n");
        return text;
    };
    let mut chapters: BTreeMap<(u8, &str), Vec<String>> = BTreeMap::new();
    let mut said = HashSet::new();
    for change in changes.iter().filter(|change| change.rule.bump != Bump::None) {
        let chapter = match (change.breaks() && change.rule.bump == Bump::Major, change.rule.chapter) {
            (true, _) => (0, "Breaking"),
            (false, Chapter::Added) => (1, "Added"),
            (false, Chapter::Changed) => (2, "Changed"),
            (false, Chapter::Deprecated) => (3, "Deprecated"),
            (false, Chapter::Removed) => (4, "Removed"),
        };
        let line = line(change);
        if said.insert(line.clone()) {
            chapters.entry(chapter).or_default().push(line);
        }
    }
    if chapters.is_empty() {
        let _ = write!(text, "\nOnly words and examples differ from {from}.\n");
    }
    for ((_, title), lines) in chapters {
        let _ = write!(text, "\n### {title}\n\n");
        for line in lines {
            text.push_str(&line);
        }
    }
    text
}

fn line(change: &Change) -> String {
    let mut line = format!("- {}. {}", change.sentence(), change.rule.whom);
    let mentioned = change.subject.parts().iter().any(|(kind, _)| *kind == "operation");
    if !mentioned && !change.operations.is_empty() {
        let names: Vec<_> = change.operations.iter().map(|name| format!("`{name}`")).collect();
        let _ = write!(line, " ({})", names.join(", "));
    }
    line.push('\n');
    line
}
