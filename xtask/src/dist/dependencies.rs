//! The crates that are linked into the program.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use cargo_metadata::Package;
use launcher::process::{cargo, output};
use launcher::workspace::{in_file, workspace};
use serde::Deserialize;

use super::TARGET;
use crate::metadata::metadata;

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
    let metadata = metadata(TARGET)?;
    let file = workspace().join("Cargo.lock");
    let lock: Lock =
        toml::from_str(&fs::read_to_string(&file).map_err(in_file(&file))?).map_err(in_file(&file))?;
    let mut checksums: BTreeMap<Id, String> =
        lock.package.into_iter().filter_map(|locked| Some((locked.id, locked.checksum?))).collect();
    let id = |package: &Package| Id { name: package.name.to_string(), version: package.version.to_string() };
    let ids: BTreeMap<_, _> = metadata.packages.iter().map(|package| (&package.id, id(package))).collect();
    let mut uses: BTreeMap<&Id, BTreeSet<Id>> = BTreeMap::new();
    for node in metadata.resolve.iter().flat_map(|resolve| &resolve.nodes) {
        let used = node.dependencies.iter().filter_map(|key| ids.get(key)).filter(|id| linked.contains(id));
        uses.insert(&ids[&node.id], used.cloned().collect());
    }
    let packages = metadata.packages.iter().map(|package| (id(package), package));
    let packages = packages.filter(|(id, _)| linked.contains(id));
    Ok(packages
        .map(|(id, Package { license, manifest_path, .. })| {
            let dependency = Dependency {
                licence: license.clone(),
                directory: manifest_path.parent().unwrap_or(manifest_path).into(),
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
    let output = output(&mut cargo(&arguments))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    let tree = String::from_utf8_lossy(&output.stdout);
    let id = |line: &str| {
        let (name, rest) = line.split_once(" v")?;
        let version = rest.split(' ').next()?;
        Some(Id { name: name.to_owned(), version: version.to_owned() })
    };
    Ok(tree.lines().filter_map(id).collect())
}
