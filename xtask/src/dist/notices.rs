//! The licences of the crates that are linked into the program, with their texts.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use launcher::workspace::in_file;

use super::dependencies::Dependencies;

/// The beginnings of the names of files with licences, in upper case.
const NAMES: [&str; 5] = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE"];

/// Returns one text with all licences. Crates with the same text share it.
///
/// # Errors
/// A message, if a file cannot be read.
pub(super) fn notices(dependencies: &Dependencies) -> Result<String, String> {
    let mut crates = String::from("animal-store contains these crates:\n\n");
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (id, dependency) in dependencies.iter().filter(|(_, dependency)| dependency.checksum.is_some()) {
        let name = format!("{} {}", id.name, id.version);
        // Writing to a string does not fail.
        let _ = writeln!(crates, "{name}: {}", dependency.licence.as_deref().unwrap_or("see its text"));
        for text in files(&dependency.directory)? {
            texts.entry(text).or_default().push(name.clone());
        }
    }
    for (text, crates_of_text) in texts {
        let line = "-".repeat(78);
        let _ = write!(crates, "\n{line}\n{}\n{line}\n\n{}\n", crates_of_text.join(", "), text.trim_end());
    }
    Ok(crates)
}

/// Returns the texts of licences in a directory, in the order of their names.
fn files(directory: &Path) -> Result<Vec<String>, String> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory).map_err(in_file(directory))? {
        let path = entry.map_err(in_file(directory))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        if path.is_file() && NAMES.iter().any(|beginning| name.starts_with(beginning)) {
            paths.push(path);
        }
    }
    paths.sort();
    let read = |path: &std::path::PathBuf| {
        fs::read(path)
            .map(|bytes| String::from_utf8_lossy(&bytes).replace("\r\n", "\n"))
            .map_err(in_file(path))
    };
    paths.iter().map(read).collect()
}
