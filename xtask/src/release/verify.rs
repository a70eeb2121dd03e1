//! `cargo xtask release --verify`: checks that every release is unchanged and valid.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use checks::config::Config;
use checks::lint::lint;
use document::Document;
use document::release::Release;
use document::rule::Profile;
use jiff::civil::Date;
use launcher::process::output;
use semver::Version;
use sha2::{Digest, Sha256};

use super::{
    RELEASED, ReleaseError, SPEC, SUMS, changes_file, clean, config, document_version, errors, first, load,
    released, step, unusable,
};

/// Returns the SHA-256 checksum in lower-case hexadecimal digits.
pub fn sum(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Runs the command. Returns the exit status: 0 if all releases are valid, 1 otherwise.
pub(super) fn run(root: &Path, code: &Document, today: Date) -> u8 {
    let problems = problems(root, code, today);
    for problem in &problems {
        eprintln!("error: {problem}");
    }
    if problems.is_empty() {
        println!("{RELEASED}: every release is unchanged and valid, and has the right version");
    }
    u8::from(!problems.is_empty())
}

/// Returns all problems of the releases, one line each.
pub fn problems(root: &Path, code: &Document, today: Date) -> Vec<String> {
    let mut problems = sums(root);
    problems.extend(history(root).unwrap_or_else(|problem| vec![problem]));
    let unread = documents(root, code, today, &mut problems).err();
    problems.extend(unread.map(|error| error.message));
    problems
}

/// Compares the files with their checksums.
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
/// release. If it is the newest release, it must also have no lint errors and agree with the code.
fn documents(
    root: &Path,
    code: &Document,
    today: Date,
    problems: &mut Vec<String>,
) -> Result<(), ReleaseError> {
    let config = config(root)?;
    let directory = root.join(RELEASED);
    let mut documents: BTreeMap<Version, Document> = BTreeMap::new();
    for (version, path) in released(&directory).map_err(unusable(&directory))? {
        let document = match load(&path) {
            Ok(document) => document,
            Err(error) => {
                problems.push(error.message);
                continue;
            }
        };
        if let Ok(json) = fs::read(path.with_extension("json"))
            && serde_json::from_slice(&json).ok() != Some(document.root.to_json())
        {
            problems.push(format!("{RELEASED}/{version}.json differs in content from {version}.yaml"));
        }
        // Validity only: lint rules may have been added since the release.
        let validity = Config::default().with_profile(Some(Profile::Spec));
        let errors = errors(&validity, lint(&document, today), "lint");
        if !errors.is_empty() {
            problems.push(first(&document.path, &errors, "it must not have been released"));
        }
        let previous = documents.last_key_value();
        let date = changes(&directory, &version, previous.map(|(version, _)| version), problems);
        if let Some((_, before)) = previous {
            // Waivers must have been valid on the day of the release.
            let date = date.unwrap_or(today);
            problems.extend(step(before, &document, &config, date).err().map(|error| error.message));
        }
        documents.insert(version, document);
    }
    let working = load(&root.join(SPEC))?;
    let released = document_version(&working).ok().and_then(|version| documents.get_key_value(&version));
    if let Some((version, released)) = released.filter(|(_, released)| released.text != working.text) {
        problems.push(unreleased_change(version, released, &working));
    }
    if documents.last_key_value().is_some_and(|(_, newest)| newest.text == working.text) {
        clean(&working, code, &config, today)?;
    }
    Ok(())
}

/// Describes a working document that has the version of a release and differs from it.
fn unreleased_change(version: &Version, released: &Document, working: &Document) -> String {
    let lines = released.text.lines().zip(working.text.lines());
    let line = lines.take_while(|(old, new)| old == new).count() + 1;
    let next = Version::new(version.major, version.minor, version.patch + 1);
    format!(
        "{SPEC}:{line} differs from {version}, which is released; raise `info.version`, at least to {next} \
         (run `cargo xtask breaking` to see whether that is enough)"
    )
}

/// Checks the file with the changes of a release. Returns the date of the release. The list of changes is not compared
/// with a new one, since the words of the rules may have changed since the release.
fn changes(
    directory: &Path,
    version: &Version,
    previous: Option<&Version>,
    problems: &mut Vec<String>,
) -> Option<Date> {
    let name = changes_file(version);
    let text = fs::read_to_string(directory.join(&name)).map_err(|error| error.to_string());
    let read = text.and_then(|text| serde_json::from_str(&text).map_err(|error| error.to_string()));
    let release: Release = match read {
        Ok(release) => release,
        Err(problem) => {
            problems.push(format!("{RELEASED}/{name}: {problem}; restore the file from the history"));
            return None;
        }
    };
    let date = release.date.parse().ok();
    if release.version != version.to_string()
        || release.previous != previous.map(Version::to_string)
        || date.is_none()
    {
        problems.push(format!(
            "{RELEASED}/{name} must have the version {version}, the version before it, and a date"
        ));
    }
    date
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
    // Without a commit there is no history to check.
    if git(root, &["rev-parse", "--verify", "HEAD"]).is_err() {
        return Ok(Vec::new());
    }
    let files = [".yaml", ".json"].map(|extension| format!("{RELEASED}/*{extension}"));
    let changes = ["log", "--diff-filter=MDR", "--no-renames", "--format=commit %h", "--name-only", "--"];
    let log = git(root, &[&changes[..], &[&files[0], &files[1]]].concat()).map_err(unknown)?;
    let mut commit = "";
    let mut problems = Vec::new();
    for line in log.lines().filter(|line| !line.is_empty()) {
        if line.starts_with("commit ") {
            commit = line;
        } else {
            problems.push(format!("{line} was changed in {commit}; releases never change"));
        }
    }
    Ok(problems)
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
