//! Whether the released documents are as they were, and whether the document may be as it is.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use contract::document as yaml;
use sha2::{Digest, Sha256};

use super::{RELEASED, SPEC, SUMS, document_version};
use crate::written::Document;

/// SHA-256, in lower-case hexadecimal digits.
pub fn sum(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Runs the command: 0 in order, 1 not in order.
pub(super) fn run(root: &Path) -> ExitCode {
    let problems = problems(root);
    for problem in &problems {
        eprintln!("error: {problem}");
    }
    if problems.is_empty() {
        println!("{RELEASED}: every release is as it was");
    }
    ExitCode::from(u8::from(!problems.is_empty()))
}

/// What is not in order, a line each.
pub fn problems(root: &Path) -> Vec<String> {
    let mut problems = Vec::new();
    let directory = root.join(RELEASED);
    let sums = fs::read_to_string(directory.join(SUMS)).unwrap_or_default();
    let mut expected: BTreeMap<&str, &str> =
        sums.lines().filter_map(|line| line.split_once("  ")).map(|(sum, name)| (name, sum)).collect();
    let entries = fs::read_dir(&directory).into_iter().flatten().flatten();
    for name in entries.filter_map(|entry| entry.file_name().into_string().ok()).filter(|name| name != SUMS) {
        let content = fs::read(directory.join(&name)).unwrap_or_default();
        match expected.remove(&*name) {
            None => problems.push(format!(
                "{RELEASED}/{name} is no release: `cargo xtask release` writes them, with their sums"
            )),
            Some(released) if released != sum(&content) => problems.push(format!(
                "{RELEASED}/{name} was changed; a release never changes, so bring the old file back"
            )),
            Some(_) => problems.extend(differs_from_yaml(&directory, &name, &content)),
        }
    }
    problems.extend(expected.keys().map(|name| format!("{RELEASED}/{name} is gone; bring it back")));
    problems.extend(changed_in_history(root));
    problems.extend(unreleased_change(root));
    problems
}

/// A release in JSON must say what the one in YAML says.
fn differs_from_yaml(directory: &Path, name: &str, content: &[u8]) -> Option<String> {
    let version = name.strip_suffix(".json")?;
    let text = fs::read_to_string(directory.join(format!("{version}.yaml"))).ok();
    let written = text.and_then(|text| yaml::read(&text).ok()).map(|root| root.to_json());
    let same = written.is_some() && serde_json::from_slice(content).ok() == written;
    (!same).then(|| format!("{RELEASED}/{name} does not say what {version}.yaml says"))
}

/// A change of a release together with its sum shows in the history, if there is one.
fn changed_in_history(root: &Path) -> Vec<String> {
    let log = Command::new("git")
        .args(["log", "--diff-filter=MDR", "--no-renames", "--format=commit %h", "--name-only", "--"])
        .args([format!("{RELEASED}/*.yaml"), format!("{RELEASED}/*.json")])
        .current_dir(root)
        .output();
    let Ok(log) = log else { return Vec::new() };
    let mut commit = String::new();
    let mut problems = Vec::new();
    for line in String::from_utf8_lossy(&log.stdout).lines() {
        if line.starts_with("commit ") {
            line.clone_into(&mut commit);
        } else if !line.is_empty() {
            problems.push(format!("{line} was changed in {commit}; a release never changes"));
        }
    }
    problems
}

/// The document may differ from the release of its own version in nothing.
fn unreleased_change(root: &Path) -> Option<String> {
    let document = Document::load(&root.join(SPEC)).ok()?;
    let version = document_version(&document).ok()?;
    let released = fs::read_to_string(root.join(RELEASED).join(format!("{version}.yaml"))).ok()?;
    if released == document.text {
        return None;
    }
    let line = released.lines().zip(document.text.lines()).take_while(|(old, new)| old == new).count() + 1;
    let next = semver::Version::new(version.major, version.minor, version.patch + 1);
    Some(format!(
        "{SPEC}:{line} differs from {version}, which is released; raise `info.version`, at least to {next} \
         (cargo xtask breaking says whether that is enough)"
    ))
}
