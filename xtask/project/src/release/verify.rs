//! `cargo xtask release --verify`: checks that every release is unchanged and valid.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use changes::Release;
use checks::config::Config;
use checks::lint::lint;
use checks::rule::Profile;
use document::Document;
use jiff::civil::Date;
use semver::Version;
use sha2::{Digest, Sha256};
use xtask::process::output;
use xtask::workspace::in_file;

use super::{
    RELEASED, SPEC, SUMS, changes_file, clean, config, document_version, errors, first, load, released, step,
};

/// Returns the SHA-256 checksum in lower-case hexadecimal digits.
pub fn sum(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns all problems of the releases, one line each.
pub fn problems(root: &Path, today: Date) -> Vec<String> {
    let mut problems = sums(root);
    problems.extend(history(root).unwrap_or_else(|problem| vec![problem]));
    let unread = documents(root, today, &mut problems).err();
    problems.extend(unread);
    problems
}

/// Compares the files with their checksums.
fn sums(root: &Path) -> Vec<String> {
    let mut problems = Vec::new();
    let directory = root.join(RELEASED);
    if directory.is_dir() && !directory.join(SUMS).is_file() {
        return vec![format!("{RELEASED}/{SUMS} is missing; restore it")];
    }
    let sums = fs::read_to_string(directory.join(SUMS)).unwrap_or_default();
    let mut expected: BTreeMap<&str, &str> =
        sums.lines().filter_map(|line| line.split_once("  ")).map(|(sum, name)| (name, sum)).collect();
    let entries = fs::read_dir(&directory).into_iter().flatten().flatten();
    for name in entries.filter_map(|entry| entry.file_name().into_string().ok()).filter(|name| name != SUMS) {
        let content = fs::read(directory.join(&name)).unwrap_or_default();
        match expected.remove(&*name) {
            None => problems.push(format!(
                "{RELEASED}/{name} is not in {SUMS}; delete it, or release it with `cargo xtask release`"
            )),
            Some(released) if released != sum(&content) => problems.push(format!(
                "{RELEASED}/{name} was changed; releases never change: restore the file from the history"
            )),
            Some(_) => {}
        }
    }
    problems.extend(expected.keys().map(|name| format!("{RELEASED}/{name} is missing; restore it")));
    problems
}

/// Checks each released document: it is valid, its JSON has the same content, the file with its changes is readable, and
/// its version is high enough for its changes. A working document with a released version must be identical to that
/// release. If it is the newest release, it must also have no lint errors.
fn documents(root: &Path, today: Date, problems: &mut Vec<String>) -> Result<(), String> {
    let config = config(root)?;
    let working = load(&root.join(SPEC));
    let directory = root.join(RELEASED);
    let mut previous: Option<(Version, Document)> = None;
    for (version, path) in released(&directory).map_err(in_file(&directory))? {
        let Ok(document) = load(&path).map_err(|problem| problems.push(problem)) else { continue };
        if let Ok(json) = fs::read(path.with_extension("json"))
            && serde_json::from_slice(&json).ok() != Some(document.root.to_json())
        {
            problems.push(format!("{RELEASED}/{version}.json differs in content from {version}.yaml"));
        }
        // Validity only: lint rules may have been added since the release.
        let mut validity = Config::default();
        validity.profile = Profile::Spec;
        let errors = errors(&validity, &document, lint(&document, today), "lint");
        if !errors.is_empty() {
            problems.push(first(&document.path, &errors, "it must not have been released"));
        }
        // Waivers must have been valid on the day of the release.
        let date = date(&directory, &version, previous.as_ref().map(|(version, _)| version));
        let date = date.map_err(|problem| problems.push(problem)).unwrap_or(today);
        if let Some((_, before)) = &previous {
            problems.extend(step(before, &document, &config, date).err());
        }
        if let Ok(working) = &working
            && document_version(working).as_ref() == Ok(&version)
            && document.text != working.text
        {
            let next = Version::new(version.major, version.minor, version.patch + 1);
            problems.push(format!(
                "{SPEC} differs from {version}, which is released; raise `info.version`, at least to {next} \
                 (run `cargo xtask breaking` to see whether that is enough)"
            ));
        }
        previous = Some((version, document));
    }
    let working = working?;
    match previous {
        Some((_, newest)) if newest.text == working.text => clean(&working, &config, today),
        _ => Ok(()),
    }
}

/// Checks the file with the changes of a release. Returns the date of the release. The list of changes is not compared
/// with a new one, since the words of the rules may have changed since the release.
fn date(directory: &Path, version: &Version, previous: Option<&Version>) -> Result<Date, String> {
    let name = changes_file(version);
    let text = fs::read_to_string(directory.join(&name)).map_err(|error| error.to_string());
    let release = text.and_then(|text| serde_json::from_str(&text).map_err(|error| error.to_string()));
    let release: Release = release
        .map_err(|problem| format!("{RELEASED}/{name}: {problem}; restore the file from the history"))?;
    let is_of_it =
        release.version == version.to_string() && release.previous == previous.map(Version::to_string);
    release.date.parse().ok().filter(|_| is_of_it).ok_or_else(|| {
        format!("{RELEASED}/{name} must have the version {version}, the version before it, and a date")
    })
}

/// Finds releases that were changed together with their checksums, which only the history shows.
fn history(root: &Path) -> Result<Vec<String>, String> {
    if !root.join(RELEASED).is_dir() {
        return Ok(Vec::new());
    }
    let unknown = |problem: String| format!("cannot verify that {RELEASED} never changed: {problem}");
    let shallow = git(root, &["rev-parse", "--is-shallow-repository"]).map_err(|problem| {
        unknown(format!("the history cannot be read: {problem}; run this in a full clone with git"))
    })?;
    if shallow.trim() != "false" {
        return Err(unknown("the history is shallow; run `git fetch --unshallow`".to_owned()));
    }
    let files = [".yaml", ".json"].map(|extension| format!("{RELEASED}/*{extension}"));
    let changes = ["log", "--diff-filter=MDR", "--no-renames", "--format=", "--name-only", "--"];
    let log = git(root, &[&changes[..], &[&files[0], &files[1]]].concat()).map_err(unknown)?;
    let changed: BTreeSet<&str> = log.lines().filter(|line| !line.is_empty()).collect();
    let problem = |file| format!("{file} was changed in a commit (`git log {file}`); releases never change");
    Ok(changed.into_iter().map(problem).collect())
}

/// Runs git. Returns its standard output.
fn git(root: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = output(Command::new("git").args(arguments).current_dir(root))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    Err(stderr.lines().next().unwrap_or("git failed").to_owned())
}
