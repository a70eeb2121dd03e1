//! The edits of fixtures: values to `set`, `remove` or `rename`, by JSON pointer. They are made in the text, so that all
//! other places stay the same.

use document::{Entry, Node};

/// Returns the text after one kind of edit. `None` if a place does not exist.
pub(super) fn edited(text: &str, edit: &Entry) -> Option<String> {
    let mut text = text.to_owned();
    for Entry { key: pointer, value, .. } in edit.value.entries() {
        text = match edit.key.as_str() {
            "set" => set_value(&text, pointer, value)?,
            _ => rename_key(&text, pointer, value)?,
        };
    }
    for pointer in edit.value.items() {
        text = remove(&text, pointer.as_str()?)?;
    }
    Some(text)
}

fn split(pointer: &str) -> Option<(&str, String)> {
    let (owner, key) = pointer.rsplit_once('/')?;
    Some((owner, key.replace("~1", "/").replace("~0", "~")))
}

/// Returns the text with another value at a place, or with a new key or item; `-` is the item before the first.
fn set_value(text: &str, pointer: &str, value: &Node) -> Option<String> {
    let root = document::read(text).ok()?;
    let json = value.to_json().to_string();
    let (owner, key) = split(pointer)?;
    let owner = root.pointer(owner)?;
    let start = owner.span.start;
    let flow = text[start..].starts_with(['{', '[']);
    if let Some(entry) = owner.entry(&key) {
        let with = format!("{}: {json}", &text[entry.key_span.start..entry.key_span.end]);
        return Some(replaced(text, entry.key_span.start, end(text, entry), &with));
    }
    if let Some(item) = key.parse().ok().and_then(|number: usize| owner.items().get(number)) {
        return Some(replaced(text, item.span.start, item.span.end, &json));
    }
    if key == "-" {
        let dash = text[..start].len();
        let indent = indent(text, dash);
        let with = if flow { format!("[{json}, ") } else { format!("- {json}\n{indent}") };
        return Some(replaced(text, dash, dash + usize::from(flow), &with));
    }
    let key = serde_json::Value::from(key);
    let with =
        if flow { format!("{{{key}: {json}, ") } else { format!("{key}: {json}\n{}", indent(text, start)) };
    Some(replaced(text, start, start + usize::from(flow), &with))
}

/// Returns the text without an entry or an item.
fn remove(text: &str, pointer: &str) -> Option<String> {
    let root = document::read(text).ok()?;
    let (owner, key) = split(pointer)?;
    let owner = root.pointer(owner)?;
    let (start, end) = match owner.entry(&key) {
        Some(entry) => (entry.key_span.start, end(text, entry)),
        None => {
            let item = owner.items().get(key.parse::<usize>().ok()?)?;
            let dash = text[..item.span.start].rfind('-')?;
            let flow = text[owner.span.start..].starts_with('[');
            (if flow { item.span.start } else { dash }, item.span.end)
        }
    };
    if text[owner.span.start..].starts_with(['{', '[']) {
        let rest = text[end..].trim_start_matches([',', ' ']);
        return Some(format!(
            "{}{rest}",
            text[..start].trim_end_matches(if rest.starts_with(']') { ", " } else { "" })
        ));
    }
    let line = text[..start].rfind('\n').map_or(0, |position| position + 1);
    let next = text[end..].find('\n').map_or(text.len(), |position| end + position + 1);
    // The first key of an item is after the dash.
    let start = if text[line..start].trim().is_empty() { line } else { start };
    let next = if start == line { next } else { next + indent(text, start).len() };
    Some(replaced(text, start, next, ""))
}

/// Returns the text with another key at a place: in quotation marks, unless the new key is a number.
fn rename_key(text: &str, pointer: &str, new: &Node) -> Option<String> {
    let root = document::read(text).ok()?;
    let (owner, key) = split(pointer)?;
    let entry = root.pointer(owner)?.entry(&key)?;
    let new = new.to_json().to_string();
    Some(replaced(text, entry.key_span.start, entry.key_span.end, &new))
}

/// Returns the offset after a value, or after the colon if the value is empty.
fn end(text: &str, entry: &Entry) -> usize {
    let colon = text[entry.key_span.end..]
        .find(':')
        .map_or(entry.key_span.end, |colon| entry.key_span.end + colon + 1);
    entry.value.span.end.max(colon)
}

/// Returns as many spaces as there are characters before this place in its line.
fn indent(text: &str, place: usize) -> String {
    let line = text[..place].rfind('\n').map_or(0, |position| position + 1);
    " ".repeat(text[line..place].chars().count())
}

fn replaced(text: &str, start: usize, end: usize, with: &str) -> String {
    format!("{}{with}{}", &text[..start], &text[end..])
}
