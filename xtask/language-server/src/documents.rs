//! The documents that are open in the editor.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use document::finding::Finding;
use document::{Span, Unreadable, Value};
use lsp_types::{Location, Position, Range, TextDocumentContentChangeEvent, Uri};

use crate::edits::Edits;
use crate::text::Text;
use crate::tree::Tree;
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
        match name.extension().and_then(|extension| extension.to_str()) {
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

    /// Reads the newest text. While it cannot be read, the last tree and the last findings stay.
    pub(crate) fn read(&mut self) {
        if std::mem::replace(&mut self.is_read, true) {
            return;
        }
        self.problem = None;
        match Tree::read(&self.file(), self.text.as_str()) {
            Ok(tree) => (self.tree, self.since_tree) = (Some(Arc::new(tree)), Edits::default()),
            Err(unreadable) if is_openapi(&unreadable) => self.problem = Some((&unreadable).into()),
            Err(_) => (self.findings, self.drift) = (Vec::new(), Vec::new()),
        }
    }

    /// Returns the tree of the newest text, if the text can be read.
    pub(crate) fn newest_tree(&self) -> Option<&Arc<Tree>> {
        self.tree.as_ref().filter(|_| self.is_read && self.since_tree.is_empty())
    }

    /// Returns the tree of the newest text, to be checked.
    pub(crate) fn begin_check(&mut self) -> Option<Arc<Tree>> {
        self.read();
        let tree = self.newest_tree().cloned();
        self.since_job = tree.as_ref().map(|_| Edits::default());
        self.is_checked = tree.is_none();
        self.problem = self.problem.take().filter(|_| tree.is_none());
        tree
    }

    /// Keeps the result of the check that was begun: findings, or the reason why there was no check.
    pub(crate) fn end_check(&mut self, result: Result<Vec<Finding>, Finding>) {
        let Some(edits) = self.since_job.take() else { return };
        self.is_checked = edits.is_empty();
        let moved = |mut finding: Finding| {
            edits.apply(&mut finding);
            finding
        };
        match result {
            Ok(findings) => self.findings = findings.into_iter().map(moved).collect(),
            Err(problem) => self.problem = self.problem.take().or_else(|| Some(moved(problem))),
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

/// Whether a text that cannot be read is meant to be an OpenAPI document. Editors also send other YAML files.
fn is_openapi(unreadable: &Unreadable) -> bool {
    /// The number of lines in which the keyword is expected.
    const FIRST_LINES: usize = 100;
    let begins = |line: &str| {
        let line = line.trim_start_matches(['\u{feff}', '{', ' ', '"', '\'']);
        line.starts_with("openapi") || line.starts_with("swagger")
    };
    match document::read(&unreadable.text) {
        Ok(node) => {
            matches!(node.value, Value::Mapping(_)) && (node.get("openapi").or(node.get("swagger"))).is_some()
        }
        Err(_) => unreadable.text.lines().take(FIRST_LINES).any(begins),
    }
}
