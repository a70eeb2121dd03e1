//! The released documents: the base of the comparison, and the release that introduced an object.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use checks::breaking::version;
use checks::revision;
use document::decode;
use document::openapi::{Kind, Model, Object, Parameter};

use crate::text::Text;
use crate::tree::Tree;

/// A released document.
#[derive(Clone)]
struct Release {
    path: PathBuf,
    /// What changes with the content.
    stamp: Option<String>,
    /// The document, or the reason why it cannot be read.
    tree: Result<Arc<Tree>, String>,
}

/// The released documents, from the oldest to the newest.
#[derive(Clone, Default)]
pub(crate) struct Releases(Vec<Release>);

impl Releases {
    /// Reads the documents that are new or changed since `self` was read. `None` if there are none.
    pub(crate) fn updated(&self, paths: Vec<PathBuf>) -> Option<Self> {
        let mut is_same = paths.len() == self.0.len();
        let release = |path: PathBuf| {
            let stamp = revision::stamp(&path);
            let known = self.0.iter().find(|it| it.path == path && it.stamp == stamp && stamp.is_some());
            is_same &= known.is_some();
            known.cloned().unwrap_or_else(|| Release { tree: read(&path), path, stamp })
        };
        let releases = paths.into_iter().map(release).collect();
        (!is_same).then_some(Self(releases))
    }

    /// The newest document, or the reason why it cannot be read.
    pub(crate) fn newest(&self) -> Option<Result<&Arc<Tree>, String>> {
        let problem = |release: &Release, problem| format!("`{}`: {problem}", release.path.display());
        self.0.last().map(|release| release.tree.as_ref().map_err(|it| problem(release, it)))
    }

    /// Whether this file is one of the documents.
    pub(crate) fn contains(&self, path: &Path) -> bool {
        self.0.iter().any(|release| release.path == path)
    }

    /// The document in this file.
    pub(crate) fn in_file(&self, path: &str) -> Option<&Arc<Tree>> {
        let trees = self.0.iter().filter_map(|release| release.tree.as_ref().ok());
        trees.into_iter().find(|tree| tree.document().path == path)
    }

    /// Returns the version of the oldest document that has an object.
    pub(crate) fn since(&self, object: Object<'_>) -> Option<&str> {
        let trees = self.0.iter().filter_map(|release| release.tree.as_deref().ok());
        let first = trees.into_iter().find(|tree| counterpart(tree.model(), object).is_some())?;
        Some(version::text(first.document()))
    }

    /// Whether there are no documents.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn read(path: &Path) -> Result<Arc<Tree>, String> {
    let bytes = revision::read(path)?;
    let text = Text::new(decode(&bytes).map_err(|problem| problem.to_string())?.to_owned());
    let read = Tree::read(&path.display().to_string(), text);
    read.map(|(tree, _)| Arc::new(tree)).map_err(|unreadable| unreadable.problem.to_string())
}

/// Returns the same object of another document, identified like in the comparison of documents: an operation by its path
/// and method, a parameter by its location and name, everything else by its place.
fn counterpart<'m>(model: &'m Model<'m>, object: Object<'_>) -> Option<Object<'m>> {
    let Some(parent) = object.parent() else { return Some(model.root()) };
    let parent = counterpart(model, parent)?;
    let is_same = |part: &Object<'_>| part.kind() == object.kind() && part.steps() == object.steps();
    if object.kind() == Kind::Parameter && object.keyword() == "parameters" && object.name().is_empty() {
        let key = Parameter::new(object)?.key();
        let mut parts = parent.children("parameters");
        return parts.find(|part| Parameter::new(*part).is_some_and(|known| known.key() == key));
    }
    parent.parts().find(is_same)
}
