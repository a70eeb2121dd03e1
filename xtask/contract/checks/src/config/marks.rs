//! Exceptions inside a document: `x-contract-ignore`, a rule, a list of rules, or a mapping of rules to reasons. It accepts
//! what the rules report about its object and below it.

use document::finding::{Finding, Location, Severity, Subject};
use document::{Document, Entry, Node, Value, pointer};

use crate::exception::{EXTENSION, Exception};
use crate::registry;

/// Returns the exceptions in a document, and the findings about those that cannot be used.
pub(crate) fn read(document: &Document) -> (Vec<Exception>, Vec<Finding>) {
    let (mut exceptions, mut problems) = (Vec::new(), Vec::new());
    let mut open = vec![(String::new(), &document.root)];
    // Most documents have none.
    open.retain(|_| document.text.contains(EXTENSION));
    while let Some((at, node)) = open.pop() {
        for (number, item) in node.items().iter().enumerate() {
            open.push((pointer::below(at.clone(), &number.to_string()), item));
        }
        for Entry { key, value, .. } in node.entries() {
            let below = pointer::below(at.clone(), key);
            if key != EXTENSION {
                open.push((below, value));
                continue;
            }
            for (rule, span, reason) in named(value) {
                let rules: Vec<_> = registry::named(rule).into_iter().map(|rule| rule.name).collect();
                if rules.is_empty() {
                    let finding = Finding::new(Severity::Warning, "ignore-unknown", &below, span);
                    let message = format!("`{EXTENSION}`: {}", super::unknown(rule));
                    problems.push(finding.message(&Subject::document(), message));
                    continue;
                }
                let place = Location { file: document.path.clone(), pointer: below.clone(), span };
                let reason = reason.unwrap_or("The document accepts it.").to_owned();
                let (rule, at) = (rule.to_owned(), at.clone());
                exceptions.push(Exception {
                    rule,
                    rules,
                    at,
                    operation: None,
                    path: None,
                    reason,
                    term: None,
                    place,
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
