//! What changed in a release, as data: the content of `VERSION.changes.json`.
//!
//! `breaking` makes it, and the Markdown changelog and the published pages are written from it. It is a package of its
//! own, so that a build script can read the data without the comparison.

use serde::{Deserialize, Serialize};

/// A release and its changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Release {
    /// The version, `info.version`.
    pub version: String,
    /// The day of the release, as YYYY-MM-DD.
    pub date: String,
    /// The version before it. `None` for the first release.
    pub previous: Option<String>,
    /// The changes in the order of their chapters. Empty if only descriptions and examples differ.
    pub changes: Vec<Entry>,
}

/// A change for users of the API; the same change at several places is one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The title of its chapter, such as `Breaking` or `Added`.
    pub chapter: String,
    /// The name of the rule that found it.
    pub rule: String,
    /// `info`, `warning` or `error`. A waived change is `info`.
    pub severity: String,
    /// What changed and where, a sentence without its full stop.
    pub sentence: String,
    /// What it means for clients, as a sentence.
    pub impact: String,
    /// The first sentence of the description of an object that was added, if it has one.
    pub description: Option<String>,
    /// The reason of the waiver, if the change breaks clients and is intended.
    pub waiver: Option<String>,
    /// The operations that it concerns, by operationId or else by method and path. Empty for the whole document.
    pub operations: Vec<String>,
    /// The JSON pointers (RFC 6901) of its places in the document of the release; for a removed part the nearest place
    /// that remains.
    pub places: Vec<String>,
}

impl Entry {
    /// Returns the words that explain the change in a changelog: the reason of its waiver, else the description of what
    /// was added, else the impact.
    pub fn words(&self) -> &str {
        self.waiver.as_ref().or(self.description.as_ref()).unwrap_or(&self.impact)
    }

    /// Returns the operations that the sentence does not name.
    pub fn unnamed_operations(&self) -> impl Iterator<Item = &str> {
        // The sentence may begin with it, in upper case.
        let is_named = |name: &str| self.sentence.contains(&format!("peration `{name}`"));
        self.operations.iter().map(String::as_str).filter(move |name| !is_named(name))
    }
}

impl Release {
    /// Returns the changes by chapter.
    pub fn chapters(&self) -> impl Iterator<Item = (&str, &[Entry])> {
        let chapters = self.changes.chunk_by(|one, other| one.chapter == other.chapter);
        chapters.filter_map(|entries| Some((entries.first()?.chapter.as_str(), entries)))
    }

    /// Returns a sentence that replaces the list of changes, if there are none.
    pub fn without_changes(&self) -> Option<String> {
        match &self.previous {
            None => Some("The first release.".to_owned()),
            Some(previous) if self.changes.is_empty() => {
                Some(format!("Only descriptions and examples differ from {previous}."))
            }
            Some(_) => None,
        }
    }

    /// Returns the content of `VERSION.changes.json`.
    pub fn to_json(&self) -> String {
        // Cannot fail: all keys are strings.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Returns the entry of a changelog, in Markdown.
    pub fn to_markdown(&self) -> String {
        let mut text = format!("## {} ({})\n", self.version, self.date);
        text.extend(self.without_changes().map(|sentence| format!("\n{sentence}\n")));
        for (title, entries) in self.chapters() {
            text += &format!("\n### {title}\n\n");
            for entry in entries {
                text += &format!("- {}. {}", entry.sentence, entry.words());
                let names: Vec<_> = entry.unnamed_operations().map(|name| format!("`{name}`")).collect();
                if !names.is_empty() {
                    text += &format!(" ({})", names.join(", "));
                }
                text.push('\n');
            }
        }
        text
    }
}
