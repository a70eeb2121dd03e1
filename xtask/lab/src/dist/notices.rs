//! The licences of the crates that are linked into the program, with their texts.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use xtask::workspace::in_file;

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
    let packages = dependencies.values().map(|dependency| &dependency.package);
    for package in packages.filter(|package| package.source.is_some()) {
        let name = format!("{} {}", package.name, package.version);
        crates += &format!("{name}: {}\n", package.license.as_deref().unwrap_or("see its text"));
        for text in files(package.manifest_path.parent().unwrap_or(&package.manifest_path).as_std_path())? {
            texts.entry(text).or_default().push(name.clone());
        }
    }
    let line = "-".repeat(78);
    let text = |(text, crates): (&String, &Vec<String>)| {
        format!("\n{line}\n{}\n{line}\n\n{}\n", crates.join(", "), text.trim_end())
    };
    Ok(crates + &texts.iter().map(text).collect::<String>())
}

/// Returns the texts of licences in a directory, in the order of their names.
fn files(directory: &Path) -> Result<Vec<String>, String> {
    let entries = fs::read_dir(directory).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let paths = entries.map_err(in_file(directory))?.into_iter().map(|entry| entry.path());
    let is_licence = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        path.is_file() && NAMES.iter().any(|beginning| name.starts_with(beginning))
    };
    let mut paths: Vec<PathBuf> = paths.filter(is_licence).collect();
    paths.sort();
    let read = |path: &PathBuf| {
        let bytes = fs::read(path).map_err(in_file(path))?;
        Ok(String::from_utf8_lossy(&bytes).replace("\r\n", "\n"))
    };
    paths.iter().map(read).collect()
}
