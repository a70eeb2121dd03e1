//! All rules of the library and of the project, by name: the text of `--rules`.

use std::fmt::Write as _;

use document::names;

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

/// The family of the rule with this name.
pub fn family(name: &str) -> Option<&'static str> {
    let has = |rules: &[&Rule]| rules.iter().any(|rule| rule.name == name);
    families().into_iter().find_map(|(family, rules)| has(&rules).then_some(family))
}

/// The rule with this name.
pub fn find(name: &str) -> Option<&'static Rule> {
    rules().find(|rule| rule.name == name)
}

/// Returns the rule that another program has under this name, or else the rule with the most similar name.
pub fn nearest(name: &str) -> Option<&'static str> {
    let is_origin = |rule: &&Rule| rule.origin.split([',', ';', ':']).any(|part| part.trim() == name);
    let same = rules().find(is_origin).map(|rule| rule.name);
    same.or_else(|| names::nearest(name, rules().map(|rule| rule.name)))
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

/// The severity in the profile of a rule, and in `strict` if it differs.
pub fn severity(rule: &Rule) -> String {
    let (least, most) = (rule.severity_in(rule.profile, rule.severity), rule.severity);
    if least == most { most.to_string() } else { format!("{least}; {most} in `strict`") }
}
