//! Findings and repairs at aliases and merge keys.

use checks::registry::find;
use checks::rule::Profile;
use document::Document;
use document::edits::edits;
use document::openapi::Model;
use document::repair::Repair;

use super::rules::findings;

const START: &str = "openapi: 3.0.3\ninfo: {title: T, version: 1.0.0}\n";

/// Checks the rules and lines of the findings about validity in a document that continues with these lines, from line 3.
fn check(lines: &[&str], expected: &[(&str, usize)]) {
    let text = format!("{START}{}\n", lines.join("\n"));
    let found = findings(&text);
    let found = found.iter().filter(|finding| find(&finding.rule).unwrap().profile == Profile::Spec);
    let found: Vec<_> = found.map(|finding| (finding.rule.as_str(), finding.span.line)).collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn what_does_not_fit_where_an_alias_is_has_the_line_of_the_alias() {
    let parameter = [
        "x-s: &s {type: string}",
        "paths:",
        "  /a:",
        "    get:",
        "      parameters:",
        "        - *s",
        "      responses: {'200': {description: D}}",
    ];
    check(
        &parameter,
        &[("struct-combination", 8), ("struct-keyword", 8), ("struct-missing", 8), ("struct-missing", 8)],
    );
    check(&["paths: {}", "x-n: &n 5", "tags:", "  - name: *n"], &[("struct-type", 6)]);
    check(&["paths: {}", "x-n: &n [5]", "tags: [{name: a, description: *n}]"], &[("struct-type", 5)]);
    check(
        &[
            "paths: {}",
            "x-a: &a {b: &b {tipe: string}, c: *b}",
            "components: {schemas: {",
            "  A: *a,",
            "  B: *b }}",
        ],
        &[("struct-keyword", 6), ("struct-keyword", 6), ("struct-keyword", 7)],
    );
}

#[test]
fn what_is_wrong_in_a_value_by_itself_has_its_line_once() {
    for lines in [
        [
            "paths: {}",
            "components: {schemas: {",
            "  A: &a {tipe: string},",
            "  B: *a,",
            "  C: {allOf: [*a, *a]} }}",
        ],
        ["paths: {}", "components: {schemas: {", "  A: &a {tipe: string},", "  B: {<<: *a},", "  C: *a }}"],
    ] {
        let merges = lines[3].contains("<<").then_some(("yaml-merge-key", 6));
        let expected: Vec<_> = [("struct-keyword", 5)].into_iter().chain(merges).collect();
        check(&lines, &expected);
    }
}

#[test]
fn a_merged_key_that_does_not_fit_has_the_line_of_the_merge_key() {
    check(
        &[
            "paths: {}",
            "x-t: &t {type: text}",
            "components:",
            "  schemas:",
            "    A:",
            "      <<: *t",
            "      title: A",
        ],
        &[("struct-value", 8), ("yaml-merge-key", 8)],
    );
    check(
        &["paths: {}", "x-t: &t {type: text}", "components:", "  schemas:", "    A: {<<: *t, type: string}"],
        &[("yaml-merge-key", 7)],
    );
}

#[test]
fn a_merge_key_is_named_with_its_object() {
    let text =
        format!("{START}paths: {{}}\nx-t: &t {{type: string}}\ncomponents: {{schemas: {{A: {{<<: *t}}}}}}\n");
    let found = findings(&text);
    let finding = found.iter().find(|finding| finding.rule == "yaml-merge-key").unwrap();
    assert_eq!(
        finding.message,
        "Schema `A` has the merge key `<<` of YAML 1.1. Tools for YAML 1.2 do not merge, and read a key `<<`."
    );
    assert_eq!(&text[finding.span.start..finding.span.end], "<<");
}

#[test]
fn the_value_of_an_alias_is_not_edited_by_its_use() {
    let text = format!(
        "{START}paths: {{}}\nx-a: &a {{type: string, title: A}}\ncomponents:\n  schemas:\n    A: *a\n    \
         B: {{<<: *a, title: B}}\n    C: {{allOf: [*a, {{title: C}}]}}\n"
    );
    let document = Document::parse("a.yaml", &text).unwrap();
    let model = Model::of(&document);
    let edited = |repair: Repair| Some(document::edits::edited(&text, &edits(&model, &repair)?));
    for at in ["A/title", "B/title", "B/type", "C/allOf/0/title"] {
        let at = format!("/components/schemas/{at}");
        assert_eq!(edited(Repair::Remove { at: at.clone() }), None, "{at}");
        assert_eq!(edited(Repair::Rename { at, to: "x-title".to_owned() }), None);
    }
    for at in ["A", "B", "C/allOf/0"] {
        let (at, key, value) = (format!("/components/schemas/{at}"), "format".to_owned(), "byte".into());
        assert_eq!(edited(Repair::Add { at, key, value }), None);
    }
    for at in ["A", "A/title", "B/type", "C/allOf/0"] {
        let at = format!("/components/schemas/{at}");
        assert_eq!(edited(Repair::Write { at, value: "x".into() }), None);
    }
    for (at, old, new) in [
        ("A", "    A: *a\n", ""),
        ("C/allOf/0", "*a, {title: C}", "{title: C}"),
        ("C/allOf/1", "*a, {title: C}", "*a"),
        ("C/allOf/1/title", "{title: C}", "{}"),
    ] {
        let at = format!("/components/schemas/{at}");
        assert_eq!(edited(Repair::Remove { at }), Some(text.replace(old, new)));
    }
    let write = Repair::Write { at: "/components/schemas/B/title".to_owned(), value: "D".into() };
    assert_eq!(edited(write), Some(text.replace("title: B", "title: D")));
    let add = Repair::Add { at: "/components/schemas".to_owned(), key: "<<".to_owned(), value: "x".into() };
    assert!(edited(add).unwrap().contains("'<<': x"), "a merge key is a key of text");
}
