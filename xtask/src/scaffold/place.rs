//! Lines for files that are there, and where in them they belong.

use std::fmt;

/// Lines for a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Addition {
    /// Its path from the root.
    pub path: String,
    /// Where in it.
    pub place: Where,
    /// What to add, without indentation.
    pub lines: Vec<String>,
}

/// A place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Where {
    /// After the last `mod`.
    BesideModules,
    /// Before the first line that is this.
    Before(&'static str),
    /// In the list of tags.
    InTags,
    /// After all that is there.
    AtTheEnd,
}

impl fmt::Display for Where {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BesideModules => formatter.write_str("beside the other `mod`"),
            Self::Before(line) => write!(formatter, "before `{line}`"),
            Self::InTags => formatter.write_str("into `tags` of `TagConfig`"),
            Self::AtTheEnd => formatter.write_str("at the end"),
        }
    }
}

impl Addition {
    /// The text with the lines in it; `None` if it has no such place.
    pub fn apply(&self, text: &str) -> Option<String> {
        let lines: Vec<&str> = text.lines().collect();
        let at = match self.place {
            Where::BesideModules => lines.iter().rposition(|line| line.starts_with("mod "))? + 1,
            Where::Before(sought) => lines.iter().position(|line| line.trim() == sought)?,
            Where::AtTheEnd => lines.len(),
            Where::InTags => return self.among_tags(text),
        };
        let indent = match self.place {
            Where::Before(_) => lines[at].len() - lines[at].trim_start().len(),
            _ => 0,
        };
        let added = self.lines.iter().map(|line| format!("{}{line}", " ".repeat(indent)));
        let all: Vec<String> = lines[..at]
            .iter()
            .map(|line| (*line).to_owned())
            .chain(added)
            .chain(lines[at..].iter().map(|line| (*line).to_owned()))
            .collect();
        Some(all.join("\n") + "\n")
    }

    /// `tags: [(TAG.to_owned(), TagDetails::default())].into(),` and what the formatter makes of it.
    fn among_tags(&self, text: &str) -> Option<String> {
        let list = text.find("tags: [")? + "tags: [".len();
        Some(format!("{}\n{}\n{}", &text[..list], self.lines.join("\n"), &text[list..]))
    }
}
