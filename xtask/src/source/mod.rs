//! The other end of a finding: the line of Rust that says otherwise.
//!
//! The document that the code stands for has no positions: it is made by a running program. So the sources
//! are read for their syntax, and what a finding is about is looked up by the names that go over the wire.
//! Nothing is resolved as the compiler would; the rooms of the service are few, and a name means one thing
//! in them. What only the file has is given the place where the code would have it.
//!
//! Only done when there is something to tell, and then in milliseconds.

mod endpoint;
mod index;
mod locate;
mod types;
mod words;

use std::path::{Path, PathBuf};

use animal_store::yaml::Span;

use crate::finding::Finding;
use index::Index;

/// A place in the Rust code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The file, from the root of the workspace, with `/` between its parts.
    pub file: String,
    /// What is there.
    pub span: Span,
}

/// The sources of the service.
pub struct Sources {
    root: PathBuf,
    files: Vec<File>,
    index: Index,
}

/// A source file.
struct File {
    /// From the root of the workspace.
    path: String,
    text: String,
}

impl Sources {
    /// Reads `src` of the workspace at `root`. What cannot be read or parsed is left out: what is being
    /// edited need not compile just now.
    pub fn read(root: &Path) -> Self {
        let mut paths = Vec::new();
        collect(&root.join("src"), &mut paths);
        paths.sort();
        let mut sources = Self::none(root);
        for path in paths {
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            let parsed = if index::matters(&text) { syn::parse_file(&text).ok() } else { None };
            if let Some(parsed) = parsed {
                sources.index.add(sources.files.len(), &parsed);
                sources.files.push(File { path: from_root(root, &path), text });
            }
        }
        sources
    }

    /// No sources at all, where there is nothing to look up in them.
    pub fn none(root: &Path) -> Self {
        Self { root: root.to_owned(), files: Vec::new(), index: Index::default() }
    }

    /// The root of the workspace.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The text of a file that a location is in.
    pub fn text(&self, file: &str) -> Option<&str> {
        self.files.iter().find(|known| known.path == file).map(|known| known.text.as_str())
    }

    /// Where the code says otherwise, or would. `None` if the code has nothing to do with it.
    pub fn locate(&self, finding: &Finding) -> Option<Location> {
        let spot = locate::locate(&self.index, finding)?;
        let file = self.files.get(spot.file)?;
        Some(Location { file: file.path.clone(), span: spot.span })
    }

    /// Gives each finding its place in the code.
    pub fn locate_all(&self, findings: &mut [Finding]) {
        for finding in findings {
            finding.source = self.locate(finding);
        }
    }
}

/// The Rust files at or below a directory.
fn collect(directory: &Path, paths: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()) {
        if path.is_dir() {
            collect(&path, paths);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            paths.push(path);
        }
    }
}

fn from_root(root: &Path, path: &Path) -> String {
    let relative = path.strip_prefix(root).unwrap_or(path);
    relative.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}
