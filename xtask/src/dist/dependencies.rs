//! The crates that are linked into the program.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use launcher::process::{cargo, output};
use launcher::workspace::{in_file, workspace};
use serde::Deserialize;

use super::TARGET;

/// A crate with its name and version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub(super) struct Id {
    pub(super) name: String,
    pub(super) version: String,
}

/// A crate that is linked into the program.
#[derive(Debug)]
pub(super) struct Dependency {
    pub(super) licence: Option<String>,
    /// The directory of its sources.
    pub(super) directory: PathBuf,
    /// The SHA-256 of its archive. None for a member of this workspace.
    pub(super) checksum: Option<String>,
    /// The crates that it is linked to.
    pub(super) uses: BTreeSet<Id>,
}

/// The program and everything that is linked into it.
pub(super) type Dependencies = BTreeMap<Id, Dependency>;

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Package {
    #[serde(flatten)]
    id: Id,
    #[serde(rename = "id")]
    key: String,
    license: Option<String>,
    manifest_path: PathBuf,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    dependencies: Vec<String>,
}

#[derive(Deserialize)]
struct Lock {
    package: Vec<Locked>,
}

#[derive(Deserialize)]
struct Locked {
    #[serde(flatten)]
    id: Id,
    checksum: Option<String>,
}

/// Returns the crates that are linked into the program.
///
/// # Errors
/// A message, if cargo fails or the lock file cannot be read.
pub(super) fn read() -> Result<Dependencies, String> {
    let linked = linked()?;
    let metadata = ["metadata", "--format-version", "1", "--locked", "--filter-platform", TARGET];
    let metadata: Metadata = serde_json::from_str(&cargo_output(&metadata)?)
        .map_err(|error| format!("cargo metadata: {error}"))?;
    let file = workspace().join("Cargo.lock");
    let lock: Lock =
        toml::from_str(&fs::read_to_string(&file).map_err(in_file(&file))?).map_err(in_file(&file))?;
    let mut checksums: BTreeMap<Id, String> =
        lock.package.into_iter().filter_map(|locked| Some((locked.id, locked.checksum?))).collect();
    let ids: BTreeMap<String, Id> =
        metadata.packages.iter().map(|package| (package.key.clone(), package.id.clone())).collect();
    let mut uses: BTreeMap<Id, BTreeSet<Id>> = BTreeMap::new();
    for node in metadata.resolve.nodes {
        let used = node.dependencies.iter().filter_map(|key| ids.get(key)).filter(|id| linked.contains(id));
        uses.insert(ids[&node.id].clone(), used.cloned().collect());
    }
    let packages = metadata.packages.into_iter().filter(|package| linked.contains(&package.id));
    Ok(packages
        .map(|Package { id, license, manifest_path, .. }| {
            let dependency = Dependency {
                licence: license,
                directory: manifest_path.parent().unwrap_or(&manifest_path).to_owned(),
                checksum: checksums.remove(&id),
                uses: uses.remove(&id).unwrap_or_default(),
            };
            (id, dependency)
        })
        .collect())
}

/// Returns the crates that cargo links into the program with its default features. `cargo metadata` alone has those of the
/// tests and of the other members of the workspace, too.
fn linked() -> Result<BTreeSet<Id>, String> {
    let arguments = [
        "tree",
        "--locked",
        "--package",
        "animal-store",
        "--edges",
        "normal",
        "--target",
        TARGET,
        "--prefix",
        "none",
        "--format",
        "{p}",
    ];
    let tree = cargo_output(&arguments)?;
    let id = |line: &str| {
        let (name, rest) = line.split_once(" v")?;
        let version = rest.split(' ').next()?;
        Some(Id { name: name.to_owned(), version: version.to_owned() })
    };
    Ok(tree.lines().filter_map(id).collect())
}

fn cargo_output(arguments: &[&str]) -> Result<String, String> {
    let output = output(&mut cargo(arguments))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
