//! The entry of a changelog, for users of the API: in the words of the document, without names of rules and positions in
//! files.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::Write as _;

use super::change::Change;
use super::rules::{Bump, Chapter};
use super::version::bump;
use crate::finding::Severity;

/// Returns the entry of a changelog for version `to`, released on `date`, in Markdown. `from` is the version
/// before it; `None` for the first release. Waived changes are listed, but not as breaking.
pub fn changelog(changes: &[Change], from: Option<&str>, to: &str, date: &str) -> String {
    let mut text = format!("## {to} ({date})\n");
    let Some(from) = from else {
        text.push_str("\nThe first release.\n");
        return text;
    };
    let mut lines: Vec<Line> = Vec::new();
    let mut listed_at: HashMap<(String, &str), usize> = HashMap::new();
    let mut broken = HashSet::new();
    let listed = changes.iter().filter(|change| change.rule.bump != Bump::None);
    for change in listed {
        let (chapter, sentence) = (chapter(change), change.sentence());
        let words = change.waived.as_ref().map(|waived| &waived.reason).or(change.description.as_ref());
        let impact = words.map_or(change.rule.explanation, String::as_str);
        if chapter.0 == 0 {
            broken.insert(sentence.clone());
        } else if change.severity == Severity::Info && broken.contains(&sentence) {
            // The other direction of a breaking change that is listed already.
            continue;
        }
        let next = lines.len();
        let position = *listed_at.entry((sentence.clone(), impact)).or_insert(next);
        if position == next {
            lines.push(Line { chapter, sentence, impact, operations: BTreeSet::new() });
        }
        // Some sentences name the operation already.
        if !change.subject.parts().iter().any(|(kind, _)| *kind == "operation") {
            lines[position].operations.extend(change.operations.iter().map(String::as_str));
        }
    }
    if lines.is_empty() {
        let _ = write!(text, "\nOnly descriptions and examples differ from {from}.\n");
    }
    lines.sort_by_key(|line| line.chapter);
    for lines in lines.chunk_by(|one, other| one.chapter == other.chapter) {
        let _ = write!(text, "\n### {}\n\n", lines[0].chapter.1);
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
    chapter: Title,
    sentence: String,
    impact: &'a str,
    operations: BTreeSet<&'a str>,
}

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
