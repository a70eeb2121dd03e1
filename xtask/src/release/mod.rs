//! `cargo xtask release`: makes the document of today a released one, which never changes again.
//!
//! A release is `openapi/released/VERSION.yaml`, byte for byte the document, the same as JSON, a line for
//! each in `SHA256SUMS` (the format of sha256sum, so that anybody can check a download), and an entry in
//! `openapi/CHANGELOG.md`, made from the comparison with the release before. `--verify` is what CI runs: it
//! trusts neither the files nor, where there is a git history, the sums.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use jiff::civil::Date;
use semver::Version;

use crate::breaking::{self, changelog, version};
use crate::check::workspace;
use crate::written::Document;

pub mod verify;

/// Where things are, from the root of the workspace.
pub const SPEC: &str = "openapi/animal-store.yaml";
/// The released documents.
pub const RELEASED: &str = "openapi/released";
/// What changed, for people.
const CHANGELOG: &str = "openapi/CHANGELOG.md";
/// The sums of the released documents.
pub const SUMS: &str = "SHA256SUMS";

const PREFACE: &str = "# Changelog of the animal store's interface\n\nMade by `cargo xtask release` from the \
    documents in `released/`.\n";

/// What the command is asked to do.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// Write nothing; look whether every release is as it was, and whether the document may differ from them.
    #[arg(long)]
    pub verify: bool,
    /// The day of the release, as YYYY-MM-DD [default: today, UTC].
    #[arg(long, value_name = "DATE")]
    pub date: Option<Date>,
    /// Another workspace than this one.
    #[arg(long, value_name = "DIRECTORY", hide = true)]
    pub root: Option<PathBuf>,
}

/// Runs the command: 0 done or all in order, 1 refused or not in order, 2 something could not be read.
pub fn run(arguments: &Arguments, today: Date) -> ExitCode {
    let root = arguments.root.clone().unwrap_or_else(workspace);
    if arguments.verify {
        return verify::run(&root);
    }
    match release(&root, arguments.date.unwrap_or(today)) {
        Ok(version) => {
            println!("released {version}: {RELEASED}/{version}.yaml, .json and {CHANGELOG}; commit them");
            ExitCode::SUCCESS
        }
        Err(Refused { message, code }) => {
            eprintln!("error: {message}");
            ExitCode::from(code)
        }
    }
}

/// Why nothing was released.
#[derive(Debug)]
pub struct Refused {
    /// One line that says what to do.
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

/// Releases the document of the workspace at `root`.
///
/// # Errors
/// [`Refused`]; nothing was written then.
pub fn release(root: &Path, date: Date) -> Result<Version, Refused> {
    let spec = root.join(SPEC);
    let document = Document::load(&spec).map_err(|unreadable| Refused {
        message: format!("{}:{}; nothing was released", unreadable.path, unreadable.problem),
        code: 2,
    })?;
    let version = document_version(&document).map_err(refused)?;
    let directory = root.join(RELEASED);
    let yaml = directory.join(format!("{version}.yaml"));
    if yaml.exists() {
        return Err(refused(format!(
            "{version} is released already and never changes; give the document a new `info.version`"
        )));
    }
    let newest = breaking::newest(&directory).map_err(unusable(&directory))?;
    let entry = match &newest {
        None => changelog::changelog(&[], None, &version.to_string(), &date.to_string()),
        Some((before, path)) => {
            let base = Document::load(path).map_err(|unreadable| Refused {
                message: format!("{}:{}", unreadable.path, unreadable.problem),
                code: 2,
            })?;
            let changes = breaking::compare(&base, &document, date);
            if let Some(wrong) = version::judge(&base, &document, &changes) {
                return Err(refused(wrong.sentence()));
            }
            if version <= *before {
                return Err(refused(format!(
                    "`info.version` is {version}, but {before} is released already"
                )));
            }
            changelog::changelog(&changes, Some(&before.to_string()), &version.to_string(), &date.to_string())
        }
    };
    write(root, &document, &version, &entry)?;
    Ok(version)
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

/// `info.version`, which must be a version without additions (semver.org).
///
/// # Errors
/// What is wrong with it.
pub fn document_version(document: &Document) -> Result<Version, String> {
    let json = document.root.to_json();
    let text = json.pointer("/info/version").and_then(|version| version.as_str()).unwrap_or_default();
    match Version::parse(text) {
        Ok(version) if version.pre.is_empty() && version.build.is_empty() => Ok(version),
        _ => Err(format!("`info.version` must be MAJOR.MINOR.PATCH, and is `{text}`")),
    }
}
