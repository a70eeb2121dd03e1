//! Edits of one entry, item or value.

use std::ops::Range;

use serde_json::Value as Json;

use super::Edit;
use super::format::{block, flow, key_like, literal};
use crate::text::{self, Entry, Node, Span, Value, pointer};

/// Removes an entry of a mapping or an item of a list, without the comments on lines of their own beside it.
pub fn remove(text: &str, root: &Node, at: &str) -> Option<Edit> {
    let (owner, number) = at_pointer(root, at)?;
    let parts = parts(text, owner);
    let (start, end) = parts[number];
    let (next, before) = (parts.get(number + 1), number.checked_sub(1).map(|number| parts[number].1));
    let edit = |range, text: &str| Some(Edit { range, text: text.to_owned() });
    let without_comment = |gap: Range<usize>, range| {
        text.get(gap).filter(|between| !between.contains('#')).and_then(|_| edit(range, ""))
    };
    match (next, before) {
        (Some((next, _)), _) if is_flow(text, owner) || line_end(text, end) >= *next => {
            without_comment(end..*next, start..*next)
        }
        (None, Some(before)) if is_flow(text, owner) => without_comment(before..start, before..end),
        (None, None) if is_flow(text, owner) => edit(start..end, ""),
        (None, None) => edit(start..end, if matches!(owner.value, Value::Mapping(_)) { "{}" } else { "[]" }),
        // The whole lines of the part.
        _ if text[line_start(text, start)..start].trim_start().is_empty() => {
            edit(line_start(text, start)..text.len().min(line_end(text, end) + 1), "")
        }
        // The first part of a collection that begins on a line with its owner: the next one takes its place.
        (Some((next, _)), _) => {
            let rest = text.get(line_end(text, end)..*next).unwrap_or_default();
            edit(start..next - rest.trim_start().len(), "")
        }
        (None, Some(_)) => None,
    }
}

/// Renames a key. `None` if another entry has the name.
pub(super) fn rename(text: &str, root: &Node, at: &str, to: &str) -> Option<Edit> {
    let (owner, number) = at_pointer(root, at)?;
    let Entry { key, key_span, .. } = owner.entries().get(number)?;
    // A status without quotes keeps its name.
    if key != to && owner.entry(to).is_some() {
        return None;
    }
    let range = key_span.start..key_span.end;
    Some(Edit { text: key_like(text.get(range.clone())?, to), range })
}

/// Replaces a value.
pub(super) fn write(text: &str, root: &Node, at: &str, value: &Json) -> Option<Edit> {
    let node = root.pointer(at).filter(|_| root.alias_at(at, Span::default()).is_none())?;
    let range = node.span.start..node.span.end;
    // An empty value has no text to replace.
    let old = text.get(range.clone()).filter(|old| !old.is_empty())?;
    let comments = || old.contains(" #") || old.lines().any(|line| line.trim_start().starts_with('#'));
    let new = match (value, &node.value) {
        (_, Value::String(_)) if let Some((header, indent)) = block_scalar(text, range.start) => {
            let is_literal = matches!(header, "|" | "|-" | "|+");
            Edit { text: literal(value.as_str().filter(|_| is_literal)?, indent), range }
        }
        _ if !old.contains('\n') => {
            return Some(Edit { text: flow(value, sample(text, old)), range });
        }
        (_, Value::Sequence(_) | Value::Mapping(_)) if comments() => return None,
        (_, Value::Sequence(_) | Value::Mapping(_)) if is_flow(text, node) => {
            Edit { text: flow(value, sample(text, "")), range }
        }
        (_, Value::Sequence(_) | Value::Mapping(_)) => {
            let line = line_start(text, range.start);
            let start = match node.value {
                Value::Sequence(_) if !old.starts_with('-') => line + text[line..range.start].rfind('-')?,
                _ => range.start,
            };
            let indent: String = text[line..start].chars().map(|_| ' ').collect();
            let text = block(value, &indent).unwrap_or_else(|| flow(value, ""));
            Edit { text, range: start..range.end }
        }
        _ => return None,
    };
    // The end of a value of several lines is not always exact, for example after an alias.
    let written = text::read(&super::edited(text, std::slice::from_ref(&new))).ok()?;
    (written.pointer(at).map(Node::to_json).as_ref() == Some(value)).then_some(new)
}

/// Adds an entry to a mapping. `None` if it has the key.
pub fn add(text: &str, owner: &Node, key: &str, value: &Json) -> Option<Edit> {
    if !matches!(owner.value, Value::Mapping(_)) || owner.entry(key).is_some() {
        return None;
    }
    let (is_flow, first) = (is_flow(text, owner), owner.entries().first().map(|first| first.key_span));
    // JSON strings are strings of YAML too.
    let sample = first.map_or(Some("\""), |first| text.get(first.start..first.end))?;
    let entry = format!(
        "{}: {}",
        key_like(sample, key),
        flow(value, if sample.starts_with('"') { "\"" } else { "" })
    );
    let is_simple = |entry: &&Entry| {
        let Span { start, end, .. } = entry.value.place();
        let is_scalar = !matches!(entry.value.value, Value::Mapping(_) | Value::Sequence(_) | Value::Null);
        is_scalar && !text.get(start..end).unwrap_or_default().contains('\n')
    };
    let Some(start) = first.map(|first| first.start) else {
        let after = owner.span.start + 1;
        return is_flow.then_some(Edit { range: after..after, text: entry });
    };
    let indent: String = text[line_start(text, start)..start].chars().map(|_| ' ').collect();
    // After the last scalar; a new first line would be far from the others.
    let last = owner.entries().iter().rfind(is_simple).map(|entry| entry.value.place().end);
    let (place, text) = match last {
        Some(end) if is_flow => (end, format!(", {entry}")),
        // After the comment on its line.
        Some(end) => (end + text[end..line_end(text, end)].trim_end().len(), format!("\n{indent}{entry}")),
        None if is_flow => (start, format!("{entry}, ")),
        None => (start, format!("{entry}\n{indent}")),
    };
    Some(Edit { range: place..place, text })
}

/// Returns the header and the indentation of the block scalar whose content begins at an offset.
fn block_scalar(text: &str, start: usize) -> Option<(&str, &str)> {
    let (before, indent) = text[..start].rsplit_once('\n')?;
    let line = before.trim_end().rsplit('\n').next()?;
    let header = line.split(" #").next()?.trim_end().rsplit(' ').next()?;
    let is_header = header.starts_with(['|', '>']) && indent.chars().all(|it| it == ' ');
    is_header.then_some((header, indent))
}

/// Returns what a value is formatted like: strings of JSON in a document in JSON, else as `old`.
pub(super) fn sample<'t>(text: &str, old: &'t str) -> &'t str {
    let first = text.trim_start_matches('\u{feff}').trim_start();
    if first.starts_with('{') { "\"" } else { old }
}

/// Returns the mapping or list at a pointer. `None` if it is in the value of an alias, or has the entries of other mappings
/// by a merge key.
pub(super) fn owner<'a>(root: &'a Node, at: &str) -> Option<&'a Node> {
    let is_own = root.alias_at(at, Span::default()).is_none();
    root.pointer(at).filter(|node| is_own && node.merge_key().is_none())
}

/// Returns the mapping or list that has a value, and the number of its entry or item. `None` if it cannot be edited.
fn at_pointer<'a>(root: &'a Node, pointer: &str) -> Option<(&'a Node, usize)> {
    let (at, _) = pointer.rsplit_once('/')?;
    let token = pointer::tokens(pointer)?.last()?;
    let owner = owner(root, at)?;
    let number = match &owner.value {
        Value::Mapping(mapping) => mapping.entries().iter().position(|entry| entry.key == token),
        _ => pointer::index(&token).filter(|number| *number < owner.items().len()),
    };
    Some((owner, number?))
}

/// Returns where each part of a mapping or list begins and ends.
fn parts(text: &str, owner: &Node) -> Vec<(usize, usize)> {
    let is_flow = is_flow(text, owner);
    let items = owner.items().iter().map(|item| {
        let Span { start, end, .. } = item.place();
        let line = line_start(text, start);
        let marker = text[line..start].rfind('-').filter(|_| !is_flow);
        (marker.map_or(start, |marker| line + marker), end)
    });
    let entries = owner.entries().iter().map(|Entry { key_span, value, .. }| {
        let Span { start, end, .. } = value.place();
        // The place of an empty value is before the colon.
        let rest = text[end..].trim_start();
        let is_empty = start == end && rest.starts_with(':');
        (key_span.start, if is_empty { text.len() - rest.len() + 1 } else { end })
    });
    items.chain(entries).collect()
}

/// Whether a mapping or list has brackets. Without, it begins at its first key or item.
fn is_flow(text: &str, node: &Node) -> bool {
    let first = node.items().first().map(Node::place).or(node.entries().first().map(|entry| entry.key_span));
    text[node.span.start..].starts_with(['{', '[']) && first.is_none_or(|first| first.start > node.span.start)
}

/// Returns the start of the line with a place.
fn line_start(text: &str, place: usize) -> usize {
    text[..place].rfind('\n').map_or(0, |before| before + 1)
}

/// Returns the end of the line with a place, without its line break.
fn line_end(text: &str, place: usize) -> usize {
    text[place..].find('\n').map_or(text.len(), |length| place + length)
}
