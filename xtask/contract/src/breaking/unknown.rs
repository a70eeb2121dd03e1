//! Keywords that nothing else compares: extensions, and those that OpenAPI 3.0 does not know. They are
//! compared as data, so that none is passed over in silence.

use std::collections::HashMap;

use crate::document::Node;

use super::comparer::Comparer;
use super::rules;
use super::values::{same, shown};

/// Compares the keywords of an object that are not `known`.
pub(super) fn compare<'a>(cx: &mut Comparer<'a>, sides: (&'a Node, &'a Node), known: &[&str]) {
    compare_unless(cx, sides, |key| known.contains(&key));
}

/// Compares the keywords of an object that are not known.
pub(super) fn compare_unless<'a>(
    cx: &mut Comparer<'a>,
    (base, revision): (&'a Node, &'a Node),
    is_known: impl Fn(&str) -> bool,
) {
    let others = |node: &'a Node| -> Vec<(&'a str, &'a Node)> {
        let entries = node.entries().iter().filter(|entry| !is_known(&entry.key));
        entries.map(|entry| (entry.key.as_str(), &entry.value)).collect()
    };
    compare_entries(cx, &others(base), &others(revision), revision);
}

/// Compares these keywords; of those that are there twice the first counts.
pub(super) fn compare_entries<'a>(
    cx: &mut Comparer<'a>,
    base: &[(&'a str, &'a Node)],
    revision: &[(&'a str, &'a Node)],
    owner: &'a Node,
) {
    if base.is_empty() && revision.is_empty() {
        return;
    }
    let first = |entries: &[(&'a str, &'a Node)]| -> HashMap<&'a str, &'a Node> {
        entries.iter().rev().copied().collect()
    };
    let (old, new) = (first(base), first(revision));
    for (key, before) in base {
        let rule = rule(key);
        match new.get(key) {
            None => cx.report(rule, Some(before), Some(owner), format!("`{key}` was removed")),
            Some(after) if !same(before, after) && std::ptr::eq(*before, old[key]) => {
                let what = format!("`{key}` went from {} to {}", shown(before), shown(after));
                cx.report(rule, Some(before), Some(after), what);
            }
            Some(_) => {}
        }
    }
    for (key, after) in revision {
        if !old.contains_key(key) {
            cx.report(rule(key), None, Some(after), format!("`{key}` was added"));
        }
    }
}

fn rule(key: &str) -> &'static rules::Rule {
    if key.starts_with("x-") { &rules::EXTENSION_CHANGED } else { &rules::KEYWORD_CHANGED }
}
