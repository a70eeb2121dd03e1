//! What a project can tell about its document: its base, and the code that implements it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use checks::finding::Location;
use document::place::Subject;

/// Returns the place in the code of an object of the document.
pub type Locate = dyn Fn(&Subject) -> Option<Location> + Send + Sync;

/// A project with documents. All methods have the defaults of a project without code.
pub trait Project: Send + Sync {
    /// The root of the project. The paths of [`Location`] begin here.
    fn root(&self) -> PathBuf;

    /// The document of the project, to which the other methods apply. `None` if they apply to each document.
    fn document(&self) -> Option<PathBuf> {
        None
    }

    /// The version of the document that clients use now: a file, or `REVISION:PATH` of git.
    fn base(&self) -> Option<PathBuf> {
        None
    }

    /// Reads the sources. It can take seconds. `None` if the project has no code.
    fn implementation(&self) -> Option<Arc<Locate>> {
        None
    }

    /// The command that compares a saved document with the code. It prints the findings as `--format json` does. If it
    /// prints something else, the code could not be built.
    fn drift(&self, _document: &Path) -> Option<Command> {
        None
    }
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

    fn base(&self) -> Option<PathBuf> {
        self.base.clone()
    }
}
