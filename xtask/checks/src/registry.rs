//! All rules of the library and of the project, with their examples: the texts of `--rules` and `--explain`.

use std::fmt::Write as _;

use document::finding;
use document::rule::Rule;
use include_dir::{Dir, include_dir};

use crate::{breaking, drift, lint};

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

/// The family of the rule with this name.
pub fn family(name: &str) -> Option<&'static str> {
    families()
        .into_iter()
        .find(|(_, rules)| rules.iter().any(|rule| rule.name == name))
        .map(|(family, _)| family)
}

/// The rule with this name.
pub fn find(name: &str) -> Option<&'static Rule> {
    rules().find(|rule| rule.name == name)
}

/// Returns the rule with the most similar name.
pub fn nearest(name: &str) -> Option<&'static str> {
    finding::nearest(name, rules().map(|rule| rule.name), 3)
}

/// Rules as a Markdown table.
pub fn table(rules: impl Iterator<Item = &'static Rule>) -> String {
    let mut table = "| rule | severity | profile | explanation | origin |\n".to_owned();
    table.push_str("| --- | --- | --- | --- | --- |\n");
    for rule in rules {
        let Rule { name, profile, explanation, origin, .. } = rule;
        let (severity, explanation) = (severity(rule), explanation.replace('|', "\\|"));
        // Writing to a string cannot fail.
        let _ = writeln!(table, "| `{name}` | {severity} | {profile} | {explanation} | {origin} |");
    }
    table
}

/// Describes a rule, with an example that triggers it.
pub fn explain(rule: &Rule) -> String {
    let Rule { name, profile, explanation, origin, .. } = rule;
    let severity = severity(rule);
    let mut text =
        format!("{name}\n\n{explanation}\n\nseverity: {severity}\nprofile: {profile}\norigin: {origin}\n");
    if let Some(example) = example(name) {
        text.push_str("\nExample: after these edits of a document, the rule reports the place `at`.\n    ");
        text.push_str(example);
        text.push('\n');
    }
    text
}

/// The severity in the profile of a rule, and in `strict` if it differs.
fn severity(rule: &Rule) -> String {
    let (least, most) = (rule.severity_in(rule.profile, rule.severity), rule.severity);
    if least == most { most.to_string() } else { format!("{least}; {most} in `strict`") }
}

/// Returns the text of the first edits in the fixture of a rule that trigger the rule.
fn example(name: &str) -> Option<&'static str> {
    let mut families = FIXTURES.dirs();
    let file = families.find_map(|family| family.get_file(family.path().join(format!("{name}.yaml"))));
    let text = file.and_then(|file| file.contents_utf8()).or_else(|| lint::project_fixture(name))?;
    let span = document::read(text).ok()?.get("breaks")?.items().first()?.span;
    text.get(span.start..span.end)
}
