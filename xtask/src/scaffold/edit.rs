//! Inserts lines into existing files, and writes all files together.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;
use std::{fmt, fs};

use super::Scaffold;

/// Lines to insert into an existing file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Addition {
    /// The path of the file, relative to the root.
    pub path: String,
    /// The position in the file.
    pub position: Position,
    /// The lines, without indentation.
    pub lines: Vec<String>,
}

/// A position in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// After the last `mod name;`.
    Modules,
    /// Before the `Ok(api)` that ends the function `api`.
    Registrations,
    /// After the last line.
    End,
}

impl fmt::Display for Position {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Modules => "after the last `mod` declaration",
            Self::Registrations => "before the `Ok(api)` of the function `api`",
            Self::End => "after the last line",
        })
    }
}

impl Addition {
    /// Returns the text with the missing lines inserted.
    ///
    /// # Errors
    /// A message, if the file has no such position.
    pub fn apply(&self, text: &str) -> Result<String, String> {
        let has = |line: &String| text.lines().any(|known| known.trim() == line);
        let lines: Vec<&String> = self.lines.iter().filter(|line| !has(line)).collect();
        if lines.is_empty() {
            return Ok(text.to_owned());
        }
        let at = self.position.offset(text).ok_or_else(|| {
            format!(
                "{}: cannot find the position {}; add by hand: {}",
                self.path,
                self.position,
                self.lines.join(" ")
            )
        })?;
        let lines = lines.into_iter().map(|line| match self.position {
            Position::Registrations => format!("    {line}\n"),
            Position::Modules | Position::End => format!("{line}\n"),
        });
        let (before, after) = text.split_at(at);
        Ok([before, &lines.collect::<String>(), after].concat())
    }
}

impl Position {
    /// Returns the offset in a formatted file at which lines are inserted.
    fn offset(self, text: &str) -> Option<usize> {
        match self {
            Self::End => Some(text.len()),
            Self::Modules => {
                let lines = text.split_inclusive('\n').scan(0, |end, line| {
                    *end += line.len();
                    Some((line, *end))
                });
                lines.filter(|(line, _)| declares_module(line)).last().map(|(_, end)| end)
            }
            Self::Registrations => text.find("\n    Ok(api)\n").map(|at| at + 1),
        }
    }
}

/// Whether a line is a top-level `mod name;`.
fn declares_module(line: &str) -> bool {
    let Some((visibility, name)) = line.split_once("mod ") else { return false };
    (visibility.is_empty() || visibility.starts_with("pub")) && name.trim_end().ends_with(';')
}

impl Scaffold {
    /// Writes the new files and edits the existing ones. Returns the paths of the changed files. A second call changes
    /// nothing.
    ///
    /// # Errors
    /// A message, if a new file exists with different content or an existing file has no position for its lines, in which
    /// case nothing is written; or if a file cannot be written.
    pub fn write(&self, root: &Path) -> Result<Vec<String>, String> {
        let known = |path: &str| match fs::read_to_string(root.join(path)) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(format!("{path}: {error}")),
        };
        let mut changed: BTreeMap<&str, String> = BTreeMap::new();
        for (path, text) in &self.files {
            match known(path)? {
                None => drop(changed.insert(path, text.clone())),
                Some(known) if known == *text => {}
                Some(_) => {
                    return Err(format!(
                        "{path}: the file exists with different content; nothing was written"
                    ));
                }
            }
        }
        for addition in &self.additions {
            let path = addition.path.as_str();
            let text = match changed.get(path) {
                Some(text) => text.clone(),
                None => known(path)?.ok_or_else(|| format!("{path}: the file does not exist"))?,
            };
            let edited = addition.apply(&text)?;
            if edited != text {
                changed.insert(path, edited);
            }
        }
        for (path, text) in &changed {
            let file = root.join(path);
            let directory = file.parent().map_or(Ok(()), fs::create_dir_all);
            let written = directory.and_then(|()| fs::write(&file, text));
            written.map_err(|error| format!("{path}: {error}"))?;
        }
        Ok(changed.into_keys().map(str::to_owned).collect())
    }
}
