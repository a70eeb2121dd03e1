//! All rules of the library and of the project, by name: the text of `--rules`.

use std::fmt::Write as _;

use document::names::nearest;
use document::shortened;

use crate::rule::Rule;
use crate::{breaking, drift, lint};

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

/// Returns the rule with this name, or else the rules that oasdiff, Spectral or Redocly have under this name. `*` names
/// all rules.
pub fn named(name: &str) -> Vec<&'static Rule> {
    match find(name) {
        Some(rule) => vec![rule],
        None => rules().filter(|rule| name == "*" || others(rule).any(|other| other == name)).collect(),
    }
}

/// The names of a rule in other programs, from its origin: `Spectral: path-params; Redocly: path-parameters-defined`.
fn others(rule: &Rule) -> impl Iterator<Item = &'static str> {
    let programs = rule.origin.split("; ").filter_map(|part| part.split_once(": "));
    programs.flat_map(|(_, names)| names.split(", "))
}

/// Says that there is no rule with this name, and which one may be meant, here or in another program.
pub fn unknown(name: &str) -> String {
    let near = nearest(name, rules().flat_map(|rule| std::iter::once(rule.name).chain(others(rule))));
    let meant = near.map(|near| format!(" Did you mean `{near}`?")).unwrap_or_default();
    format!("there is no rule `{}`.{meant}", shortened(name))
}

/// All rules as a Markdown table.
pub fn table() -> String {
    let mut table = "| rule | severity | profile | explanation | origin |\n".to_owned();
    table.push_str("| --- | --- | --- | --- | --- |\n");
    for rule in rules() {
        let Rule { name, profile, explanation, origin, .. } = rule;
        let (severity, explanation) = (severity(rule), explanation.replace('|', "\\|"));
        // Writing to a string cannot fail.
        let _ = writeln!(table, "| `{name}` | {severity} | {profile} | {explanation} | {origin} |");
    }
    table
}

/// The severity in the profile of a rule, and in `strict` if it differs.
pub fn severity(rule: &Rule) -> String {
    let (least, most) = (rule.severity_in(rule.profile, rule.severity), rule.severity);
    if least == most { most.to_string() } else { format!("{least}; {most} in `strict`") }
}
