//! Texts that the parsers libyaml, PyYAML and js-yaml read, with the tree that they make. YAML 1.2 does not allow all of
//! them.

use std::fmt::Write as _;

use document::read;

use crate::{check_places, refused};

/// Checks the tree of each text, given as JSON, and the places of its values.
fn check(cases: &[(&str, &str)]) {
    for (text, tree) in cases {
        let root = read(text).unwrap_or_else(|problem| panic!("{text:?}: {problem}"));
        let tree: serde_json::Value = serde_json::from_str(tree).unwrap();
        assert_eq!(root.to_json(), tree, "{text:?}");
        check_places(text, &root);
    }
}

#[test]
fn brackets_and_their_content_can_be_at_any_column() {
    check(&[
        ("a: [\n  b\n]\nc: {\n  d: e\n}\n", r#"{"a": ["b"], "c": {"d": "e"}}"#),
        ("a:\n  b: [\n    c\n  ]\n  d: {\n    e: f\n  }\n", r#"{"a": {"b": ["c"], "d": {"e": "f"}}}"#),
        ("a:\n  b: [\nc,\n  d\n]\n  e: f\n", r#"{"a": {"b": ["c", "d"], "e": "f"}}"#),
        ("a:\n    b: {\n  c: d,\ne: [\n]}\nf: g\n", r#"{"a": {"b": {"c": "d", "e": []}}, "f": "g"}"#),
        ("- [\n  a\n]\n- {\n}\n-\n  [\n b ]\n", r#"[["a"], {}, ["b"]]"#),
        ("a:\n- [ # ]\n  b, # }\n'c ]',\n  \"d\n]\"\n]\n", r#"{"a": [["b", "c ]", "d ]"]]}"#),
        ("a:\n  b: [{\n c: d\n}, {\n}\n]\n", r#"{"a": {"b": [{"c": "d"}, {}]}}"#),
        ("a:\n  b: |\n    [\n  c: [\n  ]\n", r#"{"a": {"b": "[\n", "c": []}}"#),
        ("a:\n  b: &x [\n  ]\n  c: *x\n", r#"{"a": {"b": [], "c": []}}"#),
        ("a:\r\n  b: [\r\n    c\r\n  ]\r\n", r#"{"a": {"b": ["c"]}}"#),
        ("a:\n  b: [c:\n d, {e: f}\n,\n  ]\n", r#"{"a": {"b": [{"c": "d"}, {"e": "f"}]}}"#),
    ]);
}

#[test]
fn quoted_text_can_continue_at_any_column() {
    check(&[
        ("a:\n  b: \"c\nd\"\n  e: 'f\n\n g'\n", r#"{"a": {"b": "c d", "e": "f\ng"}}"#),
        ("- \"a\nb\"\n- ['c\n d']\n", r#"["a b", ["c d"]]"#),
        ("a: \"b\\\nc\"\n", r#"{"a": "bc"}"#),
    ]);
}

#[test]
fn merge_keys_add_the_entries_of_other_mappings() {
    check(&[
        ("a: &x {b: 1, c: 2}\nd: {<<: *x, c: 3}\n", r#"{"a": {"b": 1, "c": 2}, "d": {"b": 1, "c": 3}}"#),
        ("a: &x {b: 1}\nc:\n  b: 2\n  <<: *x\n", r#"{"a": {"b": 1}, "c": {"b": 2}}"#),
        (
            "- &x {a: 1, b: 1}\n- &y {b: 2, c: 2}\n- <<: [*x, *y]\n  c: 3\n",
            r#"[{"a": 1, "b": 1}, {"b": 2, "c": 2}, {"a": 1, "b": 1, "c": 3}]"#,
        ),
        (
            "- &x {a: 1}\n- &y\n  <<: *x\n  b: 2\n- <<: *y\n",
            r#"[{"a": 1}, {"a": 1, "b": 2}, {"a": 1, "b": 2}]"#,
        ),
        (
            "a: &x [{b: 1}, {b: 2, c: 2}]\nd: {<<: *x}\n",
            r#"{"a": [{"b": 1}, {"b": 2, "c": 2}], "d": {"b": 1, "c": 2}}"#,
        ),
        ("a: {<<: {b: 1, <<: {c: 2}}, ? <<x\n }\n", r#"{"a": {"b": 1, "c": 2, "<<x": null}}"#),
        ("a: {? <<\n : {b: 1}}\nc: {<<: []}\n", r#"{"a": {"b": 1}, "c": {}}"#),
        (
            "a: &x {b: &y {c: 1}}\nd: {<<: *x, e: *y}\n",
            r#"{"a": {"b": {"c": 1}}, "d": {"b": {"c": 1}, "e": {"c": 1}}}"#,
        ),
        ("- &x\n  a: 1\n- [<<: *x]\n", r#"[{"a": 1}, [{"a": 1}]]"#),
    ]);
}

#[test]
fn a_merge_key_in_quotes_is_text() {
    check(&[
        ("a: &x {b: 1}\nc: {'<<': *x}\n", r#"{"a": {"b": 1}, "c": {"<<": {"b": 1}}}"#),
        ("a: {\"<<\": 1}\n", r#"{"a": {"<<": 1}}"#),
        ("a:\n  ? |-\n    <<\n  : 1\n", r#"{"a": {"<<": 1}}"#),
        ("a: {'<<': 1, <<: {b: 2}}\n", r#"{"a": {"<<": 1, "b": 2}}"#),
    ]);
}

#[test]
fn a_merge_key_has_a_mapping_or_a_list_of_mappings_and_occurs_once() {
    for (text, line, column) in [
        ("a:\n  <<: text\n", 2, 7),
        ("a: {<<: }\n", 1, 7),
        ("a: {<<: [{b: 1}, [c]]}\n", 1, 9),
        ("a: &x 1\nb: {<<: *x}\n", 2, 9),
    ] {
        refused(text, line, column, "must be a mapping or a list of mappings");
    }
    refused("a: {<<: {b: 1}, <<: {c: 1}}\n", 1, 17, "the key `<<` is already in this mapping, on line 1");
    refused("a: {<<: {b: 1}, c: 1, c: 2}\n", 1, 23, "the key `c` is already in this mapping, on line 1");
    refused("a: &x {<<: *x}\n", 1, 12, "a value that contains");
}

#[test]
fn merged_values_are_bounded() {
    let laughs = (1..30).fold("a0: &a0 {x: 1, y: 2}\n".to_owned(), |mut text, level| {
        let below = level - 1;
        let _ =
            writeln!(text, "a{level}: &a{level} {{<<: *a{below}, p{level}: *a{below}, q{level}: *a{below}}}");
        text
    });
    assert!(read(&laughs).unwrap_err().message.contains("more than 2000000 values"));
}

#[test]
fn an_alias_has_a_place_beside_that_of_its_value() {
    let text = "- &x {a: &y 1, b: 2}\n- c: *x\n- <<: *x\n  d: *y\n";
    let root = read(text).unwrap();
    let alias = |pointer: &str| {
        let node = root.pointer(pointer).unwrap();
        let place = root.alias_at(pointer, node.span);
        (node.span.line, place.map(|place| &text[place.start..place.end]))
    };
    assert_eq!(alias("/0/a"), (1, None));
    assert_eq!(alias("/1"), (2, None));
    assert_eq!(alias("/1/c"), (1, Some("*x")));
    assert_eq!(alias("/1/c/b"), (1, Some("*x")));
    assert_eq!(alias("/2"), (3, None));
    assert_eq!(alias("/2/d"), (1, Some("*y")));
    assert_eq!(alias("/2/b"), (1, Some("<<")));
    let key = root.pointer("/1").unwrap().entry("c").unwrap().key_span;
    assert_eq!(root.alias_at("/1/c", key), None, "the key is beside the alias");
}
