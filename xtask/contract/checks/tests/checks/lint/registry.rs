//! The registry: each rule has examples, each example has a rule, and each name is a literal in the source.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use checks::registry::{families, find, rules, table};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn names_in(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect()
}

#[test]
fn each_rule_has_a_fixture_and_each_fixture_a_rule() {
    let fixtures = Path::new(ROOT).join("fixtures");
    let families = families();
    let folders: BTreeSet<_> = families.iter().map(|(family, _)| (*family).to_owned()).collect();
    assert_eq!(folders, names_in(&fixtures), "a folder of fixtures for each family");
    for (family, rules) in families {
        // An invalid waiver is not an edit of a document; `../breaking/gate.rs` has the cases.
        let names = rules.iter().map(|rule| rule.name.to_owned());
        let names: BTreeSet<_> = names.filter(|name| !name.starts_with("waiver-")).collect();
        assert_eq!(names, names_in(&fixtures.join(family)), "{family}");
        for name in names {
            let text = fs::read_to_string(fixtures.join(family).join(format!("{name}.yaml"))).unwrap();
            let fixture = document::read(&text).unwrap_or_else(|problem| panic!("{name}: {problem}"));
            for list in ["breaks", "keeps"] {
                assert!(
                    fixture.get(list).is_some_and(|list| !list.items().is_empty()),
                    "{name}: no `{list}`"
                );
            }
        }
    }
}

#[test]
fn each_name_is_one_literal_in_the_source() {
    let mut source = String::new();
    let mut folders = vec![Path::new(ROOT).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()) {
            match entry.file_type().unwrap().is_dir() {
                true => folders.push(entry.path()),
                false => source.push_str(&fs::read_to_string(entry.path()).unwrap()),
            }
        }
    }
    for rule in rules() {
        assert_eq!(source.matches(&format!("\"{}\"", rule.name)).count(), 1, "{}", rule.name);
        assert!(std::ptr::eq(find(rule.name).unwrap(), rule), "{} is the name of two rules", rule.name);
        assert!(rule.explanation.ends_with('.') && !rule.origin.is_empty(), "{}", rule.name);
    }
    assert!(find("no-such-rule").is_none());
}

#[test]
fn the_table_has_a_row_for_each_rule() {
    let table = table();
    let cells = |row: &str| row.matches(" | ").count();
    assert_eq!(table.lines().count(), rules().count() + 2);
    assert!(table.lines().all(|row| cells(row) == 4), "{table}");
    let row = "| `info-contact` | warning; error in `strict` | recommended | `info` has a `contact`. | Spectral: info-contact |";
    assert!(table.lines().any(|line| line == row), "{table}");
}
