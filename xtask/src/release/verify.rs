//! `cargo xtask release --verify`: checks that every release is as it was and as it should be.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use contract::config::Config;
use contract::document::{self, Document};
use contract::lint::lint;
use contract::rule::Profile;
use jiff::civil::Date;
use semver::Version;
use sha2::{Digest, Sha256};

use super::{
    CHANGELOG, RELEASED, SPEC, SUMS, clean, config, document_version, errors, first, load, released, step,
};

/// SHA-256, in lower-case hexadecimal digits.
pub fn sum(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Runs the command. Returns the exit status: 0 in order, 1 not in order.
pub(super) fn run(root: &Path, code: &Document, today: Date) -> u8 {
    let problems = problems(root, code, today);
    for problem in &problems {
        eprintln!("error: {problem}");
    }
    if problems.is_empty() {
        println!("{RELEASED}: every release is unchanged and valid, and its version fits what it changed");
    }
    u8::from(!problems.is_empty())
}

/// What is not in order, a line each.
pub fn problems(root: &Path, code: &Document, today: Date) -> Vec<String> {
    let mut problems = sums(root);
    problems.extend(history(root));
    match config(root) {
        Ok(config) => problems.extend(documents(root, code, &config, today)),
        Err(refused) => problems.push(refused.message),
    }
    problems.extend(unreleased_change(root));
    problems
}

/// Compares the files with their sums.
fn sums(root: &Path) -> Vec<String> {
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
                "{RELEASED}/{name} is not in {SUMS}; delete it, or release it with `cargo xtask release`"
            )),
            Some(released) if released != sum(&content) => problems.push(format!(
                "{RELEASED}/{name} was changed; a release never changes, so restore the old file"
            )),
            Some(_) => problems.extend(differs_from_yaml(&directory, &name, &content)),
        }
    }
    problems.extend(expected.keys().map(|name| format!("{RELEASED}/{name} is missing; restore it")));
    problems
}

/// Checks what was released: each release is valid and its version fits what it changed; the newest, as long
/// as it is the working document, is clean and agrees with the code.
fn documents(root: &Path, code: &Document, config: &Config, today: Date) -> Vec<String> {
    let releases = match released(&root.join(RELEASED)) {
        Ok(releases) => releases,
        Err(error) => return vec![format!("{RELEASED}: {error}")],
    };
    let dates = dates(root);
    let mut problems = Vec::new();
    let mut before: Option<Document> = None;
    for (version, path) in releases {
        let document = match load(&path) {
            Ok(document) => document,
            Err(refused) => {
                problems.push(refused.message);
                continue;
            }
        };
        // What a released document must be, whatever the rules have become since.
        let validity = Config::default().with_profile(Some(Profile::Spec));
        let errors = errors(&validity, lint(&document, today));
        if !errors.is_empty() {
            problems.push(first(&document.path, &errors, "it should not have been released"));
        }
        if let Some(before) = &before {
            // Waivers are judged by the day of the release.
            let date = dates.get(&version).copied().unwrap_or(today);
            problems.extend(step(before, &document, config, date).err().map(|refused| refused.message));
        }
        before = Some(document);
    }
    if let (Some(newest), Ok(working)) = (before, load(&root.join(SPEC)))
        && newest.text == working.text
    {
        problems.extend(clean(&working, code, config, today).err().map(|refused| refused.message));
    }
    problems
}

/// The dates of the releases, by the headings of the changelog.
fn dates(root: &Path) -> BTreeMap<Version, Date> {
    let text = fs::read_to_string(root.join(CHANGELOG)).unwrap_or_default();
    let headings = text.lines().filter_map(|line| line.strip_prefix("## ")?.split_once(" ("));
    headings
        .filter_map(|(version, date)| Some((version.parse().ok()?, date.strip_suffix(')')?.parse().ok()?)))
        .collect()
}

/// The JSON form of a release has the content of its YAML form.
fn differs_from_yaml(directory: &Path, name: &str, content: &[u8]) -> Option<String> {
    let version = name.strip_suffix(".json")?;
    let text = fs::read_to_string(directory.join(format!("{version}.yaml"))).ok();
    let written = text.and_then(|text| document::read(&text).ok()).map(|root| root.to_json());
    let same = written.is_some() && serde_json::from_slice(content).ok() == written;
    (!same).then(|| format!("{RELEASED}/{name} differs in content from {version}.yaml"))
}

/// Finds releases that were changed together with their sums, which only the history shows.
fn history(root: &Path) -> Vec<String> {
    if !root.join(RELEASED).is_dir() {
        return Vec::new();
    }
    let unknown = match git(root, &["rev-parse", "--is-shallow-repository"]) {
        Ok(shallow) if shallow.trim() == "false" => None,
        Ok(_) => Some("the history is shallow; run `git fetch --unshallow`".to_owned()),
        Err(problem) => {
            Some(format!("the history cannot be read: {problem}; run this in a full clone with git"))
        }
    };
    if let Some(problem) = unknown {
        return vec![format!("whether {RELEASED} ever changed is unknown, because {problem}")];
    }
    let yaml = format!("{RELEASED}/*.yaml");
    let json = format!("{RELEASED}/*.json");
    let changes =
        ["log", "--diff-filter=MDR", "--no-renames", "--format=commit %h", "--name-only", "--", &yaml, &json];
    let log = match git(root, &changes) {
        Ok(log) => log,
        // A repository without a commit has no release to change.
        Err(_) if git(root, &["rev-parse", "--verify", "HEAD"]).is_err() => return Vec::new(),
        Err(problem) => return vec![format!("the history of {RELEASED} cannot be read: {problem}")],
    };
    let mut commit = "";
    let mut problems = Vec::new();
    for line in log.lines().filter(|line| !line.is_empty()) {
        if line.starts_with("commit ") {
            commit = line;
        } else {
            problems.push(format!("{line} was changed in {commit}; a release never changes"));
        }
    }
    problems
}

/// What git prints.
fn git(root: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new("git").args(arguments).current_dir(root).output();
    let output = output.map_err(|error| format!("git cannot be run: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(said.lines().next().unwrap_or("git failed").to_owned())
}

/// A document with the version of a release is byte for byte that release.
fn unreleased_change(root: &Path) -> Option<String> {
    let document = Document::load(&root.join(SPEC)).ok()?;
    let version = document_version(&document).ok()?;
    let released = fs::read_to_string(root.join(RELEASED).join(format!("{version}.yaml"))).ok()?;
    if released == document.text {
        return None;
    }
    let line = released.lines().zip(document.text.lines()).take_while(|(old, new)| old == new).count() + 1;
    let next = Version::new(version.major, version.minor, version.patch + 1);
    Some(format!(
        "{SPEC}:{line} differs from {version}, which is released; raise `info.version`, at least to {next} \
         (cargo xtask breaking says whether that is enough)"
    ))
}
