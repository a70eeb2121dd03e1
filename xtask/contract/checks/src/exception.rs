//! Exceptions to rules: which findings and changes an entry of the configuration or an `x-contract-ignore` accepts.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use crate::finding::Location;
use document::openapi::METHODS;
use document::{Document, Node, pointer};
use glob::{MatchOptions, Pattern};
use jiff::civil::Date;
use semver::Version;

/// The extension by which a document accepts findings itself.
pub(crate) const EXTENSION: &str = "x-contract-ignore";

/// How many operations are listed for a change in a schema. It may concern more than these.
pub const MAX_OPERATIONS: usize = 50;

/// An accepted finding or change. It is covered if it is at the place or below it, and if all its operations and paths
/// match the patterns.
#[derive(Clone, Debug, Default)]
pub(crate) struct Exception {
    /// The name of the rule, as it is written.
    pub rule: String,
    /// The rules with this name.
    pub rules: Arc<[&'static str]>,
    /// The JSON pointer of the place; empty for the whole document.
    pub at: String,
    /// The operations, by `operationId` or else by method and path.
    pub operation: Option<Pattern>,
    /// The paths, in which `*` stands for a part between slashes and `**` for any number of them.
    pub path: Option<Pattern>,
    /// Why it is accepted.
    pub reason: String,
    /// When a waiver has effect. `None` for other exceptions.
    pub term: Option<Term>,
    /// Where the exception is written.
    pub place: Location,
}

/// When a waiver has effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Term {
    /// Until the end of a day.
    Until(Date),
    /// For the change to this version from any earlier one.
    Release(Version),
}

/// The exceptions that apply to one document or to two versions of it.
#[derive(Debug)]
pub(crate) struct Exceptions<'e> {
    pub(crate) all: Vec<&'e Exception>,
    /// Their positions, by the JSON pointer of the place.
    by_place: HashMap<&'e str, Vec<usize>>,
    /// The names of operations by their JSON pointers, and the paths by the names. Empty without patterns.
    names: HashMap<String, String>,
    paths: HashMap<String, String>,
}

impl<'e> Exceptions<'e> {
    pub(crate) fn new(all: Vec<&'e Exception>, documents: &[&Document]) -> Self {
        let mut by_place: HashMap<&str, Vec<usize>> = HashMap::new();
        for (position, exception) in all.iter().enumerate() {
            by_place.entry(&exception.at).or_default().push(position);
        }
        let mut exceptions = Self { all, by_place, names: HashMap::new(), paths: HashMap::new() };
        if exceptions.all.iter().any(|it| it.operation.is_some() || it.path.is_some()) {
            documents.iter().for_each(|document| exceptions.read_operations(&document.root));
        }
        exceptions
    }

    fn read_operations(&mut self, root: &Node) {
        for path in root.get("paths").map(Node::entries).unwrap_or_default() {
            for method in path.value.entries().iter().filter(|entry| METHODS.contains(&&*entry.key)) {
                let id = method.value.get("operationId").and_then(Node::as_str).map(str::to_owned);
                let name = id.unwrap_or_else(|| format!("{} {}", method.key.to_uppercase(), path.key));
                let place = pointer::below(pointer::below("/paths", &path.key), &method.key);
                self.names.insert(place, name.clone());
                self.paths.insert(name, path.key.clone());
            }
        }
    }

    /// Returns the positions of the exceptions that cover a finding or change: its rule, its places in one or two
    /// documents, and the operations that it concerns, if these are known.
    pub(crate) fn covering(&self, rule: &str, places: &[&str], operations: &[String]) -> Vec<usize> {
        let mut covering = Vec::new();
        for place in places.iter().filter(|_| !self.all.is_empty()) {
            let at = upwards(place).filter_map(|above| self.by_place.get(above)).flatten();
            covering.extend(at.filter(|at| self.all[**at].rules.contains(&rule)));
        }
        covering.sort_unstable();
        covering.dedup();
        covering.retain(|at| self.matches(self.all[*at], places, operations));
        covering
    }

    fn matches(&self, exception: &Exception, places: &[&str], operations: &[String]) -> bool {
        if exception.operation.is_none() && exception.path.is_none() {
            return true;
        }
        if operations.len() >= MAX_OPERATIONS {
            return false;
        }
        let at_place = places.iter().filter_map(|place| upwards(place).find_map(|at| self.names.get(at)));
        let mut names: Vec<&String> = operations.iter().collect();
        if names.is_empty() {
            names.extend(at_place);
        }
        let mut paths: Vec<_> = places.iter().filter_map(|place| path(place)).collect();
        paths.extend(names.iter().filter_map(|name| self.paths.get(*name)).map(|path| path.into()));
        let in_parts = MatchOptions { require_literal_separator: true, ..MatchOptions::new() };
        exception
            .operation
            .as_ref()
            .is_none_or(|pattern| !names.is_empty() && names.iter().all(|name| pattern.matches(name)))
            && exception.path.as_ref().is_none_or(|pattern| {
                !paths.is_empty() && paths.iter().all(|path| pattern.matches_with(path, in_parts))
            })
    }
}

/// Returns the path that a JSON pointer leads into.
fn path(pointer: &str) -> Option<Cow<'_, str>> {
    pointer::tokens(pointer.strip_prefix("/paths")?)?.next()
}

/// Returns the JSON pointers of a place and of all that contains it.
fn upwards(place: &str) -> impl Iterator<Item = &str> {
    place.match_indices('/').map(|(end, _)| &place[..end]).chain([place])
}
