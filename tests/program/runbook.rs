//! `xtask/dist/RUNBOOK.md` and the alerts of `xtask/dist`: what an operator is told of is there.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use regress::Regex;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(root().join(&path))
        .unwrap_or_else(|error| panic!("{}: {error}", path.as_ref().display()))
}

/// Returns what the first group of `pattern` matches in `text`.
fn found(pattern: &str, text: &str) -> BTreeSet<String> {
    let pattern = Regex::with_flags(pattern, "s").unwrap();
    pattern.find_iter(text).filter_map(|found| Some(text[found.group(1)?].to_owned())).collect()
}

/// Returns all Rust files below a directory.
fn sources(directory: PathBuf) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| match path.is_dir() {
            true => sources(path),
            false => Vec::from_iter(path.extension().is_some_and(|it| it == "rs").then_some(path)),
        })
        .collect()
}

/// Returns those of `names` that begin no row of the runbook.
fn missing(names: &BTreeSet<String>) -> Vec<&String> {
    let runbook = read("xtask/dist/RUNBOOK.md");
    names.iter().filter(|name| !runbook.contains(&format!("| `{name}` "))).collect()
}

#[test]
fn each_alert_is_tested_and_in_the_runbook() {
    let alerts = found(r"- alert: (\w+)", &read("xtask/dist/alerts.yml"));
    assert!(alerts.len() > 10, "{alerts:?}");
    assert_eq!(missing(&alerts), [""; 0]);
    let tests = read("xtask/dist/alerts_test.yml");
    // The series under which it is silent, and those under which it fires.
    let fires = found(r"alertname: (\w+)\s+exp_alerts:", &tests);
    assert_eq!(fires, alerts);
}

#[test]
fn promtool_accepts_the_alerts_and_their_tests() {
    if !kit::is_installed("promtool", "prometheus") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let [rules, tests] = ["alerts.yml", "alerts_test.yml"].map(|name| directory.path().join(name));
    fs::copy(root().join("xtask/dist/alerts_test.yml"), &tests).unwrap();
    let accepts = |text: String, arguments: [&str; 2], file: &Path| {
        fs::write(&rules, text).unwrap();
        Command::new("promtool").args(arguments).arg(file).output().unwrap()
    };
    let alerts = read("xtask/dist/alerts.yml");
    for (arguments, file) in [(["check", "rules"], &rules), (["test", "rules"], &tests)] {
        let output = accepts(alerts.clone(), arguments, file);
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&[output.stdout, output.stderr].concat())
        );
    }
    let other = alerts.replace("> 200", "> 300");
    assert!(!accepts(other, ["test", "rules"], &tests).status.success());
}

#[test]
fn the_alerts_use_metrics_that_exist() {
    let used = found(r"\b((?:[a-z]+_)+[a-z]+)\{job=", &read("xtask/dist/alerts.yml"));
    assert!(used.len() > 10, "{used:?}");
    let page = read("xtask/dist/README.md");
    let documented = |name: &String| {
        let histogram = name.trim_end_matches("_bucket").trim_end_matches("_count");
        page.contains(&format!("`{histogram}`"))
    };
    let unknown: Vec<_> = used.iter().filter(|name| !documented(name)).collect();
    assert_eq!(unknown, [""; 0]);
}

fn snake_case(name: &str) -> String {
    let words = name.chars().map(|letter| match letter.is_uppercase() {
        true => format!("_{}", letter.to_lowercase()),
        false => letter.to_string(),
    });
    words.collect::<String>().trim_start_matches('_').to_owned()
}

#[test]
fn each_error_type_and_each_warning_is_in_the_runbook() {
    let errors = read("src/storage/types.rs");
    let (_, errors) = errors.split_once("enum ErrorType").expect("the types of error");
    let variants = found(r#"#\[error\("[^"]+"\)\]\s+(\w+)"#, errors);
    let types: BTreeSet<String> = variants.iter().map(|variant| snake_case(variant)).collect();
    assert_eq!(types.len(), 6, "{types:?}");
    assert_eq!(missing(&types), [""; 0]);
    let code: String = sources(root().join("src")).iter().map(read).collect();
    let records = found(r#"\b(?:warn|error|crit)!\([^"]*"([^"`{;]+)"#, &code);
    let records = records.into_iter().map(|it| it.trim_end_matches([';', ' ']).to_owned());
    // The record of each response.
    let records: BTreeSet<String> = records.filter(|record| record != "response").collect();
    assert!(records.len() > 10, "{records:?}");
    assert_eq!(missing(&records), [""; 0]);
}
