use fixtures::LIBRARY;

use super::{TODAY, Workplace, edited};

fn lint(content: &[u8]) -> (Option<i32>, String) {
    let workplace = Workplace::new(&[]);
    workplace.write("library.yaml", content);
    workplace.run(&["lint", "library.yaml", "--profile", "strict", "--today", TODAY])
}

#[test]
fn a_clean_document_exits_with_0() {
    assert_eq!(lint(LIBRARY.as_bytes()), (Some(0), "library.yaml: no findings\n".to_owned()));
}

#[test]
fn a_finding_is_shown_with_its_line_and_exits_with_1() {
    let text = edited("summary: List books", "sumary: List books");
    let line = text.lines().position(|line| line.contains("sumary")).unwrap() + 1;
    let (code, printed) = lint(text.as_bytes());
    assert_eq!(code, Some(1), "{printed}");
    assert!(printed.contains("struct-keyword") && printed.contains("Did you mean `summary`?"), "{printed}");
    assert!(printed.contains(&format!("library.yaml:{line}:")), "{printed}");
}

#[test]
fn a_warning_is_shown_and_exits_with_0() {
    let (code, printed) = lint(edited("in: path", "in: path\n          allowReserved: false").as_bytes());
    assert_eq!(code, Some(0), "{printed}");
    assert!(printed.contains("no-ineffective-keywords") && printed.contains("1 warning"), "{printed}");
}

/// The smallest useful document has everything that OpenAPI requires, and none of what is recommended.
#[test]
fn a_new_document_has_warnings_and_no_error() {
    let info = "openapi: 3.0.3\ninfo:\n  title: Books\n  version: 1.0.0\n";
    let paths =
        "paths:\n  /books:\n    get:\n      responses:\n        200:\n          description: The books.\n";
    let text = format!("{info}{paths}");
    let workplace = Workplace::new(&[("books.yaml", &text)]);
    let (status, printed) = workplace.run(&["lint", "books.yaml"]);
    assert_eq!(status, Some(0), "{printed}");
    assert!(printed.ends_with("books.yaml: 11 warnings\n"), "{printed}");
    let (status, printed) = workplace.run(&["lint", "books.yaml", "--profile", "strict"]);
    assert_eq!(status, Some(1), "{printed}");
    let (_, printed) = workplace.run(&["lint", "books.yaml", "--profile", "spec", "--fix"]);
    assert_eq!(printed, "books.yaml: 1 fixed, no findings\n");
}

#[test]
fn a_file_that_cannot_be_read_exits_with_2() {
    for (bytes, line) in [
        (b"".as_slice(), 1),
        (b"a: 1\nb: \xff\n", 2),
        (b"a: 1\nb: [\n", 2),
        (b"- a\n- b\n", 1),
        (b"openapi: 3.0.3\nopenapi: 3.0.3\n", 2),
        (b"just words", 1),
        (b"\nopenapi: 3.1.0\n", 2),
        (b"\nswagger: '2.0'\n", 2),
    ] {
        let (code, printed) = lint(bytes);
        assert_eq!(code, Some(2), "{bytes:?}: {printed}");
        assert!(printed.contains(&format!(":{line}:")), "{bytes:?}: {printed}");
    }
    let (code, printed) = Workplace::new(&[]).run(&["lint", "missing.yaml"]);
    assert_eq!(code, Some(2), "{printed}");
    assert!(printed.contains("There is no such file"), "{printed}");
}

/// Of a line of a megabyte only the part around the place is shown, with its column in the whole line.
#[test]
fn a_long_line_is_shown_in_part() {
    let paths: Vec<String> = (0..20_000).map(|number| format!("\"/books{number}\":{{}}")).collect();
    let start = format!("{{\"openapi\":\"3.0.3\",\"paths\":{{{}}},", paths.join(","));
    let workplace = Workplace::new(&[("library.json", &format!("{start}\"bad\":1}}"))]);
    let (code, printed) = workplace.run(&["lint", "library.json", "--profile", "spec"]);
    assert_eq!(code, Some(1));
    assert!(printed.contains("`bad` is not a keyword"), "{printed:.2000}");
    assert!(printed.contains(&format!("--> library.json:1:{}\n", start.len() + 1)), "{printed:.2000}");
    assert!(printed.contains("^^^^^") && printed.lines().all(|line| line.len() < 1000), "{printed:.2000}");
}

#[test]
fn a_file_named_json_is_read_as_json() {
    for (text, column) in [
        ("{\"openapi\": \"3.0.3\",}", 20),
        ("{\"openapi\": \"3.0.3\" // note\n}", 21),
        ("{'openapi': '3.0.3'}", 2),
        ("openapi: 3.0.3\n", 1),
    ] {
        let workplace = Workplace::new(&[("library.json", text)]);
        let (code, printed) = workplace.run(&["lint", "library.json"]);
        assert_eq!(code, Some(2), "{text}: {printed}");
        assert!(
            printed.contains("not JSON") && printed.contains(&format!("json:1:{column}\n")),
            "{text}: {printed}"
        );
    }
}

#[test]
fn the_rules_are_listed_and_explained() {
    let workplace = Workplace::new(&[]);
    let (code, printed) = workplace.run(&["lint", "--rules"]);
    assert_eq!(code, Some(0));
    for rule in checks::registry::rules() {
        assert!(printed.contains(&format!("| `{}` |", rule.name)), "{}", rule.name);
        assert!(printed.contains(rule.explanation), "{}", rule.explanation);
    }
    let (code, printed) = workplace.run(&["lint", "--explain", "path-params"]);
    assert_eq!(code, Some(0));
    assert!(printed.starts_with("path-params") && printed.contains("spec"), "{printed}");
    let (code, printed) = workplace.run(&["lint", "--explain", "path-parms"]);
    assert_eq!(code, Some(2));
    assert!(printed.contains("Did you mean `path-params`?"), "{printed}");
}

#[test]
fn several_documents_are_one_report() {
    let warned = edited("in: path", "in: path\n          allowReserved: false");
    let workplace = Workplace::new(&[("a.yaml", LIBRARY), ("b.yaml", &warned), ("c.yaml", "openapi: [")]);
    let lint =
        |more: &[&str]| workplace.run(&[&["lint", "--profile", "strict", "--today", TODAY], more].concat());
    let (status, printed) = lint(&["a.yaml", "b.yaml"]);
    assert_eq!(status, Some(0), "{printed}");
    assert!(printed.ends_with("a.yaml: no findings\nb.yaml: 1 warning\n"), "{printed}");
    assert_eq!(lint(&["a.yaml", "b.yaml", "--fail-on", "warning"]).0, Some(1));
    let (status, printed) = lint(&["c.yaml", "b.yaml", "--format", "json"]);
    let findings: serde_json::Value = serde_json::from_str(&printed).unwrap();
    let files: Vec<_> =
        findings.as_array().unwrap().iter().map(|finding| finding["file"].as_str().unwrap()).collect();
    assert_eq!((status, files), (Some(2), vec!["c.yaml", "b.yaml"]));
}
