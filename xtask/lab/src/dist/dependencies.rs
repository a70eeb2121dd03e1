//! The crates that are linked into the program.

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{Package, PackageId};
use xtask::process::{cargo, printed};

use super::TARGET;
use project::metadata::metadata;

/// A crate that is linked into the program.
#[derive(Debug)]
pub(super) struct Dependency {
    pub(super) package: Package,
    /// The package URLs of the crates that it is linked to.
    pub(super) uses: BTreeSet<String>,
}

/// The program and everything that is linked into it, by package URLs.
pub(super) type Dependencies = BTreeMap<String, Dependency>;

/// Returns the package URL of a crate (<https://github.com/package-url/purl-spec>).
pub(super) fn purl(name: &str, version: &str) -> String {
    format!("pkg:cargo/{name}@{}", version.replace('+', "%2B"))
}

/// Returns the crates that are linked into the program.
///
/// # Errors
/// A message, if cargo fails.
pub(super) fn read() -> Result<Dependencies, String> {
    let linked = linked()?;
    let metadata = metadata(TARGET)?;
    let packages = metadata.packages.iter();
    let packages = packages.map(|package| (&package.id, purl(&package.name, &package.version.to_string())));
    let urls: BTreeMap<&PackageId, String> = packages.filter(|(_, url)| linked.contains(url)).collect();
    let nodes = metadata.resolve.iter().flat_map(|resolve| &resolve.nodes);
    let dependency = nodes.filter_map(|node| {
        let uses = node.dependencies.iter().filter_map(|used| urls.get(used).cloned()).collect();
        Some((urls.get(&node.id)?.clone(), Dependency { package: metadata[&node.id].clone(), uses }))
    });
    Ok(dependency.collect())
}

/// Returns the package URLs of the crates that cargo links into the program with its default features. `cargo metadata`
/// alone has those of the tests and of the other members of the workspace, too.
fn linked() -> Result<BTreeSet<String>, String> {
    let mut tree = cargo(&["tree", "--locked", "--package", "animal-store", "--edges", "normal"]);
    let tree = printed(tree.args(["--target", TARGET, "--prefix", "none", "--format", "{p}"]))?;
    let url = |line: &str| {
        let (name, rest) = line.split_once(" v")?;
        Some(purl(name, rest.split(' ').next()?))
    };
    Ok(tree.lines().filter_map(url).collect())
}
