//! The tree: plain data in which every key and every value has its place in the text.
//!
//! The tree has exactly the data model of JSON, in the order of the file.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::ops::Range;

use serde::{Serialize, Serializer};

use super::pointer;
use super::scalar::Number;

/// A place in the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Offset of the first byte.
    pub start: usize,
    /// Offset of the byte after the last.
    pub end: usize,
    /// Line of the first byte; the first line is 1.
    pub line: usize,
    /// Column of the first byte, in characters; the first column is 1.
    pub column: usize,
}

impl Span {
    /// Returns the place of bytes in a text, limited to one line. A byte order mark does not count as a column.
    pub fn within(text: &str, range: Range<usize>) -> Self {
        let place = Self { start: range.start, end: range.end, line: 1, column: 1 }.first_line(text);
        let before = &text[..place.start];
        let line = before.rsplit('\n').next().unwrap_or_default().trim_start_matches('\u{feff}');
        Self { line: before.matches('\n').count() + 1, column: line.chars().count() + 1, ..place }
    }

    /// The part of the span that is on its first line and within the text.
    #[must_use]
    pub fn first_line(self, text: &str) -> Self {
        let start = text.floor_char_boundary(self.start);
        let end = text.floor_char_boundary(self.end.max(start));
        let end = text[start..end].find('\n').map_or(end, |length| start + length);
        Self { start, end, ..self }
    }
}

/// A value and its place.
#[derive(Clone, Debug)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// The place where the value is written; for an alias, that of the anchored value. A block collection begins at its
    /// first key or item.
    pub span: Span,
    /// The place of the alias, if this is one.
    pub alias: Option<Box<Span>>,
}

/// The value of a node.
#[derive(Clone, Debug)]
pub enum Value {
    /// An empty scalar, `~` or `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A finite number.
    Number(Number),
    /// Text.
    String(String),
    /// A list.
    Sequence(Vec<Node>),
    /// Keys with their values.
    Mapping(Mapping),
}

/// One key of a mapping, with its value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The key's text; unique within its mapping.
    pub key: String,
    /// The place of the key.
    pub key_span: Span,
    /// The value.
    pub value: Node,
}

/// The entries of a mapping, in the order of the file.
#[derive(Clone, Debug, Default)]
pub struct Mapping {
    entries: Vec<Entry>,
    /// The place of the merge key `<<`, which adds entries of other mappings.
    merge_key: Option<Span>,
    /// The position of each key. `None` while a linear search is faster.
    #[expect(clippy::box_collection, reason = "most mappings have none")]
    index: Option<Box<HashMap<String, usize>>>,
}

/// The number of entries up to which a linear search is used.
const MAX_LINEAR: usize = 16;

impl Mapping {
    /// The entries, in the order of the file.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The entry with this key.
    pub fn get(&self, key: &str) -> Option<&Entry> {
        let position = match &self.index {
            Some(index) => index.get(key).copied(),
            None => self.entries.iter().position(|entry| entry.key == key),
        };
        self.entries.get(position?)
    }

    /// Adds the entries of other mappings that a merge key names. Own entries have precedence, then the earlier mappings.
    pub(super) fn merge(&mut self, merge_key: Span, sources: &[Node]) {
        self.merge_key = Some(merge_key);
        for entry in sources.iter().flat_map(Node::entries) {
            if self.get(&entry.key).is_none() {
                self.push(entry.clone());
            }
        }
    }

    /// Adds an entry whose key is new.
    pub(super) fn push(&mut self, entry: Entry) {
        if self.entries.len() == MAX_LINEAR {
            let keys = self.entries.iter().map(|entry| entry.key.clone());
            self.index = Some(Box::new(keys.zip(0..).collect()));
        }
        if let Some(index) = &mut self.index {
            index.insert(entry.key.clone(), self.entries.len());
        }
        self.entries.push(entry);
    }
}

impl Node {
    /// A value at a place.
    pub(super) fn new(value: Value, span: Span) -> Self {
        Self { value, span, alias: None }
    }

    /// Returns the place where it is used: that of the alias, or else that of the value.
    pub fn place(&self) -> Span {
        self.alias.as_deref().copied().unwrap_or(self.span)
    }

    /// Returns the place of the merge key `<<` of a mapping.
    pub fn merge_key(&self) -> Option<Span> {
        match &self.value {
            Value::Mapping(mapping) => mapping.merge_key,
            _ => None,
        }
    }

    /// Returns the merge key by which a mapping has an entry. `None` if the entry is its own.
    pub fn inherited(&self, entry: &Entry) -> Option<Span> {
        let is_own = self.span.start <= entry.key_span.start && entry.key_span.end <= self.span.end;
        self.merge_key().filter(|_| !is_own)
    }

    /// Returns the first alias or merge key on the way to a JSON pointer. `None` if there is none, or if `span` is the key at
    /// the end of the pointer, which belongs to the mapping with the alias.
    pub fn alias_at(&self, pointer: &str, span: Span) -> Option<Span> {
        let (mut node, mut key_span) = (self, None);
        for token in pointer::tokens(pointer)? {
            if let Some(alias) = &node.alias {
                return Some(**alias);
            }
            match node.entry(&token) {
                Some(entry) => {
                    if let Some(merge_key) = node.inherited(entry) {
                        return Some(merge_key);
                    }
                    (node, key_span) = (&entry.value, Some(entry.key_span));
                }
                None => (node, key_span) = (node.items().get(pointer::index(&token)?)?, None),
            }
        }
        node.alias.as_deref().copied().filter(|_| key_span != Some(span))
    }

    /// The value under this key, if this is a mapping that has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// The entry with this key, if this is a mapping that has it.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        match &self.value {
            Value::Mapping(mapping) => mapping.get(key),
            _ => None,
        }
    }

    /// Returns the entries of a mapping, in the order of the file. Other values have none.
    pub fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Mapping(mapping) => mapping.entries(),
            _ => &[],
        }
    }

    /// Returns the items of a list. Other values have none.
    pub fn items(&self) -> &[Node] {
        match &self.value {
            Value::Sequence(items) => items,
            _ => &[],
        }
    }

    /// The text, if it is text.
    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The truth value, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self.value {
            Value::Bool(bool) => Some(bool),
            _ => None,
        }
    }

    /// The node at a JSON pointer (RFC 6901), such as `/paths/~1pets/get`.
    pub fn pointer(&self, pointer: &str) -> Option<&Node> {
        pointer::tokens(pointer)?.try_fold(self, |node, token| match &node.value {
            Value::Sequence(items) => items.get(pointer::index(&token)?),
            _ => node.get(&token),
        })
    }

    /// Returns the node with other values at some JSON pointers, by these. `None` removes an entry or an item; a new key is
    /// added. A new value has the place of the old one or of its owner, and everything else its own.
    #[must_use]
    pub fn with(&self, values: &BTreeMap<String, Option<Self>>) -> Self {
        let mut node = self.clone();
        node.set_below("", values);
        node
    }

    fn set_below(&mut self, at: &str, values: &BTreeMap<String, Option<Self>>) {
        let prefix = format!("{at}/");
        let mut inside =
            values.range(prefix.clone()..).take_while(|(pointer, _)| pointer.starts_with(&prefix)).peekable();
        if inside.peek().is_none() {
            return;
        }
        // Returns whether the value stays.
        let set = |token: &str, node: &mut Self| {
            let at = pointer::below(at, token);
            match values.get(&at) {
                Some(Some(value)) => *node = value.clone().placed(node.span),
                Some(None) => return false,
                None => node.set_below(&at, values),
            }
            true
        };
        match &mut self.value {
            Value::Sequence(items) => {
                let mut number = 0..;
                items.retain_mut(|item| number.next().is_some_and(|number| set(&number.to_string(), item)));
            }
            Value::Mapping(mapping) => {
                let added =
                    inside.filter(|(at, _)| !at[prefix.len()..].contains('/')).filter_map(|(at, value)| {
                        let key = pointer::unescaped(&at[prefix.len()..]).into_owned();
                        let value =
                            value.as_ref().filter(|_| mapping.get(&key).is_none())?.clone().placed(self.span);
                        Some(Entry { key, key_span: self.span, value })
                    });
                let added: Vec<_> = added.collect();
                let mut entries = std::mem::take(mapping).entries;
                entries.retain_mut(|entry| set(&entry.key, &mut entry.value));
                entries.into_iter().chain(added).for_each(|entry| mapping.push(entry));
            }
            _ => {}
        }
    }

    /// Returns the same data at a place.
    fn placed(mut self, span: Span) -> Self {
        (self.span, self.alias) = (span, None);
        match &mut self.value {
            Value::Sequence(items) => *items = items.drain(..).map(|item| item.placed(span)).collect(),
            Value::Mapping(mapping) => {
                let entries = std::mem::take(mapping).entries.into_iter();
                entries.for_each(|Entry { key, value, .. }| {
                    mapping.push(Entry { key, key_span: span, value: value.placed(span) });
                });
            }
            _ => {}
        }
        self
    }

    /// Returns the same data without positions.
    pub fn to_json(&self) -> serde_json::Value {
        // A tree is always valid JSON.
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// As the same data without positions; unlike [`Node::to_json`], mappings keep the order of the text.
impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.value {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(bool) => serializer.serialize_bool(*bool),
            Value::Number(number) => number.serialize(serializer),
            Value::String(text) => serializer.serialize_str(text),
            Value::Sequence(items) => serializer.collect_seq(items),
            Value::Mapping(mapping) => {
                serializer.collect_map(mapping.entries.iter().map(|entry| (&entry.key, &entry.value)))
            }
        }
    }
}

/// The reason why a text could not be read, and the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The place. Its end has no meaning.
    pub span: Span,
    /// The message, without the place.
    pub message: String,
}

impl Problem {
    /// A problem with what begins at this place.
    pub(super) fn at(span: Span, message: impl Into<String>) -> Self {
        Self { span, message: message.into() }
    }

    /// A problem at this offset of the text.
    pub(super) fn in_text(text: &str, offset: usize, message: impl Into<String>) -> Self {
        Self::at(Span::within(text, offset..offset), message)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}, column {}: {}", self.span.line, self.span.column, self.message)
    }
}

impl std::error::Error for Problem {}

/// The type of a value, with its article, for a message.
pub fn type_of(node: &Node) -> &'static str {
    match &node.value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Sequence(_) => "an array",
        Value::Mapping(_) => "a mapping",
    }
}

/// Returns text for a message, shortened if it is long.
pub fn shortened(text: &str) -> String {
    const LONGEST: usize = 120;
    let line = text.lines().next().unwrap_or_default();
    if line.len() == text.len() && text.len() <= LONGEST {
        return text.to_owned();
    }
    format!("{}…", &line[..line.floor_char_boundary(LONGEST)])
}
