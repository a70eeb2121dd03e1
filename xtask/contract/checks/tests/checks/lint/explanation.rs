//! `--explain`: each rule has prose, and the difference of two documents.

use checks::explanation::{describe, explain};
use checks::registry::{find, rules};

/// The limit of lines of an explanation.
const LINES: usize = 60;

#[test]
fn each_rule_has_prose_and_a_difference() {
    // An invalid waiver is not in a document.
    for rule in rules().filter(|rule| !rule.name.starts_with("waiver-")) {
        let (prose, all) = (describe(rule), explain(rule));
        let sentences = prose.lines().nth(2).unwrap();
        let needs = sentences.strip_prefix(rule.explanation).unwrap();
        assert!(needs.is_empty() || needs.starts_with(" The change needs a new "), "{prose}");
        let example = all.strip_prefix(&prose).unwrap();
        let (diff, reported) = example.split_once("\nReported at `#").expect(&all);
        let changed = diff.lines().skip(3).filter_map(|line| line.strip_prefix("    "));
        let changed = changed.filter(|line| line.starts_with(['-', '+']));
        assert!(changed.count() > 0 && reported.trim_end().ends_with(['.', '?', ')']), "{all}");
        assert!(all.lines().count() < LINES, "{all}");
    }
}

#[test]
fn an_explanation_shows_the_changed_lines() {
    expect_test::expect![[r#"
        info-contact

        `info` has a `contact`.

        Severity: warning; error in `strict`. Profile: recommended. Origin: Spectral: info-contact.

            --- before
            +++ after
            @@ -53,4 +53,7 @@
                 A change that could break a client raises the major version of this document, an addition the minor
                 one. What is deprecated says so in its headers, with the day on which it will be removed.
            +  contact:
            +    name: The Library maintainers
            +    url: https://books.example.com/support
               license:
                 name: Apache-2.0

        Reported at `#/info`: The info has no `contact`. Add `contact`: the person or team that answers questions.
    "#]]
    .assert_eq(&explain(find("info-contact").unwrap()));
    expect_test::expect![[r#"
        request-max-decreased

        Requests that the old version accepted are refused. The change needs a new major version.

        Severity: error. Profile: spec. Origin: oasdiff: request-body-max-decreased, request-parameter-max-decreased, request-property-max-decreased.

            --- old version
            +++ new version
            @@ -416,5 +416,5 @@
                   additionalProperties: false
                   properties:
            -        extra: { maximum: 10, type: integer }
            +        extra: { maximum: 9, type: integer }
                     name:
                       type: string

        Reported at `#/components/schemas/NewBook/properties/extra/maximum`: Property `extra` of schema `NewBook`: `maximum` changed from 10 to 9. Requests that the old version accepted are refused. Restore `maximum: 10`, release 2.0.0, or add a waiver to `contract.toml`.
    "#]].assert_eq(&explain(find("request-max-decreased").unwrap()));
}
