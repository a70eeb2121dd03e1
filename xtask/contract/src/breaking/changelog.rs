//! The entry of a changelog, for users of the API: without rules, lines and code.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Write as _;

use super::change::Change;
use super::rules::{Bump, Chapter};
use crate::finding::Severity;

/// The entry of a changelog for version `to`, released on `date`, in Markdown. `from` is the version before
/// it; without one this is the first. Changes that were waived are listed with the others, but not as
/// breaking.
pub fn changelog(changes: &[Change], from: Option<&str>, to: &str, date: &str) -> String {
    let mut text = format!("## {to} ({date})\n");
    let Some(from) = from else {
        text.push_str("\nThe first release.\n");
        return text;
    };
    let mut chapters: BTreeMap<Title, Vec<Line>> = BTreeMap::new();
    let mut listed_at: HashMap<(String, &str), (Title, usize)> = HashMap::new();
    let mut broken = HashSet::new();
    let listed = changes.iter().filter(|change| change.rule.bump != Bump::None);
    for change in listed {
        let chapter = chapter(change);
        let sentence = change.sentence();
        if chapter.0 == 0 {
            broken.insert(sentence.clone());
        } else if change.severity() == Severity::Info && broken.contains(&sentence) {
            // The other direction of a breaking change that is listed already.
            continue;
        }
        let lines = chapters.entry(chapter).or_default();
        let place = (chapter, lines.len());
        let (chapter, position) =
            *listed_at.entry((sentence.clone(), change.rule.explanation)).or_insert(place);
        if (chapter, position) == place {
            lines.push(Line { sentence, impact: change.rule.explanation, operations: BTreeSet::new() });
        }
        // Where the sentence itself names the operation, once is enough.
        let named = change.subject.parts().iter().any(|(kind, _)| *kind == "operation");
        if let Some(line) =
            chapters.get_mut(&chapter).and_then(|lines| lines.get_mut(position)).filter(|_| !named)
        {
            line.operations.extend(change.operations.iter().map(String::as_str));
        }
    }
    if chapters.is_empty() {
        let _ = write!(text, "\nOnly descriptions and examples differ from {from}.\n");
    }
    for ((_, title), lines) in chapters {
        let _ = write!(text, "\n### {title}\n\n");
        for line in lines {
            let _ = write!(text, "- {}. {}", line.sentence, line.impact);
            if !line.operations.is_empty() {
                let names: Vec<_> = line.operations.iter().map(|name| format!("`{name}`")).collect();
                let _ = write!(text, " ({})", names.join(", "));
            }
            text.push('\n');
        }
    }
    text
}

/// Position and title of a chapter.
type Title = (u8, &'static str);

/// One line of a chapter; the same change in several operations is one.
struct Line<'a> {
    sentence: String,
    impact: &'a str,
    operations: BTreeSet<&'a str>,
}

/// The chapter that a change is listed in.
fn chapter(change: &Change) -> Title {
    match (change.breaks() && change.rule.bump == Bump::Major, change.rule.chapter) {
        (true, _) => (0, "Breaking"),
        (false, Chapter::Added) => (1, "Added"),
        (false, Chapter::Changed) => (2, "Changed"),
        (false, Chapter::Deprecated) => (3, "Deprecated"),
        (false, Chapter::Removed) => (4, "Removed"),
    }
}
