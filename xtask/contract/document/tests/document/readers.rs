//! Texts that the parsers libyaml, PyYAML and js-yaml read, with the tree that they make. YAML 1.2 does not allow all of
//! them.

use document::read;

use crate::check_places;

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
