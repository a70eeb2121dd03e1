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
mod reader;
mod types;

use std::path::Path;

use contract::finding::{Finding, Location};
use contract::report;

use index::Index;
use reader::Reader;
use syn::visit::Visit;

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
        let (mut open, mut paths) = (Vec::from([root.join("src")]), Vec::new());
        while let Some(path) = open.pop() {
            match path.read_dir() {
                Ok(entries) => open.extend(entries.flatten().map(|entry| entry.path())),
                Err(_) if path.extension().is_some_and(|extension| extension == "rs") => paths.push(path),
                Err(_) => {}
            }
        }
        paths.sort();
        let mut sources = Self::none(root);
        for path in paths {
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            let Some(Ok(parsed)) = index::matters(&text).then(|| syn::parse_file(&text)) else { continue };
            let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
            Reader::new(&mut sources.index, sources.files.len()).visit_file(&parsed);
            sources.files.push(name.clone());
            sources.shown.add(name, text);
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
