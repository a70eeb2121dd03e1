//! The edits of fixtures: values to `set`, `remove` or `rename`, by JSON pointer. They are made in the text, so that all
//! other places stay the same.

use document::edits::{self, Edit, parts};
use document::{Entry, Node, pointer};

/// Returns the text after one kind of edit. `None` if a place does not exist.
pub(super) fn edited(text: &str, edit: &Entry) -> Option<String> {
    let at_keys = edit.value.entries().iter().map(|entry| (entry.key.as_str(), &entry.value));
    let at_items = edit.value.items().iter().filter_map(|pointer| Some((pointer.as_str()?, pointer)));
    at_keys.chain(at_items).try_fold(text.to_owned(), |text, (at, value)| {
        let root = document::read(&text).ok()?;
        let edit = match edit.key.as_str() {
            "set" => set(&text, &root, at, value),
            "rename" => rename(&root, at, value),
            _ => parts::remove(&text, &root, at),
        };
        Some(edits::edited(&text, &[edit?]))
    })
}

/// Writes a value, or adds an entry or an item; `-` is the item before the first.
fn set(text: &str, root: &Node, at: &str, value: &Node) -> Option<Edit> {
    let json = value.to_json();
    let (owner, _) = at.rsplit_once('/')?;
    let (owner, key) = (root.pointer(owner)?, pointer::tokens(at)?.last()?);
    let start = owner.span.start;
    if let Some(Entry { key_span, value, .. }) = owner.entry(&key) {
        // An empty value ends with the colon.
        let end = value.span.end.max(key_span.end + 1);
        Some(Edit { range: key_span.end..end, text: format!(": {json}") })
    } else if let Some(item) = pointer::index(&key).and_then(|number| owner.items().get(number)) {
        Some(Edit { range: item.span.start..item.span.end, text: json.to_string() })
    } else if key != "-" {
        parts::add(text, owner, &key, &json)
    } else if text[start..].starts_with('[') {
        Some(Edit { range: start..start + 1, text: format!("[{json}, ") })
    } else {
        let indent = " ".repeat(owner.span.column - 1);
        Some(Edit { range: start..start, text: format!("- {json}\n{indent}") })
    }
}

/// Writes another key: in quotation marks, unless it is a number.
fn rename(root: &Node, at: &str, to: &Node) -> Option<Edit> {
    let (owner, _) = at.rsplit_once('/')?;
    let span = root.pointer(owner)?.entry(&pointer::tokens(at)?.last()?)?.key_span;
    Some(Edit { range: span.start..span.end, text: to.to_json().to_string() })
}
