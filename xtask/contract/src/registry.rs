//! All rules of the library, with their examples: the texts of `--rules` and `--explain`.

use std::fmt::Write as _;

use include_dir::{Dir, include_dir};

use crate::document::{self, Node};
use crate::rule::Rule;
use crate::{breaking, drift, finding, lint};

/// The examples: a folder for each family of rules, a file for each rule.
static FIXTURES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/fixtures");

/// The families of rules, named like their folders of fixtures.
pub fn families() -> Vec<(&'static str, Vec<&'static Rule>)> {
    vec![
        ("lint", lint::rules().collect()),
        ("breaking", breaking::rules().collect()),
        ("drift", drift::rules().collect()),
    ]
}

/// All rules, family by family.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    families().into_iter().flat_map(|(_, rules)| rules)
}

/// The rule with this name.
pub fn find(name: &str) -> Option<&'static Rule> {
    rules().find(|rule| rule.name == name)
}

/// The rule whose name is most like this one.
pub fn nearest(name: &str) -> Option<&'static str> {
    finding::nearest(name, rules().map(|rule| rule.name), 3)
}

/// All rules as a Markdown table.
pub fn table() -> String {
    let mut table = "| rule | severity | profile | explanation | origin |\n".to_owned();
    table.push_str("| --- | --- | --- | --- | --- |\n");
    for Rule { name, severity, profile, explanation, origin } in rules() {
        let explanation = explanation.replace('|', "\\|");
        // Writing to a string cannot fail.
        let _ = writeln!(table, "| `{name}` | {severity} | {profile} | {explanation} | {origin} |");
    }
    table
}

/// Describes a rule, with an example that triggers it.
pub fn explain(rule: &Rule) -> String {
    let Rule { name, severity, profile, explanation, origin } = rule;
    let mut text =
        format!("{name}\n\n{explanation}\n\nseverity: {severity}\nprofile: {profile}\norigin: {origin}\n");
    let example = example(name);
    if let Some(item) = example.as_ref().and_then(|fixture| fixture.get("breaks")?.items().first()) {
        text.push_str("\nExample: the rule reports a document after this edit.\n");
        edits(item, "", &mut text);
        if let Some(place) = item.get("at").and_then(Node::as_str) {
            let place = if place.is_empty() { "the document".to_owned() } else { format!("`{place}`") };
            let _ = writeln!(text, "  The finding is at {place}.");
        }
    }
    text
}

/// The fixture of a rule.
fn example(name: &str) -> Option<Node> {
    let file =
        FIXTURES.dirs().find_map(|family| family.get_file(family.path().join(format!("{name}.yaml"))))?;
    document::read(file.contents_utf8()?).ok()
}

/// The edits of an example, one a line. `side` says which document or code is edited.
fn edits(item: &Node, side: &str, text: &mut String) {
    for entry in item.entries() {
        let json = |node: &Node| serde_json::to_string(node).unwrap_or_default();
        let lines: Vec<String> = match entry.key.as_str() {
            verb @ ("set" | "rename") => {
                let each = entry.value.entries().iter();
                each.map(|edit| format!("{verb} `{}` to `{}`", edit.key, json(&edit.value))).collect()
            }
            "remove" => {
                let pointers = entry.value.items().iter().filter_map(Node::as_str);
                pointers.map(|pointer| format!("remove `{pointer}`")).collect()
            }
            "before" => {
                edits(&entry.value, " in both documents", text);
                continue;
            }
            "code" => {
                edits(&entry.value, " in the code", text);
                continue;
            }
            _ => continue,
        };
        for line in lines {
            let _ = writeln!(text, "  {line}{side}");
        }
    }
}
