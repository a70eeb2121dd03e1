//! Changes of a document that fix a finding, as data: what to change, by JSON pointer, and the edit of the text.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::document::{self, Document, Entry, Node, Value, pointer, shortened};

/// A change that fixes a finding. A finding can have several, each of which is enough.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Repair {
    /// Remove an entry of a mapping or an item of a list.
    Remove {
        /// JSON pointer (RFC 6901) of its value.
        at: String,
    },
    /// Rename a key.
    Rename {
        /// JSON pointer of its value.
        at: String,
        /// The new key.
        to: String,
    },
    /// Replace a scalar.
    Write {
        /// JSON pointer of the value.
        at: String,
        /// The new value, a scalar.
        value: serde_json::Value,
    },
    /// Add an entry to a mapping.
    Add {
        /// JSON pointer of the mapping.
        at: String,
        /// The key.
        key: String,
        /// The value, a scalar.
        value: serde_json::Value,
    },
}

/// The replacement of a part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The bytes to replace.
    pub range: Range<usize>,
    /// The new text.
    pub text: String,
}

impl Repair {
    /// Describes the change, in the imperative.
    pub fn title(&self) -> String {
        let last = |at: &str| {
            let token = pointer::tokens(at).and_then(Iterator::last);
            shortened(&token.unwrap_or_default())
        };
        match self {
            Self::Remove { at } => match last(at) {
                item if pointer::index(&item).is_some() => "Remove this item".to_owned(),
                key => format!("Remove `{key}`"),
            },
            Self::Rename { at, to } => format!("Rename `{}` to `{}`", last(at), shortened(to)),
            Self::Write { at, value } => format!("Change `{}` to `{}`", last(at), shown(value)),
            Self::Add { key, value, .. } => format!("Add `{key}: {}`", shown(value)),
        }
    }

    /// Returns the edit of the text. `None` if the place does not exist, the new key exists already, or the place is
    /// written in a way that cannot be edited safely: as an alias or over several lines.
    pub fn edit(&self, document: &Document) -> Option<Edit> {
        let text = document.text.as_str();
        match self {
            Self::Remove { at } => match at_pointer(&document.root, at)? {
                Part::Entry(owner, number) => remove_entry(text, owner, number),
                Part::Item(list, number) => remove_item(text, list, number),
            },
            Self::Rename { at, to } => {
                let Part::Entry(owner, number) = at_pointer(&document.root, at)? else { return None };
                let Entry { key, key_span, .. } = &owner.entries()[number];
                // Another entry; a status without quotes keeps its name.
                if key != to && owner.entry(to).is_some() {
                    return None;
                }
                let range = key_span.start..key_span.end;
                Some(Edit { text: key_like(&text[range.clone()], to), range })
            }
            Self::Write { at, value } => {
                let node = document.root.pointer(at)?;
                let range = node.span.start..node.span.end;
                let old = text.get(range.clone()).filter(|old| !old.contains('\n'))?;
                let is_scalar = !matches!(node.value, Value::Mapping(_) | Value::Sequence(_));
                let first = text.trim_start_matches('\u{feff}').trim_start();
                // Strings of JSON are strings of YAML too.
                let sample = if first.starts_with('{') { "\"" } else { old };
                (is_scalar && !is_alias(at, document)?).then(|| Edit { text: scalar(value, sample), range })
            }
            Self::Add { at, key: name, value } => {
                let owner = document.root.pointer(at)?;
                match &owner.value {
                    Value::Mapping(_) => add_entry(text, owner, name, value),
                    _ => None,
                }
            }
        }
    }
}

/// A value, with its key or number.
enum Part<'a> {
    Entry(&'a Node, usize),
    Item(&'a Node, usize),
}

fn at_pointer<'a>(root: &'a Node, pointer: &str) -> Option<Part<'a>> {
    let (owner, _) = pointer.rsplit_once('/')?;
    let token = pointer::tokens(pointer)?.last()?;
    let owner = root.pointer(owner)?;
    match &owner.value {
        Value::Mapping(mapping) => {
            let number = mapping.entries().iter().position(|entry| entry.key == token)?;
            Some(Part::Entry(owner, number))
        }
        Value::Sequence(items) => {
            pointer::index(&token).filter(|it| *it < items.len()).map(|it| Part::Item(owner, it))
        }
        _ => None,
    }
}

/// Whether the value at a pointer is an alias, whose text is elsewhere. `None` if there is no such value.
fn is_alias(at: &str, document: &Document) -> Option<bool> {
    Some(match at_pointer(&document.root, at)? {
        Part::Entry(owner, number) => {
            let entry = &owner.entries()[number];
            entry.value.span.start < entry.key_span.end
        }
        Part::Item(list, _) => !is_ascending(list.items().iter().map(|item| item.span.start)),
    })
}

fn is_ascending(starts: impl Iterator<Item = usize>) -> bool {
    let starts: Vec<usize> = starts.collect();
    starts.is_sorted_by(|one, other| one < other)
}

/// Whether a mapping or list has brackets.
fn is_flow(text: &str, node: &Node) -> bool {
    text[node.span.start..].starts_with(['{', '['])
}

fn remove_entry(text: &str, owner: &Node, number: usize) -> Option<Edit> {
    let entries = owner.entries();
    let Entry { key_span, .. } = &entries[number];
    let end_of = |entry: &Entry| match entry.value.span.start >= entry.key_span.end {
        true => Some(entry.value.span.end.max(entry.key_span.end)),
        // An alias.
        false => None,
    };
    if let Some(next) = entries.get(number + 1) {
        return Some(Edit { range: key_span.start..next.key_span.start, text: String::new() });
    }
    let end = end_of(&entries[number])?;
    let before = number.checked_sub(1).map(|number| &entries[number]);
    remove_last(text, owner, before.map(end_of), (key_span.start, end))
}

fn remove_item(text: &str, list: &Node, number: usize) -> Option<Edit> {
    let items = list.items();
    if !is_ascending(items.iter().map(|item| item.span.start)) || items[0].span.start < list.span.start {
        return None;
    }
    let item = &items[number];
    if let Some(next) = items.get(number + 1) {
        return Some(Edit { range: item.span.start..next.span.start, text: String::new() });
    }
    let before = number.checked_sub(1).map(|number| Some(items[number].span.end));
    let line = text[..item.span.start].rfind('\n').map_or(0, |before| before + 1);
    let marker = text[line..item.span.start].rfind('-').map_or(item.span.start, |marker| line + marker);
    let start = if is_flow(text, list) { item.span.start } else { marker };
    remove_last(text, list, before, (start, item.span.end))
}

/// Removes the last part of a collection. `before` is the end of the part before it, if there is one.
fn remove_last(
    text: &str,
    owner: &Node,
    before: Option<Option<usize>>,
    (start, end): (usize, usize),
) -> Option<Edit> {
    let end = start + text.get(start..end.max(start))?.trim_end().len();
    let edit = |range, text: &str| Some(Edit { range, text: text.to_owned() });
    let Some(before) = before else {
        let empty = if matches!(owner.value, Value::Mapping(_)) { "{}" } else { "[]" };
        return edit(start..end, if is_flow(text, owner) { "" } else { empty });
    };
    if is_flow(text, owner) {
        return edit(before?..end, "");
    }
    // The whole lines of the entry.
    let line = text[..start].rfind('\n').map_or(0, |before| before + 1);
    let is_first = text[line..start].chars().all(char::is_whitespace);
    let end = text[end..].find('\n').map_or(text.len(), |length| end + length + 1);
    if is_first { edit(line..end, "") } else { None }
}

fn add_entry(text: &str, owner: &Node, name: &str, value: &serde_json::Value) -> Option<Edit> {
    let entries = owner.entries();
    let Some(first) = entries.first() else {
        let after = owner.span.start + 1;
        let is_empty = text.get(owner.span.start..)?.starts_with('{');
        // JSON strings are strings of YAML too.
        let entry = format!("{}: {}", json(name), scalar(value, "\""));
        return is_empty.then_some(Edit { range: after..after, text: entry });
    };
    let sample = text.get(first.key_span.start..first.key_span.end)?;
    let entry = format!(
        "{}: {}",
        key_like(sample, name),
        scalar(value, if sample.starts_with('"') { "\"" } else { "" })
    );
    let line = text[..first.key_span.start].rfind('\n').map_or(0, |before| before + 1);
    let indent: String = text[line..first.key_span.start].chars().map(|_| ' ').collect();
    let is_simple = |entry: &&Entry| {
        let written = text.get(entry.value.span.start..entry.value.span.end).unwrap_or_default();
        let is_scalar = !matches!(entry.value.value, Value::Mapping(_) | Value::Sequence(_) | Value::Null);
        let is_here = entry.value.span.start >= entry.key_span.end;
        is_scalar && is_here && !written.contains('\n') && !written.starts_with(['|', '>'])
    };
    let is_flow = is_flow(text, owner);
    // After the last scalar; a new first line would be far from the others.
    if let Some(anchor) = entries.iter().rfind(is_simple) {
        let end = anchor.value.span.end;
        let text = if is_flow { format!(", {entry}") } else { format!("\n{indent}{entry}") };
        return Some(Edit { range: end..end, text });
    }
    let start = first.key_span.start;
    let text = if is_flow { format!("{entry}, ") } else { format!("{entry}\n{indent}") };
    Some(Edit { range: start..start, text })
}

/// Formats a key, with the quotes of an existing key.
fn key_like(sample: &str, name: &str) -> String {
    match sample.chars().next() {
        Some('"') => json(name),
        Some('\'') => format!("'{}'", name.replace('\'', "''")),
        _ => plain(name),
    }
}

/// Formats a scalar, with the quotes of an existing one if it is a string.
fn scalar(value: &serde_json::Value, sample: &str) -> String {
    match value {
        serde_json::Value::String(text) if sample.starts_with('"') => json(text),
        serde_json::Value::String(text) if sample.starts_with('\'') => {
            format!("'{}'", text.replace('\'', "''"))
        }
        serde_json::Value::String(text) => plain(text),
        other => other.to_string(),
    }
}

/// Formats a string for YAML: without quotes if it stays the same string.
fn plain(text: &str) -> String {
    let is_same = |node: &Node| node.as_str() == Some(text);
    let is_plain = !text.contains(['\n', ',', '[', ']', '{', '}', '#', ':', '"', '\'']);
    match document::read(text) {
        Ok(node) if is_plain && is_same(&node) => text.to_owned(),
        _ if text.contains(char::is_control) => json(text),
        _ => format!("'{}'", text.replace('\'', "''")),
    }
}

fn json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn shown(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), shortened)
}
