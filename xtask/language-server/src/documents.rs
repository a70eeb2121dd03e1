//! The documents that are open in the editor.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use document::Span;
use document::finding::Finding;
use lsp_types::{Location, Position, Range, TextDocumentContentChangeEvent, Uri};

use crate::edits::Edits;
use crate::text::Text;
use crate::tree::{self, Read, Tree};
use crate::uris;

/// A document. The places of its findings are those of the newest text.
pub(crate) struct Document {
    /// Its URI, as the client writes it.
    pub(crate) uri: Uri,
    /// The path of a file.
    pub(crate) path: Option<PathBuf>,
    /// The version of the editor.
    pub(crate) version: i32,
    /// The text in the editor.
    pub(crate) text: Text,
    /// The newest tree. `None` if the text could never be read as OpenAPI.
    pub(crate) tree: Option<Arc<Tree>>,
    /// The edits since the text of the tree.
    pub(crate) since_tree: Edits,
    /// Whether the newest text was read, with or without success.
    is_read: bool,
    /// The reason why the newest text was not checked. The findings of the last check stay.
    pub(crate) problem: Option<Finding>,
    /// The findings of the last check.
    pub(crate) findings: Vec<Finding>,
    /// Whether they are those of the newest text.
    pub(crate) is_checked: bool,
    /// The edits since the text that is being checked. `None` if none is.
    since_job: Option<Edits>,
    /// Whether a text was read since that check began.
    has_newer: bool,
    /// The findings of the last comparison with the code, each with its place there.
    pub(crate) drift: Vec<(Finding, Option<Location>)>,
    /// The edits since the text was saved.
    pub(crate) since_save: Edits,
    /// The configuration, and its findings.
    pub(crate) configuration: Option<(String, Vec<Finding>)>,
}

impl Document {
    /// A document with a text that was not read. `None` if it is neither YAML nor JSON by its name.
    pub(crate) fn new(uri: Uri, version: i32, text: String) -> Option<Self> {
        let path = uris::to_path(&uri);
        let name = path.as_deref().unwrap_or(Path::new(uri.as_str()));
        match name.extension().map(|it| it.to_string_lossy().to_ascii_lowercase()).as_deref() {
            Some("yaml" | "yml" | "json") => {}
            // The text of an editor that has no file yet.
            None if path.is_none() => {}
            _ => return None,
        }
        Some(Self {
            path,
            uri,
            version,
            text: Text::new(text),
            tree: None,
            since_tree: Edits::default(),
            is_read: false,
            problem: None,
            findings: Vec::new(),
            is_checked: false,
            since_job: None,
            has_newer: false,
            drift: Vec::new(),
            since_save: Edits::default(),
            configuration: None,
        })
    }

    /// The path, or the URI if it is not a file.
    pub(crate) fn file(&self) -> String {
        self.path.as_ref().map_or_else(|| self.uri.as_str().to_owned(), |path| path.display().to_string())
    }

    /// Applies the changes of the editor.
    pub(crate) fn change(&mut self, changes: Vec<TextDocumentContentChangeEvent>, version: i32) {
        let mut edits = Edits::default();
        self.text.apply(changes, &mut edits);
        for since in [&mut self.since_tree, &mut self.since_save].into_iter().chain(&mut self.since_job) {
            since.extend(&edits);
        }
        let drift = self.drift.iter_mut().map(|(finding, _)| finding);
        self.findings.iter_mut().chain(&mut self.problem).chain(drift).for_each(|it| edits.apply(it));
        (self.version, self.is_read, self.is_checked) = (version, false, false);
    }

    /// Reads the newest text, unless it was read.
    pub(crate) fn read(&mut self) {
        if !self.is_read {
            let read = tree::read(&self.file(), self.text.as_str());
            self.keep(read, Edits::default());
            self.has_newer = true;
        }
    }

    /// Keeps the result of reading the text before these edits. While the text cannot be read, the last tree and the last
    /// findings stay.
    fn keep(&mut self, read: Read, since: Edits) {
        self.is_read = since.is_empty();
        self.problem = None;
        match read {
            Ok(tree) => (self.tree, self.since_tree) = (Some(tree), since),
            Err(Some(mut problem)) => {
                since.apply(&mut problem);
                self.problem = Some(*problem);
            }
            Err(None) => self.findings.clear(),
        }
    }

    /// Returns the tree of the newest text, if the text can be read.
    pub(crate) fn newest_tree(&self) -> Option<&Arc<Tree>> {
        self.tree.as_ref().filter(|_| self.is_read && self.since_tree.is_empty())
    }

    /// Begins to check the newest text. Returns its file and the text.
    pub(crate) fn begin_check(&mut self) -> (String, String) {
        (self.since_job, self.has_newer) = (Some(Edits::default()), false);
        (self.file(), self.text.as_str().to_owned())
    }

    /// Keeps what was read by the check that was begun, unless a newer text was read since.
    pub(crate) fn set_read(&mut self, read: Read) {
        if let Some(since) = self.since_job.clone().filter(|_| !self.has_newer) {
            self.keep(read, since);
        }
    }

    /// Keeps the result of the check that was begun: findings, or the reason why there are none. `None` if the text could
    /// not be read.
    pub(crate) fn end_check(&mut self, result: Option<Result<Vec<Finding>, Box<Finding>>>) {
        let Some(edits) = self.since_job.take() else { return };
        self.is_checked = edits.is_empty();
        let moved = |mut finding: Finding| {
            edits.apply(&mut finding);
            finding
        };
        match result {
            Some(Ok(findings)) => self.findings = findings.into_iter().map(moved).collect(),
            Some(Err(problem)) => self.problem = self.problem.take().or_else(|| Some(moved(*problem))),
            None => {}
        }
    }

    /// All findings in the document.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Finding> {
        self.problem.iter().chain(&self.findings).chain(self.drift.iter().map(|(finding, _)| finding))
    }

    /// Returns the range in the editor of a finding, on one line.
    pub(crate) fn marked(&self, finding: &Finding) -> Range {
        let Span { start, end, .. } = finding.span.first_line(self.text.as_str());
        self.text.range(start..end)
    }

    /// Returns the offset of a position in the text of the tree.
    pub(crate) fn offset_in_tree(&self, position: Position) -> usize {
        self.since_tree.back(self.text.offset(position))
    }

    /// Returns the range in the editor of a place in the tree.
    pub(crate) fn range(&self, span: Span) -> Range {
        self.text.range(self.since_tree.forward(span.start)..self.since_tree.forward(span.end))
    }

    /// Returns the location of a place in the tree.
    pub(crate) fn location(&self, span: Span) -> Location {
        Location { uri: self.uri.clone(), range: self.range(span) }
    }
}
