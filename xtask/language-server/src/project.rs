//! What a project can tell about its document: releases, and the code that implements it.

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use checks::revision;
use document::finding::{Location, Subject};

/// A project with documents. All methods have the defaults of a project without code.
pub trait Project: Send + Sync {
    /// The root of the project. The paths of [`Location`] begin here.
    fn root(&self) -> PathBuf;

    /// The document of the project, to which the other methods apply. `None` if they apply to each document.
    fn document(&self) -> Option<PathBuf> {
        None
    }

    /// The released documents, from the oldest to the newest. The newest is the base of the comparison.
    fn releases(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Reads the sources. It can take seconds. `None` if the project has no code.
    fn implementation(&self) -> Option<Arc<dyn Implementation>> {
        None
    }

    /// The command that compares a saved document with the code. It prints the findings as `--format json` does, with
    /// exit status 0 or 1; another status means that the code could not be built.
    fn drift(&self, _document: &Path) -> Option<Command> {
        None
    }

    /// The command that adds an operation of a saved document to the code, by its `operationId`.
    fn scaffold(&self, _document: &Path, _operation: &str) -> Option<Command> {
        None
    }
}

/// The code that implements a document, as it was when it was read.
pub trait Implementation: Send + Sync + Debug {
    /// Returns the place in the code of an object of the document.
    fn locate(&self, subject: &Subject) -> Option<Location>;

    /// The text of a file, by its path from the root of the project.
    fn text(&self, file: &str) -> Option<&str>;
}

/// Whether releases and code belong to the document at this path.
pub(crate) fn is_of_project(project: &dyn Project, path: Option<&Path>) -> bool {
    project.document().is_none_or(|document| Some(&*document) == path)
}

/// Documents without a project, one of which can have a base.
#[derive(Debug, Default)]
pub struct Standalone {
    /// The version of `document` that clients use now: a file, or `REVISION:PATH` of git.
    pub base: Option<PathBuf>,
    /// The document that the base belongs to.
    pub document: Option<PathBuf>,
}

impl Project for Standalone {
    fn root(&self) -> PathBuf {
        std::env::current_dir().unwrap_or_default()
    }

    fn document(&self) -> Option<PathBuf> {
        let path = self.root().join(self.document.as_ref()?);
        // Editors send paths without `..`.
        Some(path.canonicalize().unwrap_or(path))
    }

    fn releases(&self) -> Vec<PathBuf> {
        let root = self.root();
        let path = |base: &PathBuf| match revision::in_revision(base) {
            Some(_) => base.clone(),
            None => root.join(base),
        };
        self.base.iter().map(path).collect()
    }
}
