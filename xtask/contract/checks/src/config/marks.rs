//! Exceptions inside a document: `x-contract-ignore` is a rule, a list of rules, or a mapping of rules to reasons. It
//! accepts what the rules report about its object and below it.

use std::collections::HashMap;
use std::sync::Arc;

use crate::finding::{Finding, Location, Severity};
use document::place::Subject;
use document::{Document, Entry, Node, Value, pointer};

use crate::exception::{EXTENSION, Exception};
use crate::registry;

/// The limit of names without a rule that are reported, since a similar name is searched for each.
const MAX_UNKNOWN: usize = 100;

/// Returns the exceptions in a document, and the findings about those that cannot be used.
pub(crate) fn read(document: &Document) -> (Vec<Exception>, Vec<Finding>) {
    let (mut exceptions, mut problems) = (Vec::new(), Vec::new());
    let mut known: HashMap<&str, Arc<[&'static str]>> = HashMap::new();
    // Most documents have none.
    let mut open = Vec::from_iter(document.text.contains(EXTENSION).then(|| (String::new(), &document.root)));
    while let Some((at, node)) = open.pop() {
        for (number, item) in node.items().iter().enumerate() {
            open.push((pointer::below(at.clone(), &number.to_string()), item));
        }
        for Entry { key, value, .. } in node.entries() {
            let pointer = pointer::below(at.clone(), key);
            if key != EXTENSION {
                open.push((pointer, value));
                continue;
            }
            for (rule, span, reason) in named(value) {
                let rules = known
                    .entry(rule)
                    .or_insert_with(|| registry::named(rule).into_iter().map(|rule| rule.name).collect());
                if rules.is_empty() {
                    if problems.len() < MAX_UNKNOWN {
                        let message = format!("`{EXTENSION}`: {}", registry::unknown(rule));
                        let finding = Finding::new(Severity::Warning, "ignore-unknown", &pointer, span);
                        problems.push(finding.message(&Subject::document(), message));
                    }
                    continue;
                }
                exceptions.push(Exception {
                    rule: rule.to_owned(),
                    rules: Arc::clone(rules),
                    at: at.clone(),
                    reason: reason.unwrap_or("The document accepts it.").to_owned(),
                    place: Location { file: document.path.clone(), pointer: pointer.clone(), span },
                    ..Exception::default()
                });
            }
        }
    }
    (exceptions, problems)
}

/// Returns the names of the rules, with their places and reasons.
fn named(value: &Node) -> Vec<(&str, document::Span, Option<&str>)> {
    let name = |node| Some((Node::as_str(node)?, node.span, None));
    match &value.value {
        Value::Sequence(items) => items.iter().filter_map(name).collect(),
        Value::Mapping(rules) => {
            rules.entries().iter().map(|rule| (&*rule.key, rule.key_span, rule.value.as_str())).collect()
        }
        _ => name(value).into_iter().collect(),
    }
}
