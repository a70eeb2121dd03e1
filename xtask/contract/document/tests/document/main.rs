//! Texts that are YAML, and texts that are not.

mod readers;

use std::fmt::Write as _;

use document::edits::edits;
use document::openapi::Model;
use document::repair::Repair;
use document::{Document, MAX_DEPTH, MAX_NODES, Node, Value, decode, read};
use fixtures::LIBRARY;
use kit::layers::Crate;
use proptest::prelude::*;
use serde_json::json;

/// A module imports only from modules below it in the list in `src/lib.rs`.
#[test]
fn imports_point_downwards() {
    Crate { directory: env!("CARGO_MANIFEST_DIR"), name: "document" }.assert_imports_point_downwards();
}

fn data(text: &str) -> serde_json::Value {
    read(text).unwrap_or_else(|problem| panic!("{text:?}: {problem}")).to_json()
}

fn refused(text: &str, line: usize, column: usize, message: &str) {
    let shown = &text[..text.floor_char_boundary(80)];
    let problem = read(text).err().unwrap_or_else(|| panic!("{shown:?} was read"));
    assert!(problem.message.contains(message), "{shown:?}: {problem}");
    assert_eq!((problem.span.line, problem.span.column), (line, column), "{shown:?}: {problem}");
}

#[test]
fn json_keeps_the_order_of_the_text() {
    let root = read("b: [1, null, 1.5]\na: {d: x, c: true}\n").unwrap();
    assert_eq!(serde_json::to_string(&root).unwrap(), r#"{"b":[1,null,1.5],"a":{"d":"x","c":true}}"#);
}

fn slice<'a>(text: &'a str, node: &Node) -> &'a str {
    &text[node.span.start..node.span.end]
}

#[test]
fn a_half_written_key_is_reported_at_its_place() {
    for (text, line, column) in [
        ("info:\n  title: T\n  descr\n  version: 1\npaths: {}\n", 3, 3),
        ("info:\n  descr\n  title: T\npaths: {}\n", 2, 3),
        ("info:\n  title: T\npat\n", 3, 1),
        ("inf\npaths: {}\n", 1, 1),
        ("openapi: 3.0.3\ninf\ninfo:\n  title: T\n", 2, 1),
        ("info:\n  title: T\n  descr\npaths: {}\n", 3, 3),
    ] {
        refused(text, line, column, "has no `: `");
    }
    let block = "info:\n  description: |\n    Note: one.\n    Two.\n    Three.\n  contact: a: b\n";
    let problem = read(block).unwrap_err();
    assert_eq!(problem.span.line, 6, "{problem}");
}

#[test]
fn positions_are_those_of_the_text() {
    let text = "a: 1\nbé:\n  c: |\n    text\n\n  # words\n  'd e': [1, \"x é\", &q {k: v}]\n  f:\ng:\n- h\n";
    let root = read(text).unwrap();
    assert_eq!(slice(text, &root), text.trim_end());

    let entry = root.entry("bé").unwrap();
    assert_eq!((entry.key_span.line, entry.key_span.column), (2, 1));
    assert_eq!(&text[entry.key_span.start..entry.key_span.end], "bé");
    assert_eq!((entry.value.span.line, entry.value.span.column), (3, 3));

    assert_eq!(slice(text, root.pointer("/bé/c").unwrap()), "text");
    assert_eq!(slice(text, root.pointer("/bé/d e").unwrap()), "[1, \"x é\", &q {k: v}]");
    let last = root.pointer("/bé/d e/1").unwrap();
    assert_eq!(slice(text, last), "\"x é\"");
    assert_eq!((last.span.line, last.span.column), (7, 14));
    let nothing = root.pointer("/bé/f").unwrap();
    assert!(matches!(nothing.value, Value::Null));
    assert_eq!((nothing.span.line, nothing.span.column, slice(text, nothing)), (8, 4, ""));
    assert_eq!(slice(text, root.pointer("/g/0").unwrap()), "h");
}

#[test]
fn positions_hold_with_crlf_and_a_byte_order_mark() {
    let text = "\u{feff}a: b\r\nc:\r\n  é: d\r\n";
    let root = read(text).unwrap();
    let node = root.pointer("/c/é").unwrap();
    assert_eq!((node.span.line, node.span.column, slice(text, node)), (3, 6, "d"));
}

#[test]
fn pointers_follow_rfc_6901() {
    let root = read("paths:\n  /a/{b}: {x~y: [p, q]}\n200: ok").unwrap();
    assert_eq!(root.pointer("/paths/~1a~1{b}/x~0y/1").unwrap().as_str(), Some("q"));
    assert_eq!(root.pointer("/200").unwrap().as_str(), Some("ok"));
    assert!(root.pointer("").is_some());
    for nowhere in ["/", "paths", "/paths/~1a", "/paths/~1a~1{b}/x~0y/01", "/200/x"] {
        assert!(root.pointer(nowhere).is_none(), "{nowhere}");
    }
    assert_eq!(root.get("paths").unwrap().entries().len(), 1);
    assert!(root.get("200").unwrap().get("x").is_none());
}

#[test]
fn scalars_follow_the_core_schema() {
    for (text, value) in [
        ("null", json!(null)),
        ("~", json!(null)),
        ("True", json!(true)),
        ("FALSE", json!(false)),
        ("yes", json!("yes")),
        ("12", json!(12)),
        ("+12", json!(12)),
        ("-012", json!(-12)),
        ("0o17", json!(15)),
        ("0xFf", json!(255)),
        ("0x", json!("0x")),
        ("9223372036854775807", json!(i64::MAX)),
        ("18446744073709551615", json!(u64::MAX)),
        ("1.5", json!(1.5)),
        (".5e1", json!(5.0)),
        ("-2.", json!(-2.0)),
        ("1e", json!("1e")),
        (".", json!(".")),
        ("1_000", json!("1_000")),
        ("1.0.0", json!("1.0.0")),
        ("2030-12-05", json!("2030-12-05")),
        ("infinity", json!("infinity")),
        ("'12'", json!("12")),
        ("\"\\u00e9\"", json!("é")),
    ] {
        assert_eq!(data(&format!("a: {text}")), json!({ "a": value }), "{text}");
    }
}

#[test]
fn anchors_and_aliases_work() {
    assert_eq!(
        data("a: &x {k: [1, &y z]}\nb: *x\n*y : *y\n"),
        json!({"a": {"k": [1, "z"]}, "b": {"k": [1, "z"]}, "z": "z"})
    );
    let root = read("a: &x 1\nb: *x\n").unwrap();
    assert_eq!(root.get("b").unwrap().span.line, 1);
}

#[test]
fn a_large_mapping_finds_its_keys() {
    let mut text: String = (0..1000).fold(String::new(), |mut text, number| {
        let _ = writeln!(text, "k{number}: {number}");
        text
    });
    let root = read(&text).unwrap();
    assert_eq!(root.entries().len(), 1000);
    for number in 0..1000 {
        assert_eq!(root.get(&format!("k{number}")).unwrap().to_json(), json!(number));
    }
    assert!(root.get("k1000").is_none());
    text.push_str("k7: again\n");
    refused(&text, 1001, 1, "the key `k7` is already in this mapping, on line 8");
}

#[test]
fn yaml_without_a_json_equivalent_is_refused_with_its_place() {
    refused("", 1, 1, "empty");
    refused("\n# only words\n", 1, 1, "empty");
    refused("--- # nothing\n", 1, 4, "empty");
    refused("a: 1\nb: 2\na: 3\n", 3, 1, "the key `a` is already in this mapping, on line 1");
    refused("a:\n  200: x\n  '200': y\n", 3, 3, "the key `200` is already");
    refused("{a: 1, [b]: 2}", 1, 8, "a key must be text");
    refused("? {a: b}\n: c\n", 1, 3, "a key must be text");
    refused("a: &x [1]\n*x : 2\n", 2, 1, "a key must be text");
    refused("a: 1\n---\nb: 2\n", 2, 1, "second document");
    refused("a: 1\n...\nb: 2\n", 3, 1, "second document");
    refused("a:\n\tb: 1\n", 2, 1, "a tab cannot be used for indentation");
    refused("a:\n  b: 1\n \tc: 2\n", 3, 2, "a tab cannot");
    refused("a: 1\nb:\n  <<: 1\n", 3, 7, "must be a mapping or a list of mappings");
    assert_eq!(data("'<<': 1"), json!({"<<": 1}));
    refused("a: 1\nb: *nobody\n", 2, 4, "anchor");
    refused("a: &x [*x]\n", 1, 8, "a value that contains");
    refused("a: [1, 2\nb: 3\n", 1, 4, "this `[` is not closed");
    refused("a:\n  b: {c: 1\n  d: 2\ne: 3\n", 2, 6, "this `{` is not closed");
    refused("a: [1, 2\n", 1, 4, "this `[` is not closed");
    refused("a: 'open\n", 1, 4, "this quote is not closed");
    refused("a: 1\nb: \"open\nc: \"x\"\nd: 1\n", 2, 4, "this quote is not closed");
    refused("a: b: c\n", 1, 5, "quote the value");
    refused("a: !mine 1\n", 1, 4, "the tag `!mine`");
    refused("a: !!str 1\n", 1, 4, "the tag `!!str`");
    refused("a: !!map {}\n", 1, 4, "the tag `!!map`");
    refused("a: ! 1\n", 1, 4, "the tag `!`");
    refused("a: !!seq []\n", 1, 4, "the tag `!!seq`");
    refused("a: .inf\n", 1, 4, "JSON cannot represent");
    refused("a: 1e999\n", 1, 4, "JSON cannot represent");
    refused(&format!("a: {}", "9".repeat(1000)), 1, 4, "999…` is a number that JSON cannot represent");
    refused("a: b\nc: é\0\nhidden: 1\n", 2, 5, "U+0000");
}

#[test]
fn all_kinds_of_nesting_are_bounded() {
    for (unit, close) in [("[", "]"), ("{a: ", "}"), ("- ", ""), ("? ", ""), ("[{a: ", "}]")] {
        let open = unit.repeat(100_000);
        let problem = read(&open).unwrap_err();
        assert!(problem.message.contains("nested") || problem.message.contains("key"), "{problem}");
        let closed = format!("{open}1{}", close.repeat(100_000));
        let problem = read(&closed).unwrap_err();
        assert!(problem.message.contains("nested") || problem.message.contains("key"), "{problem}");
    }
    let block = |depth: usize| {
        (0..depth).fold(String::new(), |mut text, level| {
            let _ = writeln!(text, "{}a:", " ".repeat(level));
            text
        })
    };
    assert!(read(&block(MAX_DEPTH)).is_ok());
    refused(&block(MAX_DEPTH + 1), MAX_DEPTH + 1, MAX_DEPTH + 1, "nested more than 100 levels deep");
    let wrapped = format!("a: &x {}{}\nb: [*x]\n", "[".repeat(99), "]".repeat(99));
    refused(&wrapped, 2, 5, "nested more than 100 levels deep");
}

#[test]
fn aliases_are_bounded() {
    let laughs = (1..30).fold("a0: &a0 [x, x]\n".to_owned(), |mut text, level| {
        let below = level - 1;
        let _ = writeln!(text, "a{level}: &a{level} [*a{below}, *a{below}]");
        text
    });
    assert!(read(&laughs).unwrap_err().message.contains("more than 2000000 values"));
    let nested: String = (0..90).map(|level| format!("&a{level} [")).collect();
    let nested = format!("{nested}{}{}", "1,".repeat(100_000), "]".repeat(90));
    assert!(read(&nested).unwrap_err().message.contains("more than 2000000 values"));
    let long = format!("- &a {}\n{}", "x".repeat(1 << 20), "- *a\n".repeat(1000));
    assert!(read(&long).unwrap_err().message.contains("or too much text"));
    let many = "- 1\n".repeat(MAX_NODES);
    assert!(read(&many).unwrap_err().message.contains("more than 2000000 values"));
}

#[test]
fn bytes_that_are_not_utf8_have_a_place() {
    assert_eq!(decode("é".as_bytes()), Ok("é"));
    let problem = decode(b"a: b\n\xc3\xa9: \xff\n").unwrap_err();
    assert_eq!(problem.to_string(), "line 2, column 4: the byte 0xFF is not UTF-8; save the file as UTF-8");
}

#[test]
fn json_is_read_as_rfc_8259_says() {
    let text = "{\"a\": [\"\\ud83d\\ude00\u{7f}\\u00e9\", -1.5e2, null, true],\t\"b\\n\": {}}";
    assert_eq!(data(text), json!({"a": ["\u{1f600}\u{7f}\u{e9}", -150.0, null, true], "b\n": {}}));
    check_places(text, &read(text).unwrap());
    check_places(&format!("\u{feff}{text}\n"), &read(&format!("\u{feff}{text}\n")).unwrap());
}

#[test]
fn invalid_json_is_refused_with_its_place() {
    refused("{\"a\": 1,\n \"a\": 2}", 2, 2, "the key `a` is already in this mapping, on line 1");
    refused("{\"a\": 1,\n \"b\": [1, 2\n", 2, 7, "Unterminated array");
    refused("{\"a\": \"x", 1, 7, "Unterminated string");
    refused("{\"a\": \"\\ud83d\", \"\t\": }", 1, 8, "Invalid unicode escape");
    refused("{\"a\": 1}\n}", 2, 1, "not JSON");
    let deep = "{\"a\":".repeat(100_000);
    let problem = read(&deep).unwrap_err();
    assert!(problem.message.contains("nested more than"), "{problem}");
}

/// Checks that each node has the correct position.
fn check_places(text: &str, node: &Node) {
    let span = node.span;
    assert!(span.start <= span.end && text.get(span.start..span.end).is_some(), "{span:?}");
    let before = &text[..span.start];
    assert_eq!(span.line, before.matches('\n').count() + 1, "{span:?}");
    let line = before.rsplit('\n').next().unwrap_or_default().trim_start_matches('\u{feff}');
    assert_eq!(span.column, line.chars().count() + 1, "{span:?}");
    for entry in node.entries() {
        assert!(text.get(entry.key_span.start..entry.key_span.end).is_some());
        check_places(text, &entry.value);
    }
    for item in node.items() {
        check_places(text, item);
    }
}

#[test]
fn the_document_is_read() {
    let root = read(LIBRARY).unwrap();
    check_places(LIBRARY, &root);
    let id = root.pointer("/paths/~1books/get/operationId").unwrap();
    assert_eq!(slice(LIBRARY, id), "listBooks");
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC*") {
        let _ = read(&text);
    }

    #[test]
    fn any_bytes_are_decoded_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(text) = decode(&bytes) {
            let _ = read(text);
        }
    }

    #[test]
    fn text_similar_to_yaml_is_read_or_refused(
        parts in prop::collection::vec(prop::sample::select(vec![
            "a", "é", ": ", ":", "- ", "? ", "[", "]", "{", "}", ", ", "\n", "\n  ", "\n    ", "\t",
            "&x ", "*x", "!!str ", "! ", "'", "\"", "|\n", ">-\n", "# ", "---\n", "...\n", "%YAML 1.2\n",
            "<<", "~", "1", "\\", "\r\n", "\u{feff}", "\u{85}", "\u{2028}",
        ]), 0..60),
    ) {
        let text = parts.concat();
        if let Ok(root) = read(&text) {
            check_places(&text, &root);
        }
    }

    #[test]
    fn a_damaged_document_is_read_or_refused(
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..20, "[\\PC\n\t]{0,4}"), 1..4),
    ) {
        let mut text = LIBRARY.to_owned();
        for (at, removed, inserted) in edits {
            let start = text.floor_char_boundary(at.index(text.len()));
            let end = text.floor_char_boundary((start + removed).min(text.len()));
            text.replace_range(start..end, &inserted);
        }
        if let Ok(root) = read(&text) {
            check_places(&text, &root);
        }
    }
}

#[test]
fn a_component_whose_name_is_a_value_of_a_discriminator_keeps_it() {
    let document = |mapping: &str| {
        let parent = format!(
            "{{discriminator: {{propertyName: kind{mapping}}}, properties: {{kind: {{type: string}}}}}}"
        );
        let schemas = format!("{{Pet: {parent}, Cat: {{allOf: [{{$ref: '#/components/schemas/Pet'}}]}}}}");
        format!(
            "openapi: 3.0.3\ninfo: {{title: t, version: 1.0.0}}\npaths: {{}}\ncomponents: {{schemas: {schemas}}}\n"
        )
    };
    let is_renamed = |mapping: &str, name: &str| {
        let document = Document::parse("a.yaml", &document(mapping)).unwrap();
        let model = Model::of(&document);
        let at = format!("/components/schemas/{name}");
        edits(&model, &Repair::Rename { at, to: "Other".to_owned() }).is_some()
    };
    assert!(!is_renamed("", "Cat"));
    assert!(is_renamed(", mapping: {cat: '#/components/schemas/Cat'}", "Cat"));
    assert!(is_renamed("", "Pet"));
}

#[test]
fn numbers_keep_the_digits_that_a_double_does_not_hold() {
    for (text, written) in [
        ("36893488147419103231", "36893488147419103231"),
        ("0.1000000000000000055511", "0.1000000000000000055511"),
        ("1.00000000000000000000", "1.0"),
        ("18446744073709551615", "18446744073709551615"),
        ("1e3", "1000.0"),
    ] {
        for node in
            [read(text), read(&format!("{{\"a\": {text}}}")).map(|node| node.get("a").unwrap().clone())]
        {
            let Value::Number(number) = node.unwrap().value else { panic!("{text}") };
            assert_eq!(number.to_string(), written);
        }
    }
}
