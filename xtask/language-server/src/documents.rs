//! The documents that the server knows: those that are open in the editor, and that of the project.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use checks::{config, registry};
use document::Span;
use document::finding::Finding;
use lsp_types::{Location, Position, Range, TextDocumentContentChangeEvent, Uri};

use crate::edits::Edits;
use crate::text::Text;
use crate::tree::Tree;
use crate::uris;

/// A document. Requests are answered from a copy.
#[derive(Clone)]
pub(crate) struct Document {
    /// Its URI, as the client writes it.
    pub(crate) uri: Uri,
    /// The path of a file.
    pub(crate) path: Option<PathBuf>,
    /// The version of the editor. `None` if it is not open there.
    pub(crate) version: Option<i32>,
    /// The text in the editor.
    pub(crate) text: Arc<Text>,
    /// The number of the text, unique in the server.
    number: u64,
    /// The number of the text that is being checked.
    checking: Option<u64>,
    /// The number of the last text that was read.
    read: Option<u64>,
    /// The number of the last text that was checked.
    checked: Option<u64>,
    /// The newest tree. `None` if the text could never be read as OpenAPI.
    pub(crate) tree: Option<Arc<Tree>>,
    /// The newest findings.
    pub(crate) findings: Arc<Vec<Finding>>,
    /// The edits since the text of the tree.
    pub(crate) since_tree: Edits,
    /// The edits since the text of the findings.
    pub(crate) since_findings: Edits,
    /// The edits since the text was saved.
    pub(crate) since_save: Edits,
    /// The edits since the text that is being checked.
    since_job: Edits,
    /// The edits from the text of the findings to the text that is being checked.
    until_job: Edits,
    /// For a configuration: its findings, by the document whose check found them.
    pub(crate) configured: BTreeMap<Uri, Vec<Finding>>,
    /// The edits since the text of these findings.
    pub(crate) since_configured: Edits,
}

/// The kind of a document, by its name or the language that the editor sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    /// YAML or JSON.
    Data,
    /// The configuration of this tool.
    Configuration,
    /// Rust.
    Rust,
    /// Anything else.
    Other,
}

impl Document {
    /// A document with a text that was not checked.
    pub(crate) fn new(uri: Uri, version: Option<i32>, text: String, number: u64) -> Self {
        Self {
            path: uris::to_path(&uri),
            uri,
            version,
            text: Arc::new(Text::new(text)),
            number,
            checking: None,
            read: None,
            checked: None,
            tree: None,
            findings: Arc::default(),
            since_tree: Edits::default(),
            since_findings: Edits::default(),
            since_save: Edits::default(),
            since_job: Edits::default(),
            until_job: Edits::default(),
            configured: BTreeMap::new(),
            since_configured: Edits::default(),
        }
    }

    /// The path, or the URI if it is not a file.
    pub(crate) fn file(&self) -> String {
        self.path.as_ref().map_or_else(|| self.uri.as_str().to_owned(), |path| path.display().to_string())
    }

    /// The kind of the document.
    pub(crate) fn language(&self) -> Language {
        let path = self.path.as_deref().unwrap_or(Path::new(self.uri.as_str()));
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        match extension.to_ascii_lowercase().as_str() {
            "rs" => Language::Rust,
            "toml" if path.file_name().is_some_and(|name| name == config::FILE) => Language::Configuration,
            "yaml" | "yml" | "json" => Language::Data,
            // The text of an editor that has no file yet.
            _ if self.path.is_none() && extension.is_empty() => Language::Data,
            _ => Language::Other,
        }
    }

    /// Applies the changes of the editor. `number` is the number of the new text.
    pub(crate) fn change(&mut self, changes: Vec<TextDocumentContentChangeEvent>, number: u64) {
        let mut edits = Edits::default();
        Arc::make_mut(&mut self.text).apply(changes, &mut edits);
        for since in [
            &mut self.since_tree,
            &mut self.since_findings,
            &mut self.since_save,
            &mut self.since_job,
            &mut self.since_configured,
        ] {
            since.extend(&edits);
        }
        self.outdated(number);
    }

    /// Gives the text a new number, so that it is checked again.
    pub(crate) fn outdated(&mut self, number: u64) {
        self.number = number;
    }

    /// Whether the newest text was read.
    pub(crate) fn is_read(&self) -> bool {
        self.read == Some(self.number)
    }

    /// Whether it has a tree, or had none when it was read.
    pub(crate) fn can_answer(&self) -> bool {
        self.language() != Language::Data || self.read.is_some()
    }

    /// Begins to check the newest text. Returns its number.
    pub(crate) fn begin_check(&mut self) -> u64 {
        self.checking = Some(self.number);
        self.since_job = Edits::default();
        self.until_job = self.since_findings.clone();
        self.number
    }

    /// Whether the newest text is being checked.
    pub(crate) fn is_checking(&self) -> bool {
        self.checking == Some(self.number)
    }

    /// Keeps the tree of a text, unless the document was replaced since.
    pub(crate) fn set_tree(&mut self, number: u64, tree: Option<Arc<Tree>>) {
        if self.checking != Some(number) {
            return;
        }
        self.read = Some(number);
        if tree.is_some() {
            self.tree = tree;
            self.since_tree = self.since_job.clone();
        }
    }

    /// Whether the findings are those of the newest text, or there are no checks of such a document.
    pub(crate) fn is_checked(&self) -> bool {
        self.language() != Language::Data || self.checked == Some(self.number)
    }

    /// Keeps the findings of a text. Returns whether it did: not if the document was replaced since.
    pub(crate) fn set_findings(&mut self, number: u64, findings: Vec<Finding>) -> bool {
        let is_expected = self.checking == Some(number);
        if is_expected {
            self.checked = Some(number);
            self.findings = Arc::new(findings);
            self.since_findings = self.since_job.clone();
        }
        is_expected
    }

    /// Keeps the reasons why a text was not checked, before the findings of the last check, at the places to which the
    /// edits moved them. Returns whether it did.
    pub(crate) fn set_problems(&mut self, number: u64, problems: Vec<Finding>) -> bool {
        let moved = |finding: &Finding| {
            let mut finding = finding.clone();
            let Span { start, end, .. } = &mut finding.span;
            (*start, *end) = (self.until_job.forward(*start), self.until_job.forward(*end));
            finding
        };
        // Rules outside of the registry report why a text was not checked.
        let last = self.findings.iter().filter(|finding| registry::find(&finding.rule).is_some());
        let findings = problems.into_iter().chain(last.map(moved)).collect();
        self.set_findings(number, findings)
    }

    /// Keeps the findings of this configuration that the check of a document found.
    pub(crate) fn set_configured(&mut self, document: &Uri, findings: Vec<Finding>) {
        self.configured.insert(document.clone(), findings);
        self.since_configured = Edits::default();
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
