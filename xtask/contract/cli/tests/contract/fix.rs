use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Stdio};

use checks::rule::Fix;
use checks::{breaking, lint};
use document::Document;
use fixtures::{LIBRARY, cases};

use super::{TODAY, Workplace, edited};

/// A document with findings that have a safe repair, one that has not, and comments.
fn document() -> String {
    edited("summary: List books", "sumary: List books # a misspelling")
        .replacen("        '200':\n", "        200: # unquoted\n", 1)
        .replacen("          required: true\n", "          required: 'true'\n", 1)
}

fn run(workplace: &Workplace, more: &[&str]) -> (Option<i32>, String) {
    workplace.run(&[&["lint", "library.yaml", "--profile", "spec", "--today", TODAY], more].concat())
}

fn text(workplace: &Workplace) -> String {
    fs::read_to_string(workplace.path("library.yaml")).unwrap()
}

#[test]
fn a_safe_fix_keeps_the_meaning_and_the_rest_is_reported() {
    let workplace = Workplace::new(&[("library.yaml", &document())]);
    let (status, printed) = run(&workplace, &["--fix"]);
    assert_eq!(status, Some(1), "{printed}");
    assert!(printed.ends_with("library.yaml: 2 fixed, 1 error\n"), "{printed}");
    assert!(printed.contains("struct-keyword") && !printed.contains("quoted-status-codes"), "{printed}");
    let expected = document().replacen("200: #", "'200': #", 1).replacen("'true'", "true", 1);
    assert_eq!(text(&workplace).replace("\"200\":", "'200':"), expected);
    // Nothing is left beside the document.
    assert_eq!(fs::read_dir(workplace.path("")).unwrap().count(), 1);
    let (_, printed) = run(&workplace, &["--fix"]);
    assert!(printed.ends_with("library.yaml: 0 fixed, 1 error\n"), "{printed}");
    let (status, printed) = run(&workplace, &["--fix=all"]);
    assert_eq!((status, printed.as_str()), (Some(0), "library.yaml: 1 fixed, no findings\n"));
    assert!(text(&workplace).contains("summary: List books # a misspelling\n"));
}

#[test]
fn a_number_is_quoted_as_it_is_written_and_an_empty_value_stays() {
    for (old, new, fixed) in [
        ("version: 1.0.0", "version: 1.10 # a", "version: '1.10' # a"),
        ("version: 1.0.0", "version: 007", "version: '007'"),
        ("title: Library", "title: 1e3", "title: '1e3'"),
        ("title: Library", "title: True", "title: 'True'"),
        ("path\n          required: true", "path\n          required: # a", "path\n          required: # a"),
    ] {
        let workplace = Workplace::new(&[("library.yaml", &edited(old, new))]);
        run(&workplace, &["--fix"]);
        assert!(text(&workplace) == edited(old, fixed), "{new}");
    }
}

#[test]
fn a_dry_run_writes_nothing_and_prints_what_patch_applies() {
    let workplace = Workplace::new(&[("library.yaml", &document())]);
    let (status, diff) = run(&workplace, &["--fix=all", "--dry-run"]);
    assert_eq!(status, Some(1), "{diff}");
    assert_eq!(text(&workplace), document());
    assert!(diff.starts_with("--- library.yaml\n+++ library.yaml\n@@ -"), "{diff}");
    workplace.write("fix.patch", diff.as_bytes());
    let mut git = Command::new("git");
    git.args(["apply", "-p0", "fix.patch"]).current_dir(workplace.path("")).stdout(Stdio::null());
    assert!(git.status().unwrap().success(), "{diff}");
    let patched = text(&workplace);
    let other = Workplace::new(&[("library.yaml", &document())]);
    run(&other, &["--fix=all"]);
    assert_eq!(patched, text(&other));
    assert_eq!(run(&other, &["--fix=all", "--dry-run"]), (Some(0), String::new()));
}

#[test]
fn a_document_without_findings_is_not_written() {
    let workplace = Workplace::new(&[("library.yaml", LIBRARY)]);
    let modified = || fs::metadata(workplace.path("library.yaml")).unwrap().modified().unwrap();
    let before = modified();
    assert_eq!(run(&workplace, &["--fix=all"]).0, Some(0));
    assert_eq!(before, modified());
}

/// `breaking` decides whether a repair is safe: the fixtures of each rule mean the same before and after `--fix`.
#[test]
fn a_safe_fix_changes_nothing_for_clients() {
    let cases = cases(concat!(env!("CARGO_MANIFEST_DIR"), "/../checks/fixtures/lint"));
    let safe: BTreeSet<_> =
        lint::rules().filter(|rule| rule.fix == Fix::Safe).map(|rule| rule.name).collect();
    let cases: Vec<_> =
        cases.iter().filter(|case| case.breaks && safe.contains(&*case.rule)).enumerate().collect();
    let workplace = Workplace::new(&[]);
    let name = |number: usize| format!("{number}.yaml");
    cases.iter().for_each(|(number, case)| workplace.write(&name(*number), case.text.as_bytes()));
    let names: Vec<_> = cases.iter().map(|(number, _)| name(*number)).collect();
    let arguments = ["lint", "--fix", "--profile", "strict", "--today", TODAY].into_iter();
    workplace.run(&arguments.chain(names.iter().map(String::as_str)).collect::<Vec<_>>());
    let (mut fixed, mut wrong) = (BTreeSet::new(), Vec::new());
    for (number, case) in cases {
        let after = fs::read_to_string(workplace.path(&name(number))).unwrap();
        if after == case.text {
            continue;
        }
        fixed.insert(case.rule.as_str());
        let [before, after] = [&case.text, &after].map(|text| Document::parse("library.yaml", text).unwrap());
        let changes = breaking::compare(&before, &after, TODAY.parse().unwrap());
        // A value of a wrong type has no meaning before, so the comparison says only that it was not understood.
        if case.rule == "struct-type" {
            assert!(changes.iter().any(|change| change.rule.name == "not-understood"), "{}", case.name);
            continue;
        }
        wrong.extend(changes.iter().map(|change| format!("{}: {}", case.name, change.finding().message)));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(fixed, safe);
}
