//! Fixtures: for each rule, edits of the frozen document that break it, and similar edits that do not.
//!
//! An edit is data: values to `set`, `remove` or `rename`, by JSON pointer. It is applied to the text, so that all
//! other places stay the same, and a test can check that a finding is on the line of the edit.

use std::fs;
use std::path::{Path, PathBuf};

use document::{Entry, Node};

/// Edits of the document, and the expected findings.
pub(crate) struct Case {
    /// The rule of the fixture.
    pub(crate) rule: String,
    /// Whether the edits break the rule.
    pub(crate) breaks: bool,
    /// The document before the edits: the frozen one with the edits under `before`.
    pub(crate) base: String,
    /// The document after the edits.
    pub(crate) text: String,
    /// The document of the code with the edits under `code`.
    pub(crate) code: Option<String>,
    /// The expected place of the finding.
    pub(crate) at: String,
    /// Other rules that the edits necessarily break.
    pub(crate) also: Vec<String>,
    /// For `tests/generator`: `fails` or `works`, the expected result of the client generator, if given.
    pub(crate) generator: Option<String>,
    /// The text of the edits in the fixture, for messages.
    pub(crate) name: String,
}

/// Returns the cases of all rules.
pub(crate) fn cases(folder: &Path, document: &Path) -> Vec<Case> {
    let original = fs::read_to_string(document).unwrap();
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut cases = Vec::new();
    for file in files {
        let rule = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = fs::read_to_string(&file).unwrap();
        let fixture = document::read(&text).unwrap_or_else(|problem| panic!("{}: {problem}", file.display()));
        for (list, breaks) in [("breaks", true), ("keeps", false)] {
            let items = fixture.get(list).map(Node::items).unwrap_or_default();
            assert!(!items.is_empty(), "{}: no `{list}`", file.display());
            for (number, item) in items.iter().enumerate() {
                cases.push(case(&rule, breaks, item, &original, format!("{rule}.yaml: {list} {number}")));
            }
        }
    }
    cases
}

fn case(rule: &str, breaks: bool, item: &Node, original: &str, name: String) -> Case {
    let before = item.get("before").map(Node::entries).unwrap_or_default().iter();
    let base = before.fold(original.to_owned(), |text, edit| edited(&text, edit, &name));
    let mut text = base.clone();
    let mut code = None;
    let mut at = None;
    let mut also = Vec::new();
    let mut generator = None;
    for entry in item.entries() {
        match entry.key.as_str() {
            "set" | "remove" | "rename" => text = edited(&text, entry, &name),
            "code" => {
                let original = fs::read_to_string(document().with_extension("code.json")).unwrap();
                let edits = entry.value.entries().iter();
                code = Some(edits.fold(original, |text, edit| edited(&text, edit, &name)));
            }
            "before" => {}
            "at" => at = entry.value.as_str().map(str::to_owned),
            "also" => {
                also = entry.value.items().iter().map(|item| item.as_str().unwrap().to_owned()).collect();
            }
            "generator" => generator = Some(entry.value.as_str().unwrap().to_owned()),
            other => panic!("{name}: `{other}` is not a key of a fixture"),
        }
    }
    assert_eq!(breaks, at.is_some(), "{name}: a case that breaks the rule, and no other, has `at`");
    assert!(text != base || code.is_some(), "{name}: it changes nothing");
    let at = at.unwrap_or_default();
    Case { rule: rule.to_owned(), breaks, base, text, code, at, also, generator, name }
}

/// Returns the text after one kind of edit.
fn edited(text: &str, edit: &Entry, name: &str) -> String {
    let mut text = text.to_owned();
    for Entry { key: pointer, value, .. } in edit.value.entries() {
        let edited = match edit.key.as_str() {
            "set" => set_value(&text, pointer, value),
            _ => rename_key(&text, pointer, value),
        };
        text = edited.unwrap_or_else(|| panic!("{name}: no {pointer}"));
    }
    for pointer in edit.value.items().iter().map(|item| item.as_str().unwrap()) {
        text = remove(&text, pointer).unwrap_or_else(|| panic!("{name}: no {pointer}"));
    }
    text
}

/// Returns the path of the document that fixtures edit.
pub(crate) fn document() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/documents/library.yaml"))
}

fn split(pointer: &str) -> Option<(&str, String)> {
    let (owner, key) = pointer.rsplit_once('/')?;
    Some((owner, key.replace("~1", "/").replace("~0", "~")))
}

/// Returns the text with another value at a place, or with a new key or item; `-` is the item before the first.
fn set_value(text: &str, pointer: &str, value: &Node) -> Option<String> {
    let root = document::read(text).unwrap_or_else(|problem| panic!("before {pointer}: {problem}"));
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

fn remove(text: &str, pointer: &str) -> Option<String> {
    let root = document::read(text).unwrap_or_else(|problem| panic!("before {pointer}: {problem}"));
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
    let root = document::read(text).unwrap_or_else(|problem| panic!("before {pointer}: {problem}"));
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
