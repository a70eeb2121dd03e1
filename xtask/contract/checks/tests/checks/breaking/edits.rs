//! The table of single edits, each tried in both directions.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use checks::breaking::{change_rules, compare};
use serde::Deserialize;

use super::documents::{LIBRARY, SHAPES, TODAY, changes, document, edit, edit_from};

const RENDERED: &str = include_str!("compared.md");

#[derive(Deserialize)]
struct Table {
    edit: Vec<Edit>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Edit {
    what: String,
    #[serde(default)]
    document: String,
    #[serde(default)]
    after: String,
    find: String,
    replace: String,
    #[serde(default)]
    also: Vec<(String, String)>,
    ours: Vec<String>,
    back: Vec<String>,
    theirs: String,
    theirs_back: String,
    why: Option<String>,
}

fn table() -> Vec<Edit> {
    toml::from_str::<Table>(include_str!("edits.toml")).unwrap().edit
}

impl Edit {
    fn original(&self) -> &'static str {
        if self.document == "shapes" { SHAPES } else { LIBRARY }
    }

    fn edited(&self) -> String {
        let (mut text, mut at) = edit(self.original(), &self.after, &self.find, &self.replace);
        for (find, replace) in &self.also {
            (text, at) = edit_from(&text, at, find, replace);
        }
        text
    }
}

fn reported(base: &str, revision: &str) -> BTreeSet<String> {
    changes(base, revision)
        .into_iter()
        .map(|change| format!("{} {}", change.rule.severity, change.rule.name))
        .collect()
}

#[test]
fn every_edit_has_the_changes_of_the_table() {
    let mut wrong = String::new();
    for edit in table() {
        let edited = edit.edited();
        for (direction, expected, said) in [
            ("", &edit.ours, reported(edit.original(), &edited)),
            (" (undone)", &edit.back, reported(&edited, edit.original())),
        ] {
            let expected: BTreeSet<_> = expected.iter().cloned().collect();
            if said != expected {
                let _ =
                    writeln!(wrong, "{}{direction}\n  expected {expected:?}\n  said     {said:?}", edit.what);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn every_change_of_the_table_has_a_line_and_a_sentence() {
    for edit in table() {
        let edited = edit.edited();
        for (base, revision) in [(edit.original(), edited.as_str()), (&edited, edit.original())] {
            let [old, new] =
                [("base.yaml", base), ("new.yaml", revision)].map(|(path, text)| document(path, text));
            for change in compare(&old, &new, TODAY) {
                assert_eq!(change.place.file, "new.yaml");
                assert!(revision.get(change.place.span.start..change.place.span.end).is_some());
                assert!(change.place.span.line >= 1);
                assert!(new.root.pointer(&change.place.pointer).is_some(), "{}", change.place.pointer);
                if let Some(place) = &change.base {
                    assert!(old.root.pointer(&place.pointer).is_some(), "{}", place.pointer);
                    assert_eq!(place.file, "base.yaml");
                }
                assert!(!change.sentence().contains("``"), "{}", change.sentence());
                assert!(!change.rule.explanation.is_empty());
            }
        }
    }
}

/// The severity of a rule in oasdiff (`checker/rules.go`, commit 4553c69 of August 2026).
fn oasdiff(name: &str) -> Option<&'static str> {
    let mut rules = include_str!("oasdiff.tsv").lines().filter_map(|line| line.split_once('\t'));
    rules.find(|(rule, _)| *rule == name).map(|(_, level)| level)
}

/// Whether a rule of this crate replaces a rule of oasdiff, with the same severity.
fn replaces(ours: &str, theirs: &str) -> bool {
    let ((severity, name), (level, rule)) =
        (ours.split_once(' ').unwrap(), theirs.split_once(' ').unwrap_or_default());
    let origin = change_rules().find(|known| known.name == name).unwrap().origin;
    severity == level
        && (name == rule || origin.trim_start_matches("oasdiff: ").split(", ").any(|known| known == rule))
}

#[test]
fn the_origin_of_each_rule_exists() {
    for rule in change_rules() {
        let names = match rule.origin {
            "oasdiff" => vec![rule.name],
            "this project" => Vec::new(),
            list => list.strip_prefix("oasdiff: ").unwrap().split(", ").collect(),
        };
        assert!(names.iter().all(|name| oasdiff(name).is_some()), "{}: {}", rule.name, rule.origin);
        assert!(rule.origin != "this project" || oasdiff(rule.name).is_none(), "{}", rule.name);
    }
}

#[test]
fn there_are_enough_edits_and_each_difference_from_oasdiff_has_a_reason() {
    let table = table();
    assert!(table.len() >= 70, "only {}", table.len());
    for edit in &table {
        for (ours, theirs) in [(&edit.ours, &edit.theirs), (&edit.back, &edit.theirs_back)] {
            if theirs != "none" {
                let (level, rule) = theirs.split_once(' ').unwrap();
                assert_eq!(oasdiff(rule), Some(level), "{}: {theirs}", edit.what);
            }
            let agrees =
                ours.iter().any(|ours| replaces(ours, theirs)) || ours.is_empty() && theirs == "none";
            assert!(agrees || edit.why.is_some(), "{}: a reason is missing", edit.what);
        }
    }
}

/// Compares `compared.md` with the table. `UPDATE=1` writes the file.
#[test]
fn the_markdown_table_is_up_to_date() {
    let rendered = render(&table());
    if std::env::var_os("UPDATE").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/checks/breaking/compared.md");
        std::fs::write(path, rendered).unwrap();
    } else {
        assert_eq!(
            rendered, RENDERED,
            "write `compared.md` again: UPDATE=1 cargo test -p checks --test breaking"
        );
    }
}

fn render(table: &[Edit]) -> String {
    let mut text = "# Single edits, and the changes that are reported\n\n\
        The tests check the columns `ours`. The columns `oasdiff` were derived from its source code\n\
        (`checker/*.go`, commit 4553c69 of August 2026) without running it. Each edit is compared in both\n\
        directions.\n\n\
        | edit | ours | oasdiff | undone: ours | undone: oasdiff | why we differ |\n\
        | --- | --- | --- | --- | --- | --- |\n"
        .to_owned();
    let rules = |rules: &[String]| match rules {
        [] => "nothing".to_owned(),
        rules => rules.iter().map(|rule| rule_in_markdown(rule)).collect::<Vec<_>>().join("<br>"),
    };
    let theirs = |rule: &str| if rule == "none" { "nothing".to_owned() } else { rule_in_markdown(rule) };
    for edit in table {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} |",
            edit.what,
            rules(&edit.ours),
            theirs(&edit.theirs),
            rules(&edit.back),
            theirs(&edit.theirs_back),
            edit.why.as_deref().unwrap_or_default()
        );
    }
    text
}

fn rule_in_markdown(rule: &str) -> String {
    let (level, rule) = rule.split_once(' ').unwrap();
    format!("{level} `{rule}`")
}
