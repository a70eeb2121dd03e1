//! Documents that are not OpenAPI: each is reported, and the comparison does not panic.

use checks::config::Config;
use checks::drift::compare;
use checks::finding::{File, Finding, Severity};
use checks::report::{Format, Report, Sources, render};
use document::Document;
use fixtures::{Edited, LIBRARY, edit};
use proptest::prelude::*;
use serde_json::Value;

use super::document::{DOCUMENT_OF_CODE, exit_code, findings};
use crate::judge::summary;

/// Checks that one finding, on the line of the edit, is `not-understood`.
fn not_understood(edited: &Edited) {
    let findings = findings(&edited.text);
    let unclear: Vec<_> = findings.iter().filter(|it| it.severity == Severity::Unreadable).collect();
    assert_eq!(unclear.len(), 1, "{}", summary(&findings));
    assert_eq!(
        (unclear[0].rule.as_str(), unclear[0].span.line),
        ("not-understood", edited.line),
        "{}",
        summary(&findings)
    );
    assert_eq!(exit_code(&findings), 2);
}

#[test]
fn wrong_types_are_reported_at_their_line_and_only_there() {
    for (after, old, new) in [
        ([].as_slice(), "servers:\n", "servers: 5\nx-servers:\n"),
        (&["servers:"], "variables:\n", "variables: none\n    x-variables:\n"),
        (&["servers:"], "url: '{base_url}'", "url: 7"),
        (&[], "security:\n", "security: apiKey\nx-security:\n"),
        (&[], "  /books:\n", "  /books: []\n  x-books:\n"),
        (&["listBooks"], "parameters:\n", "parameters: {}\n      x-parameters:\n"),
        (&["listBooks"], "- name: limit", "- name: {a: limit}"),
        (&["listBooks"], "responses:\n", "responses: [200]\n      x-responses:\n"),
        (&["'200':"], "headers:\n", "headers: x\n          x-headers:\n"),
        (&["'200':"], "content:\n", "content: json\n          x-content:\n"),
        (&["    Book:"], "properties:\n", "properties: [id]\n      x-properties:\n"),
        (&["    Books:"], "items:\n", "items: Book\n      x-items:\n"),
        (&["    Book:"], "type: object", "type: object\n      allOf: {}"),
        (&["components:"], "  schemas:\n", "  schemas: []\n  x-schemas:\n"),
        (&["components:"], "  headers:\n", "  headers: 1\n  x-headers:\n"),
    ] {
        let edited = edit(after, old, new);
        not_understood(&edited);
        assert_eq!(findings(&edited.text).len(), 1, "{}", summary(&findings(&edited.text)));
    }
}

#[test]
fn no_configuration_lowers_or_ignores_what_was_not_compared() {
    let edited = edit(&["listBooks"], "parameters:\n", "parameters: {}\n      x-parameters:\n");
    let document = Document::parse("document.yaml", &edited.text).unwrap();
    let ignore = "[[ignore]]\nrule = \"not-understood\"\nat = \"\"\nreason = \"r\"";
    for configuration in
        ["[rules]\n\"not-understood\" = \"info\"", "[rules]\n\"not-understood\" = \"off\"", ignore]
    {
        let config = Config::parse("contract.toml".to_owned(), configuration.to_owned()).unwrap();
        let applied = config.apply(&document, findings(&edited.text), "drift");
        assert_eq!(exit_code(&applied.findings), 2, "{configuration}");
    }
}

#[test]
fn references_without_a_target_are_reported_at_their_line() {
    for target in ["'#/components/headers/Nobody'", "other.yaml#/Book", "'#components'", "[1]", "'#/%zz'"] {
        not_understood(&edit(&["'201':"], "'#/components/headers/RequestId'", target));
    }
    let path = edit(&[], "  /books:\n", "  /books:\n    $ref: '#/paths/~1books'\n");
    not_understood(&path);
    assert_eq!(findings(&path.text).len(), 1);
    let circle = edit(
        &["components:", "  headers:"],
        "\n",
        "\n    A: {$ref: '#/components/headers/B'}\n    B: {$ref: '#/components/headers/A'}\n",
    );
    not_understood(&circle);
}

#[test]
fn long_chains_of_references_terminate() {
    let mut text = LIBRARY.to_owned();
    let at = text.find("  headers:\n    RequestId:").unwrap() + "  headers:\n".len();
    let chain: String = (0..1000)
        .map(|link| format!("    H{link}: {{$ref: '#/components/headers/H{}'}}\n", link + 1))
        .collect();
    text.insert_str(at, &chain);
    assert_eq!(findings(&text).len(), 1);
}

#[test]
fn a_nearly_empty_document_lacks_everything_in_the_code() {
    for text in ["openapi: 3.0.3", "openapi: 3.0.3\npaths: {/books: {get: {}}}"] {
        let findings = findings(text);
        assert_eq!(exit_code(&findings), 1, "{text}: {}", summary(&findings));
        let schemas = findings.iter().filter(|finding| finding.rule == "schema-not-in-document");
        assert_eq!(schemas.count(), 5, "{text}: {}", summary(&findings));
    }
}

/// Compares a text if it can be read, and formats the findings in each format.
fn checked(text: &str) {
    let Ok(document) = Document::parse("x.yaml", text) else { return };
    let findings: Vec<Finding> = compare(&document, &DOCUMENT_OF_CODE);
    let number = findings.len();
    let file = File { path: "x.yaml".to_owned(), text: text.to_owned(), findings };
    let report = Report { command: "check", files: &[file], sources: &Sources::default(), summary: "" };
    let [shown, json, sarif, _, _] =
        [Format::Text, Format::Json, Format::Sarif, Format::Github, Format::Markdown]
            .map(|format| render(format, &report));
    assert_eq!(shown.is_empty(), number == 0);
    let sarif: Value = serde_json::from_str(&sarif).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&json).unwrap().as_array().unwrap().len(), number);
    assert_eq!(sarif["runs"][0]["results"].as_array().unwrap().len(), number);
}

/// A value in YAML that can be at any place.
fn value() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "",
        " null",
        " 5",
        " true",
        " text",
        " []",
        " {}",
        " [[]]",
        " {a: {}}",
        " [{}]",
        " {$ref: '#/paths'}",
        " {$ref: '#/components/schemas/Book'}",
        " {$ref: '#'}",
        " {$ref: 3}",
        " ''",
        " '~'",
        " 1e300",
        " [null, 1]",
    ])
    .prop_map(str::to_owned)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_value_in_any_place_does_not_panic(line in any::<prop::sample::Index>(), value in value()) {
        // Replaces the value of some key, with everything below it.
        let lines: Vec<&str> = LIBRARY.lines().collect();
        let at = line.index(lines.len());
        if let Some((key, _)) = lines[at].split_once(':') {
            let indent = |line: &str| line.len() - line.trim_start().len();
            let below = lines[at + 1..].iter().take_while(|line| line.trim().is_empty() || indent(line) > indent(key));
            let below = below.count();
            let text = [&lines[..at], &[format!("{key}:{value}").as_str()], &lines[at + 1 + below..]].concat().join("\n");
            checked(&text);
        }
    }

    #[test]
    fn any_damage_does_not_panic(
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..30, "[\\PC\n]{0,6}"), 1..5),
    ) {
        let mut text = LIBRARY.to_owned();
        for (at, removed, inserted) in edits {
            let start = text.floor_char_boundary(at.index(text.len()));
            let end = text.floor_char_boundary((start + removed).min(text.len()));
            text.replace_range(start..end, &inserted);
        }
        checked(&text);
    }

    #[test]
    fn moved_lines_do_not_panic(from in any::<prop::sample::Index>(), to in any::<prop::sample::Index>(), indent in 0_usize..12) {
        let mut lines: Vec<String> = LIBRARY.lines().map(str::to_owned).collect();
        let line = lines.remove(from.index(lines.len()));
        lines.insert(to.index(lines.len()), format!("{}{}", " ".repeat(indent), line.trim_start()));
        checked(&lines.join("\n"));
    }
}
