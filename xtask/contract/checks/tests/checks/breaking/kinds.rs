//! Pairs of documents with the changes that must and must not be found: for difficult parts of the specification, and
//! for changes that break clients although the letter of the specification allows them.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use document::Node;

use super::documents::changes;

fn text<'n>(node: &'n Node, key: &str) -> &'n str {
    node.get(key).and_then(Node::as_str).unwrap_or_else(|| panic!("no {key}: {}", node.to_json()))
}

fn rules(node: &Node, key: &str) -> BTreeSet<String> {
    let list = node.get(key).map(Node::items).unwrap_or_else(|| panic!("no {key}"));
    list.iter().filter_map(Node::as_str).map(str::to_owned).collect()
}

#[test]
fn each_kind_of_difference_has_the_changes_of_the_table() {
    check(include_str!("kinds.yaml"));
}

#[test]
fn each_difference_as_authors_mean_it_has_the_changes_of_the_table() {
    check(include_str!("authors.yaml"));
}

fn check(table: &str) {
    let table = document::read(table).unwrap();
    let mut wrong = String::new();
    for pair in table.get("pairs").unwrap().items() {
        let (kind, around) =
            (text(pair, "kind"), text(table.get("documents").unwrap(), text(pair, "document")));
        let [base, revision] = ["base", "revision"].map(|side| {
            let around = around.replace("HERE", text(pair, side)).replace("{, ", "{");
            format!("openapi: 3.0.3\ninfo: {{title: t, version: 1.0.0}}\n{around}")
        });
        for text in [&base, &revision] {
            assert!(changes(text, text).is_empty(), "{kind}: {:?}", changes(text, text));
        }
        for (direction, base, revision) in [("changes", &base, &revision), ("back", &revision, &base)] {
            let found = changes(base, revision).into_iter();
            let found: BTreeSet<_> =
                found.map(|change| format!("{} {}", change.severity, change.rule.name)).collect();
            let expected = rules(pair, direction);
            if found != expected {
                let _ =
                    write!(wrong, "\n{kind} ({direction})\n  expected {expected:?}\n  found    {found:?}");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
