//! All rules.

use crate::rule::Rule;

/// The rule with this name.
pub fn find(name: &str) -> Option<&'static Rule> {
    crate::lint::rules().find(|rule| rule.name == name)
}

/// The rule whose name is most like this one.
pub fn nearest(name: &str) -> Option<&'static str> {
    let distance = |rule: &'static Rule| (strsim::damerau_levenshtein(name, rule.name), rule.name);
    let (distance, near) = crate::lint::rules().map(distance).min()?;
    (distance <= 3).then_some(near)
}

/// TODO
pub fn table() -> String {
    String::new()
}
/// TODO
pub fn explain(_name: &str) -> Option<String> {
    None
}
