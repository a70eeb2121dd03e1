//! Locates the Rust code that a finding contradicts.
//!
//! The code's document is produced by a running program and has no positions. The sources are therefore parsed, and the
//! subject of a finding is looked up by its name in the document. Its location is the function of an operation, a type, a
//! field, a variant or a constant. Names are not resolved like in the compiler: each is expected to be unique in the
//! service. What only the document has is located where the code would declare it.
//!
//! The sources are read only if there are findings.

mod index;
mod locate;

use std::path::Path;

use checks::finding::{Finding, Location};
use checks::report;
use document::place::Subject;

use index::Index;

/// The sources of the service.
pub struct Sources {
    shown: report::Sources,
    index: Index,
}

impl Sources {
    /// Reads `src` of the workspace at `root`. Skips files that cannot be read or parsed, because a file that is being
    /// edited may be incomplete.
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
            let Some(Ok(parsed)) = index::may_be_relevant(&text).then(|| syn::parse_file(&text)) else {
                continue;
            };
            let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
            sources.index.add(&name, &parsed.items);
            sources.shown.files.insert(name, text);
        }
        sources
    }

    /// Returns an empty index, for when there are no findings.
    pub fn none(root: &Path) -> Self {
        Self { shown: report::Sources::new(root), index: Index::default() }
    }

    /// The texts of the files, for a report.
    pub fn shown(&self) -> &report::Sources {
        &self.shown
    }

    /// Returns the Rust code that a finding contradicts. `None` if the finding does not concern the code.
    pub fn locate(&self, finding: &Finding) -> Option<Location> {
        locate::locate(&self.index, finding).cloned()
    }

    /// Returns the Rust code of an object of the document. `None` if it has no code of its own.
    pub fn place(&self, subject: &Subject) -> Option<Location> {
        locate::place(&self.index, subject).cloned()
    }

    /// Sets the location in the code of each finding.
    pub fn locate_all(&self, findings: &mut [Finding]) {
        for finding in findings {
            finding.source = self.locate(finding);
        }
    }
}
