//! The Rust code that a finding contradicts.
//!
//! The code's side is made by a running program and has no positions. So the sources are parsed, and what a
//! finding is about is looked up by its name in the document. Names are not resolved as the compiler does it:
//! each is expected to have one meaning in the service. What only the document has gets the place where the
//! code would have it.
//!
//! The sources are read only if there are findings.

mod endpoint;
mod index;
mod locate;
mod types;
mod words;

use std::path::{Path, PathBuf};

use contract::finding::{Finding, Location};
use contract::report;

use index::Index;

/// A type of the code that has a name in `components/schemas`.
#[derive(Clone, Debug)]
pub struct SchemaType {
    /// Its name in Rust.
    pub name: String,
    /// Whether a request can hold it.
    pub is_read: bool,
    /// Whether a response can hold it.
    pub is_written: bool,
    /// The values of an enum with the names of its variants; the properties of a struct with its fields.
    pub members: Vec<(String, String)>,
}

/// The sources of the service.
pub struct Sources {
    shown: report::Sources,
    files: Vec<String>,
    index: Index,
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
                sources.files.push(from_root(root, &path));
                sources.shown.add(from_root(root, &path), text);
            }
        }
        sources
    }

    /// No sources, where there are no findings to look up.
    pub fn none(root: &Path) -> Self {
        Self { shown: report::Sources::new(root), files: Vec::new(), index: Index::default() }
    }

    /// The files, for a report.
    pub fn shown(&self) -> &report::Sources {
        &self.shown
    }

    /// The place in the code that a finding contradicts. `None` if the code has no part in it.
    pub fn locate(&self, finding: &Finding) -> Option<Location> {
        let spot = locate::locate(&self.index, finding)?;
        let file = self.files.get(spot.file)?;
        Some(Location { file: file.clone(), span: spot.span })
    }

    /// The type with this name in `components/schemas`.
    pub fn schema(&self, name: &str) -> Option<SchemaType> {
        let known = self.index.schema(name).filter(|known| known.public)?;
        let has = |wanted: &str| known.traits.iter().any(|name| name == wanted);
        Some(SchemaType {
            name: known.name.clone(),
            is_read: has("Deserialize"),
            is_written: has("Serialize"),
            members: known.members.iter().map(|it| (it.wire.clone(), it.name.clone())).collect(),
        })
    }

    /// The names of all types that go over the wire, in Rust.
    pub fn type_names(&self) -> impl Iterator<Item = &str> {
        self.index.types.iter().map(|known| known.name.as_str())
    }

    /// Whether this text is a literal somewhere.
    pub fn says(&self, text: &str) -> bool {
        self.index.words.iter().any(|word| word.literal && word.text == text)
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
