//! `cargo xtask licences`: checks the licences and sources of the dependencies against `deny.toml`.
//!
//! cargo-deny checks more, but must be installed and downloads its database of advisories. This command reads the same
//! file and the metadata of cargo. It needs no network and leaves the lock file unchanged.

use std::fs;

use serde::Deserialize;
use spdx::{Expression, LicenseReq};
use xtask::workspace::{in_file, workspace};

use crate::metadata::metadata;

/// The only allowed source of crates.
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

impl Licences {
    fn allow(&self, name: &str, wanted: &LicenseReq) -> bool {
        let exceptions = self.exceptions.iter().filter(|exception| exception.name == name);
        let mut allowed = self.allow.iter().chain(exceptions.flat_map(|exception| &exception.allow));
        allowed.any(|licence| *licence == wanted.to_string())
    }
}

/// Licences that are allowed for one crate only.
#[derive(Deserialize)]
struct Exception {
    #[serde(rename = "crate")]
    name: String,
    allow: Vec<String>,
}

/// A crate.
#[derive(Debug)]
pub struct Crate {
    /// The name.
    pub name: String,
    /// The version.
    pub version: String,
    /// The licences, as an SPDX expression.
    pub licence: Option<String>,
    /// Where cargo downloaded it. Members of this workspace have no source.
    pub source: Option<String>,
}

/// Prints the crates whose licence or source is not allowed. Returns the exit status.
///
/// # Errors
/// A message, if `deny.toml` or the output of cargo cannot be read.
pub fn run() -> Result<u8, String> {
    let file = workspace().join(".cargo/deny.toml");
    let deny = fs::read_to_string(&file).map_err(in_file(&file))?;
    // Crates for other platforms may not have been downloaded.
    let crates = metadata("host-tuple")?.packages.into_iter().map(|package| Crate {
        name: package.name.to_string(),
        version: package.version.to_string(),
        licence: package.license,
        source: package.source.map(|source| source.repr),
    });
    let (count, findings) = check_all(&deny, &crates.collect::<Vec<_>>())?;
    for finding in &findings {
        eprintln!("licences: {finding}");
    }
    if findings.is_empty() {
        println!("licences: {count} crates, all from crates.io and under licences that deny.toml allows");
    }
    Ok(u8::from(!findings.is_empty()))
}

/// Checks crates against the text of a `deny.toml`. Returns the number of those that are not members of the workspace,
/// and one message for each crate that is not allowed.
///
/// # Errors
/// A message, if the text cannot be parsed.
pub fn check_all(deny: &str, crates: &[Crate]) -> Result<(usize, Vec<String>), String> {
    let deny: Deny = toml::from_str(deny).map_err(|error| format!("deny.toml: {error}"))?;
    let external: Vec<_> = crates.iter().filter(|one| one.source.is_some()).collect();
    let findings = external.iter().filter_map(|one| check(one, &deny.licenses)).collect();
    Ok((external.len(), findings))
}

/// Returns what is wrong with a crate, if anything.
fn check(package: &Crate, licences: &Licences) -> Option<String> {
    let problem = match &package.licence {
        _ if package.source.as_deref() != Some(SOURCE) => " does not come from crates.io".to_owned(),
        None => " does not declare a licence".to_owned(),
        // The manifests of old crates separate alternatives with a slash.
        Some(text) => match Expression::parse_mode(text, spdx::ParseMode::LAX) {
            Err(_) => format!(": {text} is not a licence expression"),
            Ok(expression) if expression.evaluate(|wanted| licences.allow(&package.name, wanted)) => {
                return None;
            }
            Ok(_) => format!(": {text} is not among the licences that deny.toml allows"),
        },
    };
    Some(format!("{} {}{problem}", package.name, package.version))
}
