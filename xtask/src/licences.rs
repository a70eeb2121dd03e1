//! `cargo xtask licences`: what the dependencies may be, by `deny.toml`.
//!
//! cargo-deny checks more, but has to be installed, and what it knows of advisories is a database on the
//! network. This reads the same file, asks cargo what is depended upon, and judges licences and sources,
//! within a second and with nothing but cargo. The lock file is taken as it is.

use std::fs;

use serde::Deserialize;
use spdx::{Expression, LicenseReq};

use crate::process::{cargo, output};
use crate::workspace::{in_file, workspace};

/// Where all crates must come from.
const SOURCE: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// The part of `deny.toml` that is read here.
#[derive(Deserialize)]
struct Deny {
    licenses: Licences,
}

#[derive(Deserialize)]
struct Licences {
    allow: Vec<String>,
    #[serde(default)]
    exceptions: Vec<Exception>,
}

/// What one crate may be beyond that.
#[derive(Deserialize)]
struct Exception {
    #[serde(rename = "crate")]
    name: String,
    allow: Vec<String>,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

/// A crate; one without a source is a member of this workspace.
#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    license: Option<String>,
    source: Option<String>,
}

/// Prints what must not be depended upon. Returns the exit status.
///
/// # Errors
/// A sentence, when `deny.toml` or the answer of cargo cannot be read.
pub fn run() -> Result<u8, String> {
    let file = workspace().join("deny.toml");
    let deny = fs::read_to_string(&file).map_err(in_file(&file))?;
    let version = output(&mut cargo(&["-vV"]))?;
    let version = String::from_utf8_lossy(&version.stdout);
    // Crates for other platforms need not be there.
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    let host = host.ok_or("cargo -vV does not name the platform")?;
    let arguments = ["metadata", "--format-version", "1", "--locked", "--filter-platform", host];
    let output = output(&mut cargo(&arguments))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    let (count, findings) = judge_all(&deny, &output.stdout)?;
    for finding in &findings {
        eprintln!("licences: {finding}");
    }
    if findings.is_empty() {
        println!("licences: {count} crates, all from crates.io and under licences that deny.toml allows");
    }
    Ok(u8::from(!findings.is_empty()))
}

/// Judges the packages in the output of `cargo metadata` by the text of a `deny.toml`. Returns the number of
/// packages that are not members of the workspace, and what is wrong with them.
///
/// # Errors
/// A sentence, when one of the texts cannot be parsed.
pub fn judge_all(deny: &str, metadata: &[u8]) -> Result<(usize, Vec<String>), String> {
    let deny: Deny = toml::from_str(deny).map_err(|error| format!("deny.toml: {error}"))?;
    let metadata: Metadata =
        serde_json::from_slice(metadata).map_err(|error| format!("cargo metadata: {error}"))?;
    let foreign: Vec<_> = metadata.packages.iter().filter(|package| package.source.is_some()).collect();
    let findings = foreign.iter().filter_map(|package| judge(package, &deny.licenses)).collect();
    Ok((foreign.len(), findings))
}

/// What is wrong with a crate, if anything is.
fn judge(package: &Package, licences: &Licences) -> Option<String> {
    let named = format!("{} {}", package.name, package.version);
    if package.source.as_deref() != Some(SOURCE) {
        return Some(format!("{named} does not come from crates.io"));
    }
    let Some(text) = &package.license else {
        return Some(format!("{named} does not say its licence"));
    };
    // Old crates write a slash for OR.
    let Ok(expression) = Expression::parse_mode(text, spdx::ParseMode::LAX) else {
        return Some(format!("{named}: {text} is not a licence expression"));
    };
    let exceptions = licences.exceptions.iter().filter(|exception| exception.name == package.name);
    let allowed: Vec<_> =
        licences.allow.iter().chain(exceptions.flat_map(|exception| &exception.allow)).collect();
    let is_allowed = |requirement: &LicenseReq| {
        let wanted = requirement.to_string();
        allowed.iter().any(|licence| **licence == wanted)
    };
    (!expression.evaluate(is_allowed))
        .then(|| format!("{named}: {text} is not among the licences that deny.toml allows"))
}
