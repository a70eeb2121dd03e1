//! One change with an error, a warning and a waiver, in each format.
//!
//! `UPDATE_EXPECT=1 cargo test -p contract --test program formats` rewrites the golden files; check the difference
//! before committing it.

use std::process::Stdio;

use expect_test::{ExpectFile, expect_file};
use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::Event;
use serde_json::Value;

use fixtures::LIBRARY;

use super::{TODAY, Workplace, edited};

const WAIVER: &str = r#"
[[waiver]]
rule = "request-max-length-decreased"
at = "/components/schemas/NewBook/properties/name/maxLength"
reason = "Asked @octocat: no title | name is longer, see #12 [there](https://a.example)."
until = 2027-01-31
"#;

/// Returns the changed document.
fn revision() -> String {
    let mut revision = edited("maximum: 100\n", "maximum: 50\n");
    for (old, new) in [
        ("      operationId: listBooks\n", "      operationId: listBooks\n      deprecated: true\n"),
        ("version: 1.0.0\n", "version: 1.1.0\n"),
    ] {
        assert_eq!(revision.matches(old).count(), 1, "{old}");
        revision = revision.replace(old, new);
    }
    let schema = revision.find("\n    NewBook:\n").unwrap();
    let (before, after) = revision.split_at(schema);
    before.to_owned() + &after.replacen("maxLength: 255\n", "maxLength: 200\n", 1)
}

/// Runs a command in a directory with both versions. Returns its exit status and output.
fn run(revision: &str, configuration: &str, arguments: &[&str]) -> (Option<i32>, String) {
    let files = [("old.yaml", LIBRARY), ("new ü.yaml", revision), ("contract.toml", configuration)];
    let workplace = Workplace::new(&files);
    let output =
        workplace.command(arguments).args(["--today", TODAY]).stderr(Stdio::inherit()).output().unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

fn breaking(format: &str) -> (Option<i32>, String) {
    run(&revision(), WAIVER, &["breaking", "old.yaml", "new ü.yaml", "--format", format])
}

fn check(format: &str, golden: &ExpectFile) {
    let (status, printed) = breaking(format);
    assert_eq!(status, Some(1), "{printed}");
    golden.assert_eq(&printed);
}

#[test]
fn text() {
    check("text", &expect_file!["golden/change.txt"]);
}

#[test]
fn json() {
    check("json", &expect_file!["golden/change.json"]);
}

#[test]
fn github() {
    check("github", &expect_file!["golden/change.github"]);
}

#[test]
fn sarif() {
    check("sarif", &expect_file!["golden/change.sarif"]);
}

#[test]
fn junit() {
    check("junit", &expect_file!["golden/change.junit.xml"]);
}

#[test]
fn gitlab() {
    check("gitlab", &expect_file!["golden/change.gitlab.json"]);
}

/// Control characters and text that is markup cannot end an element, and each finding is counted once.
#[test]
fn junit_is_xml_whatever_a_document_contains() {
    let name = "\"a]]><x y='&amp;'>\\e\\uFFFE\\u2028\\nb\"";
    let document = edited("operationId: listBooks", &format!("operationId: listBooks\n      {name}: 1"));
    let (status, printed) = run(&document, "", &["lint", "new ü.yaml", "old.yaml", "--format", "junit"]);
    assert_eq!(status, Some(1), "{printed}");
    let is_forbidden = |it: char| it != '\n' && (it.is_control() || matches!(it, '\u{fffe}' | '\u{ffff}'));
    assert!(!printed.contains(is_forbidden), "{printed:?}");
    let (mut reader, mut messages) = (Reader::from_str(&printed), Vec::new());
    loop {
        match reader.read_event().unwrap() {
            Event::Eof => break,
            Event::Start(tag) | Event::Empty(tag) => {
                let attributes = tag.attributes().map(Result::unwrap);
                let message = attributes.filter(|it| it.key.as_ref() == b"message");
                messages.extend(
                    message.map(|it| unescape(str::from_utf8(&it.value).unwrap()).unwrap().into_owned()),
                );
            }
            _ => {}
        }
    }
    assert!(messages.len() == 1 && messages[0].contains("a]]><x y='&amp;'>"), "{messages:?}");
    assert_eq!(printed.matches("<failure ").count(), 1, "{printed}");
    assert!(printed.contains("tests=\"1\" failures=\"1\" errors=\"0\" skipped=\"0\""), "{printed}");
    assert!(printed.contains("<testcase name=\"no findings\" classname=\"old.yaml\"/>"), "{printed}");
}

#[test]
fn sarif_has_the_version_of_the_program() {
    let (_, version) = Workplace::new(&[]).run(&["--version"]);
    let (_, printed) = run(LIBRARY, "", &["lint", "old.yaml", "--format", "sarif"]);
    let log: Value = serde_json::from_str(&printed).unwrap();
    let driver = &log["runs"][0]["tool"]["driver"];
    let named = driver["name"].as_str().zip(driver["version"].as_str()).unwrap();
    assert_eq!(version, format!("{} {}\n", named.0, named.1));
    assert_ne!(named.1, "0.0.0");
}

#[test]
fn markdown() {
    check("markdown", &expect_file!["golden/change.md"]);
}

#[test]
fn markdown_is_short_without_a_change() {
    let (status, printed) = run(LIBRARY, "", &["breaking", "old.yaml", "new ü.yaml", "--format", "markdown"]);
    let expected = "**breaking: new ü.yaml against old.yaml: no findings**\n";
    assert_eq!((status, printed.as_str()), (Some(0), expected));
}

#[test]
fn markdown_says_when_a_document_is_not_read() {
    for command in ["breaking", "lint"] {
        let files = if command == "lint" { vec!["new ü.yaml"] } else { vec!["old.yaml", "new ü.yaml"] };
        let arguments = [&[command][..], &files, &["--format", "markdown"]].concat();
        let (status, printed) = run("openapi: [", "", &arguments);
        assert_eq!(status, Some(2), "{printed}");
        assert!(printed.starts_with(&format!("**{command}: Not checked: ")), "{printed}");
        assert!(printed.contains("| **unreadable** |") && printed.contains("`new ü.yaml:1`"), "{printed}");
    }
}

#[test]
fn two_documents_that_are_not_read_are_one_report() {
    for format in ["json", "sarif"] {
        let workplace = Workplace::new(&[("old.yaml", "openapi: ["), ("new.yaml", "openapi: 3.1.0")]);
        let (status, printed) = workplace.run(&["breaking", "old.yaml", "new.yaml", "--format", format]);
        let report: Value = serde_json::from_str(&printed).unwrap();
        let results = if format == "json" { &report } else { &report["runs"][0]["results"] };
        assert_eq!((status, results.as_array().map(Vec::len)), (Some(2), Some(2)), "{printed}");
    }
}

/// Returns the fingerprints of the findings of a document and the lines at which they are.
fn fingerprints(document: &str) -> Vec<(String, u64)> {
    let (_, printed) = run(document, "", &["breaking", "old.yaml", "new ü.yaml", "--format", "sarif"]);
    let log: Value = serde_json::from_str(&printed).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    let one = |result: &Value| {
        let line = &result["locations"][0]["physicalLocation"]["region"]["startLine"];
        (
            result["partialFingerprints"]["primaryLocationLineHash"].as_str().unwrap().to_owned(),
            line.as_u64().unwrap(),
        )
    };
    results.iter().map(one).collect()
}

#[test]
fn a_fingerprint_is_the_same_after_lines_moved_and_different_for_each_finding() {
    let (before, after) = (fingerprints(&revision()), fingerprints(&format!("# moved\n\n{}", revision())));
    assert!(before.len() > 3, "{before:?}");
    let moved: Vec<_> = before.iter().map(|(fingerprint, line)| (fingerprint.clone(), line + 2)).collect();
    assert_eq!(moved, after);
    let mut different: Vec<_> = before.iter().map(|(fingerprint, _)| fingerprint).collect();
    different.sort();
    different.dedup();
    assert_eq!(different.len(), before.len());
}

/// A character outside of the Basic Multilingual Plane is one code point, and two UTF-16 code units.
#[test]
fn columns_of_sarif_count_code_points() {
    let old = "            type: integer\n            minimum: 1\n            maximum: 100\n";
    let revision = edited(
        old,
        "            {description: '\u{1f4da}', type: integer, minimum: 1, maximum: 50, default: 20}\n",
    );
    let revision = revision.replacen("default: 20}\n            default: 20\n", "default: 20}\n", 1);
    let (_, printed) = run(&revision, "", &["breaking", "old.yaml", "new ü.yaml", "--format", "sarif"]);
    let log: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(log["runs"][0]["columnKind"], "unicodeCodePoints");
    let results = log["runs"][0]["results"].as_array().unwrap();
    let result = results.iter().find(|result| result["ruleId"] == "request-max-decreased").unwrap();
    let region = &result["locations"][0]["physicalLocation"]["region"];
    let number = |key: &str| usize::try_from(region[key].as_u64().unwrap()).unwrap();
    let line = revision.lines().nth(number("startLine") - 1).unwrap();
    let (start, end) = (number("startColumn") - 1, number("endColumn") - 1);
    assert_eq!(line.chars().skip(start).take(end - start).collect::<String>(), "50");
}

#[test]
fn an_ignored_finding_is_accepted_in_the_formats_for_programs_and_counted_elsewhere() {
    let start = LIBRARY.find("  contact:\n").unwrap();
    let end = start + LIBRARY[start..].find("  license:\n").unwrap();
    let document = format!("{}{}", &LIBRARY[..start], &LIBRARY[end..]);
    let ignore = "[[ignore]]\nrule = \"info-contact\"\nat = \"/info\"\nreason = \"No address.\"\n";
    let lint = |format| run(&document, ignore, &["lint", "new ü.yaml", "--format", format]);
    let (status, printed) = lint("sarif");
    let log: Value = serde_json::from_str(&printed).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    assert_eq!((status, results.len()), (Some(0), 1), "{printed}");
    let suppression = serde_json::json!([{
        "kind": "external", "status": "accepted", "justification": "No address."
    }]);
    assert_eq!(results[0]["suppressions"], suppression);
    for (format, accepted) in
        [("json", "\"accepted\": \"No address.\""), ("junit", "<skipped message=\"No address.\"/>")]
    {
        let (status, printed) = lint(format);
        assert!(
            status == Some(0) && printed.contains("info-contact") && printed.contains(accepted),
            "{printed}"
        );
    }
    for format in ["text", "github", "markdown"] {
        let (status, printed) = lint(format);
        assert!(status == Some(0) && !printed.contains("info-contact"), "{printed}");
        assert!(printed.contains("no findings (1 accepted)"), "{printed}");
    }
}

/// Annotations and code scanning know the files of a repository by their paths from its root.
#[test]
fn paths_begin_at_the_root_of_the_repository() {
    let workplace = Workplace::new(&[]);
    for directory in [".git", "api"] {
        std::fs::create_dir(workplace.path(directory)).unwrap();
    }
    workplace.write("api/library.yaml", edited("summary: List books", "sumary: List books").as_bytes());
    for (format, place) in [
        ("github", "::error file=api/library.yaml,"),
        ("sarif", "\"uri\": \"api/library.yaml\""),
        ("json", "\"file\": \"api/library.yaml\""),
        ("text", "--> library.yaml:"),
    ] {
        let mut command = workplace.command(&["lint", "library.yaml", "--today", TODAY, "--format", format]);
        let output = command.current_dir(workplace.path("api")).output().unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(printed.contains(place), "{printed}");
    }
}
