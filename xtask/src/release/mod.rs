//! `cargo xtask release`: releases the document under its version; a released document never changes.
//!
//! A release is `openapi/released/VERSION.yaml`, byte for byte the document, the same as JSON, a line for
//! each in `SHA256SUMS` (the format of sha256sum, so that anyone can check a download), and an entry in
//! `openapi/CHANGELOG.md`, made from the comparison with the release before. A document is released only if
//! it is clean by itself, agrees with the code, and has a version that is high enough for what changed.
//! `--verify` demands the same of what was released, and that no release has changed since.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use contract::breaking::{Outcome, changelog};
use contract::config::Config;
use contract::document::Document;
use contract::drift::{self, Help};
use contract::finding::{Finding, Severity};
use contract::lint::lint;
use jiff::civil::Date;
use semver::Version;

use crate::dropshot;
use crate::workspace::{RELEASED, SPEC, from_here, workspace};

pub mod verify;

/// What changed, for people.
const CHANGELOG: &str = "openapi/CHANGELOG.md";
/// The sums of the released documents.
pub const SUMS: &str = "SHA256SUMS";

const PREFACE: &str = "# Changelog of the animal store's interface\n\nMade by `cargo xtask release` from the \
    documents in `released/`.\n";

/// What the command is asked to do.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// Write nothing; check that every release is valid, unchanged and has the right version.
    #[arg(long)]
    pub verify: bool,
    /// The day of the release, as YYYY-MM-DD [default: today, UTC].
    #[arg(long, value_name = "DATE")]
    pub date: Option<Date>,
}

/// Runs the command. Returns the exit status: 0 done or all in order, 1 refused or not in order, 2 something
/// could not be read.
///
/// # Errors
/// A sentence, when the code has no document.
pub fn run(arguments: &Arguments, today: Date) -> Result<u8, String> {
    let root = workspace();
    let code = dropshot::document()?;
    if arguments.verify {
        return Ok(verify::run(&root, &code, today));
    }
    Ok(match release(&root, &code, arguments.date.unwrap_or(today)) {
        Ok(version) => {
            println!("released {version}: {RELEASED}/{version}.yaml, {version}.json, {SUMS} and {CHANGELOG}");
            println!("next: read the entry in {CHANGELOG}, then commit these files:");
            println!("  git add openapi && git commit -m 'Release {version} of the interface'");
            println!("  cargo xtask release --verify");
            0
        }
        Err(Refused { message, code }) => {
            eprintln!("error: {message}");
            code
        }
    })
}

/// Why nothing was released.
#[derive(Debug)]
pub struct Refused {
    /// What is wrong, and the command that shows all of it.
    pub message: String,
    /// The exit status: 1 for a document that may not be released, 2 for files that cannot be used.
    pub code: u8,
}

fn refused(message: impl Into<String>) -> Refused {
    Refused { message: message.into(), code: 1 }
}

fn unusable(path: &Path) -> impl Fn(io::Error) -> Refused + '_ {
    move |error| Refused { message: format!("{}: {error}", path.display()), code: 2 }
}

/// Releases the document of the workspace at `root`. `code` is the document of the code.
///
/// # Errors
/// [`Refused`]; nothing was written then.
pub fn release(root: &Path, code: &Document, date: Date) -> Result<Version, Refused> {
    let document = load(&root.join(SPEC))?;
    let config = config(root)?;
    let version = document_version(&document).map_err(refused)?;
    let directory = root.join(RELEASED);
    if directory.join(format!("{version}.yaml")).exists() {
        return Err(refused(format!(
            "{version} is released already and never changes; give the document a new `info.version`"
        )));
    }
    clean(&document, code, &config, date)?;
    let newest = released(&directory).map_err(unusable(&directory))?.pop_last();
    let entry = match &newest {
        None => changelog(&[], None, &version.to_string(), &date.to_string()),
        Some((before, path)) => {
            let outcome = step(&load(path)?, &document, &config, date)?;
            if version <= *before {
                return Err(refused(format!(
                    "`info.version` is {version}, but {before} is released already"
                )));
            }
            changelog(&outcome.changes, Some(&before.to_string()), &version.to_string(), &date.to_string())
        }
    };
    write(root, &document, &version, &entry)?;
    Ok(version)
}

fn load(path: &Path) -> Result<Document, Refused> {
    Document::load(path).map_err(|unreadable| Refused {
        message: format!("{}: {}", unreadable.path, unreadable.problem),
        code: 2,
    })
}

fn config(root: &Path) -> Result<Config, Refused> {
    Config::load(None, &root.join(SPEC)).map_err(|unusable| Refused {
        message: first(&unusable.path, &unusable.findings, "fix the configuration"),
        code: 2,
    })
}

/// Refuses a document that has errors by itself or does not agree with the code.
fn clean(document: &Document, code: &Document, config: &Config, date: Date) -> Result<(), Refused> {
    let checks = [
        (lint(document, date), "`cargo xtask lint` shows all"),
        (drift::compare(document, code, Help::default()), "`cargo xtask check` shows all"),
    ];
    for (findings, command) in checks {
        let errors = errors(config, findings);
        if !errors.is_empty() {
            return Err(refused(first(&document.path, &errors, command)));
        }
    }
    Ok(())
}

/// The findings that are errors under a configuration.
fn errors(config: &Config, findings: Vec<Finding>) -> Vec<Finding> {
    let (findings, _) = config.apply(findings);
    findings.into_iter().filter(|finding| finding.severity >= Severity::Error).collect()
}

/// Compares a document with the release before it, and refuses a version that is too low and a comparison
/// that could not be made in full.
fn step(base: &Document, document: &Document, config: &Config, date: Date) -> Result<Outcome, Refused> {
    let outcome = Outcome::of(base, document, config, date);
    let errors: Vec<_> = outcome.refusals().map(|change| change.finding()).collect();
    if errors.is_empty() {
        return Ok(outcome);
    }
    Err(refused(first(&document.path, &errors, "`cargo xtask breaking` shows all")))
}

/// The first of some findings, with their number.
fn first(path: &str, findings: &[Finding], command: &str) -> String {
    let Some(first) = findings.first() else { return format!("{path}: {command}") };
    let line = first.span.line;
    let more = match findings.len() - 1 {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    format!("{path}:{line}: {}: {}{more}; {command}", first.rule, first.message.trim_end_matches('.'))
}

fn write(root: &Path, document: &Document, version: &Version, entry: &str) -> Result<(), Refused> {
    let directory = root.join(RELEASED);
    fs::create_dir_all(&directory).map_err(unusable(&directory))?;
    let mut sums = read_or_empty(&directory.join(SUMS))?;
    for (name, content) in
        [(format!("{version}.yaml"), document.text.clone()), (format!("{version}.json"), json(document))]
    {
        let path = directory.join(&name);
        fs::write(&path, &content).map_err(unusable(&path))?;
        sums += &format!("{}  {name}\n", verify::sum(content.as_bytes()));
    }
    let path = directory.join(SUMS);
    fs::write(&path, sums).map_err(unusable(&path))?;
    let path = root.join(CHANGELOG);
    let before = read_or_empty(&path)?;
    let older = before.strip_prefix(PREFACE).unwrap_or(&before);
    let older = if older.is_empty() { String::new() } else { format!("\n{}", older.trim_start()) };
    fs::write(&path, format!("{PREFACE}\n{}\n{older}", entry.trim_end())).map_err(unusable(&path))
}

fn read_or_empty(path: &Path) -> Result<String, Refused> {
    match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        read => read.map_err(unusable(path)),
    }
}

/// The document as JSON, in the order of the file.
fn json(document: &Document) -> String {
    // Text, numbers, lists and mappings from text always become JSON.
    serde_json::to_string_pretty(&document.root).unwrap_or_default() + "\n"
}

/// `info.version`, which must be a version without pre-release or build metadata (semver.org).
///
/// # Errors
/// What is wrong with it.
pub fn document_version(document: &Document) -> Result<Version, String> {
    let text =
        document.root.pointer("/info/version").and_then(|version| version.as_str()).unwrap_or_default();
    match Version::parse(text) {
        Ok(version) if version.pre.is_empty() && version.build.is_empty() => Ok(version),
        _ => Err(format!("`info.version` must be MAJOR.MINOR.PATCH, and is `{text}`")),
    }
}

/// The released documents in a directory, in the order of their versions.
///
/// # Errors
/// When the directory is there and cannot be read.
pub fn released(directory: &Path) -> io::Result<BTreeMap<Version, PathBuf>> {
    let mut released = BTreeMap::new();
    if !directory.try_exists()? {
        return Ok(released);
    }
    for entry in directory.read_dir()? {
        let path = entry?.path();
        let version = path.file_stem().and_then(|stem| Version::parse(stem.to_str()?).ok());
        if let Some(version) = version.filter(|_| path.extension().is_some_and(|it| it == "yaml")) {
            released.insert(version, path);
        }
    }
    Ok(released)
}

/// The newest released document of this repository.
///
/// # Errors
/// A sentence, when there is none.
pub fn newest_release() -> Result<PathBuf, String> {
    let directory = from_here(workspace().join(RELEASED));
    let released = released(&directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let newest = released.into_values().next_back();
    newest.ok_or(format!("{} has no released document; name one with --base FILE", directory.display()))
}
