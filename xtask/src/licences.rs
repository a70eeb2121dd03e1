//! `cargo xtask licences`: checks the licences and sources of the dependencies against `deny.toml`.
//!
//! cargo-deny checks more, but must be installed and downloads its database of advisories. This command reads the same
//! file and the metadata of cargo. It needs no network and leaves the lock file unchanged.

use std::fs;

use launcher::process::{cargo, output};
use launcher::workspace::{in_file, workspace};
use serde::Deserialize;
use spdx::{Expression, LicenseReq};

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

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

/// A crate. Members of this workspace have no source.
#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    license: Option<String>,
    source: Option<String>,
}

/// Prints the crates whose licence or source is not allowed. Returns the exit status.
///
/// # Errors
/// A message, if `deny.toml` or the output of cargo cannot be read.
pub fn run() -> Result<u8, String> {
    let file = workspace().join(".cargo/deny.toml");
    let deny = fs::read_to_string(&file).map_err(in_file(&file))?;
    // Crates for other platforms may not have been downloaded.
    let arguments = ["metadata", "--format-version", "1", "--locked", "--filter-platform", "host-tuple"];
    let output = output(&mut cargo(&arguments))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    let (count, findings) = check_all(&deny, &output.stdout)?;
    for finding in &findings {
        eprintln!("licences: {finding}");
    }
    if findings.is_empty() {
        println!("licences: {count} crates, all from crates.io and under licences that deny.toml allows");
    }
    Ok(u8::from(!findings.is_empty()))
}

/// Checks the packages in the output of `cargo metadata` against the text of a `deny.toml`. Returns the number of
/// packages that are not members of the workspace, and one message for each package that is not allowed.
///
/// # Errors
/// A message, if one of the texts cannot be parsed.
pub fn check_all(deny: &str, metadata: &[u8]) -> Result<(usize, Vec<String>), String> {
    let deny: Deny = toml::from_str(deny).map_err(|error| format!("deny.toml: {error}"))?;
    let metadata: Metadata =
        serde_json::from_slice(metadata).map_err(|error| format!("cargo metadata: {error}"))?;
    let external: Vec<_> = metadata.packages.iter().filter(|package| package.source.is_some()).collect();
    let findings = external.iter().filter_map(|package| check(package, &deny.licenses)).collect();
    Ok((external.len(), findings))
}

/// Returns what is wrong with a crate, if anything.
fn check(package: &Package, licences: &Licences) -> Option<String> {
    let problem = match &package.license {
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
