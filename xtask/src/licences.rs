//! `cargo xtask licences`: what the dependencies may be, by `deny.toml`.
//!
//! cargo-deny checks more, but has to be installed, and what it knows of advisories is a database on the
//! network. This reads the same file, asks cargo what is depended upon, and judges licences and sources,
//! within a second and with nothing but cargo. The lock file is taken as it is.

use std::fs;
use std::process::{Command, ExitCode};

use serde::Deserialize;
use spdx::{Expression, LicenseReq};

use crate::ci::cargo;
use crate::workspace::workspace;

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

/// Prints what must not be depended upon.
pub fn run() -> ExitCode {
    match judge_all() {
        Ok((count, findings)) if findings.is_empty() => {
            println!("licences: {count} crates, all from crates.io and under licences that deny.toml allows");
            ExitCode::SUCCESS
        }
        Ok((_, findings)) => {
            for finding in findings {
                eprintln!("licences: {finding}");
            }
            ExitCode::FAILURE
        }
        Err(problem) => {
            eprintln!("licences: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn judge_all() -> Result<(usize, Vec<String>), String> {
    let file = workspace().join("deny.toml");
    let text = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    let deny: Deny = toml::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))?;
    let output = Command::new(cargo())
        .args(["metadata", "--format-version", "1", "--locked", "--filter-platform", &host()?])
        .current_dir(workspace())
        .output()
        .map_err(|error| format!("cargo cannot be run: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    let metadata: Metadata = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("cargo metadata is not understood: {error}"))?;
    let foreign: Vec<_> = metadata.packages.iter().filter(|package| package.source.is_some()).collect();
    let findings = foreign.iter().filter_map(|package| judge(package, &deny.licenses)).collect();
    Ok((foreign.len(), findings))
}

/// The platform that cargo builds for; what others need need not be there.
fn host() -> Result<String, String> {
    let output =
        Command::new(cargo()).arg("-vV").output().map_err(|error| format!("cargo cannot be run: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or("cargo -vV does not say what it builds for".to_owned())
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
        return Some(format!("{named}: {text} is no licence expression"));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn package(license: &str) -> Package {
        Package {
            name: "some".to_owned(),
            version: "1.0.0".to_owned(),
            license: Some(license.to_owned()),
            source: Some(SOURCE.to_owned()),
        }
    }

    fn judged(package: &Package) -> Option<String> {
        let exception = Exception { name: "special".to_owned(), allow: vec!["MPL-2.0".to_owned()] };
        let allow = ["MIT", "Apache-2.0"].map(str::to_owned).to_vec();
        judge(package, &Licences { allow, exceptions: vec![exception] })
    }

    #[test]
    fn an_expression_is_judged_as_a_whole() {
        for fine in ["MIT", "MIT OR GPL-3.0-only", "MIT/GPL-3.0", "MIT AND Apache-2.0"] {
            assert_eq!(judged(&package(fine)), None, "{fine}");
        }
        for bad in ["GPL-3.0-only", "MIT AND GPL-3.0-only", "Apache-2.0 WITH LLVM-exception", "MPL-2.0"] {
            assert!(judged(&package(bad)).is_some(), "{bad}");
        }
        assert!(judged(&package("do what you like")).unwrap().contains("is no licence expression"));
    }

    #[test]
    fn an_exception_is_for_its_crate_alone() {
        let special = Package { name: "special".to_owned(), ..package("MPL-2.0") };
        assert_eq!(judged(&special), None);
    }

    #[test]
    fn a_crate_from_elsewhere_and_one_without_a_licence_are_found() {
        let elsewhere = Package { source: Some("git+https://example.org/some".to_owned()), ..package("MIT") };
        assert!(judged(&elsewhere).unwrap().contains("crates.io"));
        let silent = Package { license: None, ..package("MIT") };
        assert!(judged(&silent).unwrap().contains("does not say"));
    }
}
