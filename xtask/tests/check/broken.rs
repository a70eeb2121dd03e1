//! Documents that are no OpenAPI: each is told of with a line, and none stops the check from ending.

use jiff::civil::Date;
use proptest::prelude::*;
use serde_json::Value;
use xtask::check::exit_code;
use xtask::compare::compare;
use xtask::finding::{Finding, Severity};
use xtask::report::{About, Format, render};
use xtask::written::Document;

use crate::document::{TEXT, TODAY, code, edit, findings, sources, told};

fn unreadable(rule: &str, text: &str, line: usize) {
    let findings = findings(text, code());
    let found = findings.iter().find(|finding| finding.rule == rule && finding.span.line == line);
    assert!(
        found.is_some_and(|finding| finding.severity == Severity::Unreadable),
        "{line}: {:?}",
        told(&findings)
    );
    assert_eq!(exit_code(&findings), 2);
}

#[test]
fn wrong_types_are_told_of_at_their_line() {
    for (after, old, new) in [
        ([].as_slice(), "servers:\n", "servers: 5\nx-servers:\n"),
        (&["servers:"], "variables:\n", "variables: none\n    x-variables:\n"),
        (&["servers:"], "url: '{base_url}'", "url: 7"),
        (&[], "security:\n", "security: apiKey\nx-security:\n"),
        (&[], "tags:\n", "tags: animals\nx-tags:\n"),
        (&["tags:"], "- name: animals", "- name: [animals]"),
        (&[], "  /pets:\n", "  /pets: []\n  x-pets:\n"),
        (&["listPets"], "parameters:\n", "parameters: {}\n      x-parameters:\n"),
        (&["listPets"], "- name: limit", "- name: {a: limit}"),
        (&["listPets"], "responses:\n", "responses: [200]\n      x-responses:\n"),
        (&["'200':"], "headers:\n", "headers: x\n          x-headers:\n"),
        (&["'200':"], "content:\n", "content: json\n          x-content:\n"),
        (&["    Pet:"], "properties:\n", "properties: [id]\n      x-properties:\n"),
        (&["    Pets:"], "items:\n", "items: Pet\n      x-items:\n"),
        (&["    Pet:"], "type: object", "allOf: {}"),
        (&["components:"], "  schemas:\n", "  schemas: []\n  x-schemas:\n"),
        (&["components:"], "  headers:\n", "  headers: 1\n  x-headers:\n"),
    ] {
        let edited = edit(after, old, new);
        unreadable("malformed", &edited.text, edited.line);
    }
}

#[test]
fn references_that_lead_nowhere_are_told_of_at_their_line() {
    for target in ["'#/components/headers/Nobody'", "other.yaml#/Pet", "'#components'", "[1]", "'#/%zz'"] {
        let edited = edit(&["'201':"], "'#/components/headers/RequestId'", target);
        unreadable("reference-broken", &edited.text, edited.line);
    }
    let circle =
        edit(&["  headers:\n    RequestId:"], "\n", "\n      $ref: '#/components/headers/RequestId'\n");
    unreadable("reference-circle", &circle.text, circle.line);
    let circle = edit(
        &["  headers:\n    RequestId:"],
        "\n",
        "\n      $ref: '#/components/headers/A'\n    A: {$ref: '#/components/headers/B'}\n    B:\n      $ref: '#/components/headers/A'\n    C:\n",
    );
    unreadable("reference-circle", &circle.text, circle.line);
    let path = edit(&[], "  /pets:\n", "  /pets:\n    $ref: '#/paths/~1pets'\n");
    unreadable("reference-circle", &path.text, path.line);
}

#[test]
fn long_chains_of_references_end() {
    let mut text = TEXT.to_owned();
    let at = text.find("  headers:\n    RequestId:").unwrap() + "  headers:\n".len();
    let chain: String = (0..1000)
        .map(|link| format!("    H{link}: {{$ref: '#/components/headers/H{}'}}\n", link + 1))
        .collect();
    text.insert_str(at, &chain);
    assert!(!findings(&text, code()).is_empty());
}

#[test]
fn a_document_with_next_to_nothing_is_told_of() {
    for text in ["{}", "openapi: 3.0.3", "paths: {}", "a: b", "paths: {/pets: {get: {}}}"] {
        let findings = findings(text, code());
        assert_eq!(exit_code(&findings), 1, "{text}: {:?}", told(&findings));
        assert!(!shown(text, &findings).is_empty());
    }
}

/// What a person sees; a program must not be spared anything either.
fn shown(text: &str, findings: &[Finding]) -> String {
    let mut findings = findings.to_vec();
    let sources = sources();
    sources.locate_all(&mut findings);
    let about = About { path: "x.yaml", text, findings: &findings };
    let [shown, json, _] =
        [Format::Text, Format::Json, Format::Github].map(|format| render(format, &[about], sources.shown()));
    assert_eq!(serde_json::from_str::<Value>(&json).unwrap().as_array().unwrap().len(), findings.len());
    shown
}

/// Whatever can be read is compared and shown.
fn checked(text: &str) {
    if let Ok(document) = Document::parse("x.yaml", text) {
        let findings = compare(&document, code(), TODAY);
        assert_eq!(shown(text, &findings).is_empty(), findings.is_empty());
        compare(&document, code(), Date::MIN);
        compare(&document, code(), Date::MAX);
    }
}

/// A piece of YAML that may stand anywhere.
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
        " {$ref: '#/components/schemas/Pet'}",
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
    fn any_value_in_any_place_is_survived(line in any::<prop::sample::Index>(), value in value()) {
        // The value of some key becomes something else, and what stood below it goes.
        let lines: Vec<&str> = TEXT.lines().collect();
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
    fn any_damage_is_survived(
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..30, "[\\PC\n]{0,6}"), 1..5),
    ) {
        let mut text = TEXT.to_owned();
        for (at, removed, inserted) in edits {
            let start = text.floor_char_boundary(at.index(text.len()));
            let end = text.floor_char_boundary((start + removed).min(text.len()));
            text.replace_range(start..end, &inserted);
        }
        checked(&text);
    }

    #[test]
    fn lines_may_move_anywhere(from in any::<prop::sample::Index>(), to in any::<prop::sample::Index>(), indent in 0_usize..12) {
        let mut lines: Vec<String> = TEXT.lines().map(str::to_owned).collect();
        let line = lines.remove(from.index(lines.len()));
        lines.insert(to.index(lines.len()), format!("{}{}", " ".repeat(indent), line.trim_start()));
        checked(&lines.join("\n"));
    }
}
