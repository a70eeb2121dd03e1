//! Each repair of a finding, in five styles of YAML: nothing changes that the repair does not mean to change.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use checks::lint::lint;
use document::repair::Repair;
use document::{Document, Entry, Node, Span, Value, pointer};
use fixtures::TODAY;
use serde_json::Value as Json;

use super::repairs::repaired;
use super::rules::CASES;

/// A style, and the function that writes a document in it.
type Style = (&'static str, fn(&str) -> String);

const STYLES: [Style; 5] = [
    ("block", str::to_owned),
    ("flow", |text| in_flow_style(&document::read(text).unwrap(), "\n")),
    ("anchors", anchored),
    ("comments", commented),
    ("CRLF", |text| text.replace('\n', "\r\n")),
];

fn parsed(text: &str) -> Document {
    Document::parse("library.yaml", text).unwrap_or_else(|unread| panic!("{}\n{text}", unread.problem))
}

/// A repair of a fixture: the fixture with the repair's title, its text, its tree, and the data after the repair.
struct Case {
    name: String,
    text: String,
    plain: Node,
    repair: Repair,
    expected: Json,
}

fn repairs() -> Vec<Case> {
    let mut repairs = Vec::new();
    for fixture in CASES.iter().filter(|case| case.breaks) {
        let Ok(plain) = Document::parse("library.yaml", &fixture.text) else { continue };
        let findings = lint(&plain, TODAY);
        for repair in findings.iter().filter(|it| it.rule == fixture.rule).flat_map(|it| &it.repairs) {
            let Some(after) = repaired(&plain, repair) else { continue };
            let name = format!("{}: {}", fixture.name, repair.title());
            let expected = parsed(&after).root.to_json();
            let (text, plain) = (fixture.text.clone(), plain.root.clone());
            repairs.push(Case { name, text, plain, repair: repair.clone(), expected });
        }
    }
    repairs
}

#[test]
fn a_repair_changes_nothing_else_in_five_styles() {
    let (cases, mut report) = (repairs(), String::new());
    for (style, write) in STYLES {
        let (mut applied, mut refused, mut unintended) = (0, 0, 0);
        for case in &cases {
            let before = parsed(&write(&case.text));
            let Some(after) = repaired(&before, &case.repair) else {
                refused += 1;
                continue;
            };
            applied += 1;
            let changes = unintended_changes(case, &before, &after);
            unintended += changes.len();
            changes.iter().for_each(|change| report += &format!("\n{style}, {}: {change}", case.name));
        }
        println!("{style}: {applied} repairs applied, {refused} refused, {unintended} unintended changes");
        assert!(cases.len() > 40 && refused * 10 < cases.len(), "{style}: {refused} of {}", cases.len());
    }
    assert!(report.is_empty(), "{report}");
}

fn unintended_changes(case: &Case, before: &Document, after: &str) -> Vec<String> {
    let root = match document::read(after) {
        Ok(root) => root,
        Err(problem) => return vec![problem.to_string()],
    };
    let mut changes = Vec::new();
    if root.to_json() != case.expected {
        changes.push("the data differs from the same repair in block style".to_owned());
    }
    let line_breaks = |text: &str| (text.contains("\r\n"), text.replace("\r\n", "").contains('\n'));
    if line_breaks(&before.text) != line_breaks(after) {
        changes.push("another kind of line break".to_owned());
    }
    let (old, new) = (written(&before.text, &before.root), written(after, &root));
    let removed = removed(&case.repair, &case.plain);
    // The items after a removed one have another place.
    let lists = removed.iter().filter_map(|at| at.rsplit_once('/'));
    let lists = lists.filter(|(_, token)| pointer::index(token).is_some());
    let lists: Vec<&str> = lists.map(|(list, _)| list).collect();
    for (at, (value, text)) in old.iter().filter(|(at, _)| !lists.iter().any(|list| is_in(at, list))) {
        if let Some((_, changed)) = new.get(at).filter(|(known, changed)| known == value && changed != text) {
            changes.push(format!("{at}: `{text}` became `{changed}`"));
        }
    }
    let (had, has) = (comments(&before.text), comments(after));
    for (line, places) in lines(&case.plain) {
        let is_removed = places.iter().any(|place| removed.iter().any(|at| is_in(place, at)));
        for comment in [before_line(line), beside_line(line)] {
            if !is_removed && had.contains(&*comment) && !has.contains(&*comment) {
                changes.push(format!("`{comment}` of {} is gone", places.join(" and ")));
            }
        }
    }
    changes
}

/// Returns each scalar and its text, from the key on, by JSON pointer.
fn written(text: &str, root: &Node) -> BTreeMap<String, (Json, String)> {
    let mut written = BTreeMap::new();
    visit(root, "", &mut |at, key, node| {
        let start = key.unwrap_or(node.span).start;
        let is_scalar = !matches!(node.value, Value::Mapping(_) | Value::Sequence(_));
        // The text of an alias is elsewhere.
        if is_scalar && start <= node.span.start {
            written.insert(at.to_owned(), (node.to_json(), text[start..node.span.end].to_owned()));
        }
    });
    written
}

/// Returns the end of each line from its last `#` on.
fn comments(text: &str) -> HashSet<&str> {
    text.lines().filter_map(|line| Some(&line[line.rfind('#')?..])).collect()
}

/// Returns the places that begin on each line.
fn lines(root: &Node) -> BTreeMap<usize, Vec<String>> {
    let mut lines: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    visit(root, "", &mut |at, key, node| {
        lines.entry(key.unwrap_or(node.span).line).or_default().push(at.to_owned());
    });
    lines
}

/// Calls a function with each place below a node: its JSON pointer, the place of its key, and its value.
fn visit(node: &Node, at: &str, found: &mut impl FnMut(&str, Option<Span>, &Node)) {
    let items = node.items().iter().enumerate().map(|(number, item)| (number.to_string(), None, item));
    let entries = node.entries().iter().map(|it| (it.key.clone(), Some(it.key_span), &it.value));
    for (token, key, value) in items.chain(entries) {
        let mut at = at.to_owned();
        pointer::push(&mut at, &token);
        found(&at, key, value);
        visit(value, &at, found);
    }
}

/// Returns the places that a repair removes.
fn removed(repair: &Repair, root: &Node) -> Vec<String> {
    match repair {
        Repair::Remove { at } => {
            // The name of a property is removed from `required` too, or the list if it has no other.
            let property =
                at.rsplit_once("/properties/").map(|(schema, name)| (format!("{schema}/required"), name));
            let required = property.and_then(|(list, name)| {
                let names = root.pointer(&list)?.items();
                let number = names.iter().position(|it| it.as_str() == Some(name))?;
                Some(if names.len() == 1 { list } else { format!("{list}/{number}") })
            });
            required.into_iter().chain([at.clone()]).collect()
        }
        Repair::Rename { .. } | Repair::Write { .. } | Repair::Add { .. } => Vec::new(),
    }
}

fn is_in(place: &str, at: &str) -> bool {
    place.strip_prefix(at).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Writes a document with brackets, and with strings in single quotes where they can be.
fn in_flow_style(node: &Node, line_break: &str) -> String {
    let quoted = |text: &str| match text.contains(|it: char| it.is_control() || it == '\'') {
        true => Json::from(text).to_string(),
        false => format!("'{}'", text.replace('\'', "''")),
    };
    let inner = format!("{line_break}  ");
    match &node.value {
        Value::String(text) => quoted(text),
        Value::Sequence(items) => {
            let items: Vec<String> = items.iter().map(|item| in_flow_style(item, &inner)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Mapping(mapping) if !mapping.entries().is_empty() => {
            let entry =
                |it: &Entry| format!("{inner}{}: {}", quoted(&it.key), in_flow_style(&it.value, &inner));
            let entries: Vec<String> = mapping.entries().iter().map(entry).collect();
            format!("{{{}{line_break}}}", entries.join(","))
        }
        _ => node.to_json().to_string(),
    }
}

/// Gives each value of a mapping an anchor, and writes long strings that occur again as aliases.
fn anchored(text: &str) -> String {
    const LONG: usize = 20;
    let mut edits = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    visit(&document::read(text).unwrap(), "", &mut |_, key, node| {
        let Some(Span { end, .. }) = key.filter(|key| key.end < node.span.start) else { return };
        let value = &text[node.span.start..node.span.end];
        let number = edits.len();
        let first = *known.entry(value.to_owned()).or_insert(number);
        let is_plain = value.len() > LONG && text[end..node.span.start] == *": " && !value.contains('\n');
        if first < number && is_plain && node.as_str().is_some() {
            edits.push((node.span.start..node.span.end, format!("*a{first}")));
        } else {
            let space = if text[end + 1..].starts_with(char::is_whitespace) { "" } else { " " };
            edits.push((end + 1..end + 1, format!(" &a{number}{space}")));
        }
    });
    let mut anchored = text.to_owned();
    edits.into_iter().rev().for_each(|(range, new)| anchored.replace_range(range, &new));
    anchored
}

/// Adds a comment to each line on which a value begins, and one on a line of its own before it.
fn commented(text: &str) -> String {
    let root = document::read(text).unwrap();
    let lines = lines(&root);
    let mut strings = BTreeSet::new();
    visit(&root, "", &mut |_, _, node| {
        let lines = text[node.span.start..node.span.end].matches('\n').count();
        if matches!(node.value, Value::String(_)) && lines > 0 {
            strings.extend(node.span.line..=node.span.line + lines);
        }
    });
    let mut commented = String::new();
    for (number, line) in (1..).zip(text.lines()) {
        // There are no comments in strings.
        if !lines.contains_key(&number) || strings.contains(&number) {
            commented += &format!("{line}\n");
            continue;
        }
        let indent = &line[..line.len() - line.trim_start().len()];
        commented += &format!("{indent}{}\n{line} {}\n", before_line(number), beside_line(number));
    }
    commented
}

fn before_line(number: usize) -> String {
    format!("# before {number}.")
}

fn beside_line(number: usize) -> String {
    format!("# beside {number}.")
}

#[test]
fn a_value_with_an_alias_stays() {
    let text = "openapi: 3.0.3\ninfo: {title: T, version: 1.0.0}\npaths:\n  /a:\n    summary: &words Animals\n    \
                description: *words\n";
    let document = parsed(text);
    let remove = |at: &str| repaired(&document, &Repair::Remove { at: at.to_owned() });
    let write = |at: &str| repaired(&document, &Repair::Write { at: at.to_owned(), value: "Birds".into() });
    assert_eq!(remove("/paths/~1a/summary"), None);
    assert_eq!((write("/paths/~1a/summary"), write("/paths/~1a/description")), (None, None));
    assert_eq!(remove("/paths/~1a"), Some(text[..text.find("/a").unwrap()].to_owned() + "{}\n"));
}
