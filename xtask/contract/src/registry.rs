//! All rules.

use crate::rule::Rule;

/// Every rule.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    crate::lint::rules().chain(crate::breaking::rules()).chain(crate::drift::rules())
}

/// The rule with this name.
pub fn find(name: &str) -> Option<&'static Rule> {
    rules().find(|rule| rule.name == name)
}

/// The rule whose name is most like this one.
pub fn nearest(name: &str) -> Option<&'static str> {
    let distance = |rule: &'static Rule| (strsim::damerau_levenshtein(name, rule.name), rule.name);
    let (distance, near) = rules().map(distance).min()?;
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
