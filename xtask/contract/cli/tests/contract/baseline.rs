use std::fs;

use fixtures::{CODE, LIBRARY};

use super::{TODAY, Workplace, edited};

/// Returns a document with an unknown keyword in place of a missing one, and with an operationId with a space.
fn with_findings() -> String {
    edited("summary: List books", "sumary: List books")
        .replace("operationId: getBook", "operationId: get book")
}

fn lint(workplace: &Workplace, more: &[&str]) -> (Option<i32>, String) {
    let arguments = ["lint", "library.yaml", "--profile", "strict", "--today", TODAY];
    workplace.run(&[&arguments, more].concat())
}

#[test]
fn findings_in_the_baseline_are_accepted_after_lines_moved_and_new_ones_are_not() {
    let document = with_findings();
    let workplace = Workplace::new(&[("library.yaml", &document)]);
    let (status, printed) = lint(&workplace, &["--write-baseline", "old.txt"]);
    assert_eq!((status, printed.as_str()), (Some(0), "library.yaml: 3 errors written to old.txt\n"));
    let accepted = |document: &str| {
        workplace.write("library.yaml", document.as_bytes());
        lint(&workplace, &["--baseline", "old.txt", "--fail-on", "warning"])
    };
    let clean = (Some(0), "library.yaml: no findings (3 accepted)\n".to_owned());
    assert_eq!(accepted(&document), clean);
    assert_eq!(accepted(&format!("# moved\n\n{document}")), clean);
    assert_eq!(accepted(&document.replace("\n", "\r\n")), clean);
    let (status, printed) = accepted(&document.replace("summary: Add an book", "sumary: Add an book"));
    assert_eq!(status, Some(1), "{printed}");
    assert!(printed.contains("error[struct-keyword]") && !printed.contains("`listBooks`"), "{printed}");
}

#[test]
fn entries_that_no_longer_occur_are_reported_at_their_lines() {
    let workplace = Workplace::new(&[("library.yaml", &with_findings())]);
    lint(&workplace, &["--write-baseline", "old.txt"]);
    workplace.write("library.yaml", LIBRARY.as_bytes());
    let (status, printed) = lint(&workplace, &["--baseline", "old.txt"]);
    assert_eq!(status, Some(0), "{printed}");
    for part in ["warning[baseline-outdated]: The findings of this entry and of 2 more", "--> old.txt:2:1"] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    lint(&workplace, &["--write-baseline", "old.txt"]);
    assert_eq!(
        lint(&workplace, &["--baseline", "old.txt"]),
        (Some(0), "library.yaml: no findings\n".to_owned())
    );
    // The second entry is the beginning of the first, whose finding occurs.
    workplace.write("library.yaml", with_findings().as_bytes());
    lint(&workplace, &["--write-baseline", "old.txt"]);
    let written = fs::read_to_string(workplace.path("old.txt")).unwrap();
    let cut = written.lines().last().unwrap().split_at(written.lines().last().unwrap().len() - 1).0;
    workplace.write("old.txt", format!("{written}{cut}\n").as_bytes());
    let (_, printed) = lint(&workplace, &["--baseline", "old.txt"]);
    let line = written.lines().count() + 1;
    assert!(printed.contains(&format!("--> old.txt:{line}:1")), "{printed}");
}

/// A baseline has also those findings that a report does not show.
#[test]
fn all_findings_of_a_rule_are_written() {
    let parameter = |number| format!("{{name: n{number}, in: query, schema: {{type: string}}}}");
    let parameters: Vec<_> = (0..150).map(parameter).collect();
    let responses = "responses: {'200': {description: Done.}}";
    let path = format!("  /many: {{get: {{parameters: [{}], {responses}}}}}\n", parameters.join(", "));
    let workplace =
        Workplace::new(&[("library.yaml", &LIBRARY.replace("paths:\n", &format!("paths:\n{path}")))]);
    lint(&workplace, &["--write-baseline", "old.txt"]);
    let text = fs::read_to_string(workplace.path("old.txt")).unwrap();
    assert_eq!(text.lines().filter(|line| line.starts_with("parameter-description ")).count(), 150, "{text}");
    assert_eq!(
        lint(&workplace, &["--baseline", "old.txt"]),
        (Some(0), "library.yaml: no findings (155 accepted)\n".to_owned())
    );
}

#[test]
fn drift_has_a_baseline() {
    let document = LIBRARY.replace("maximum: 100", "maximum: 50");
    let workplace = Workplace::new(&[("library.yaml", &document), ("code.json", CODE)]);
    let drift = |more: &[&str]| workplace.run(&[&["drift", "library.yaml", "code.json"], more].concat());
    let (status, printed) = drift(&[]);
    assert!(status == Some(1) && printed.contains("error[schema-differs]"), "{printed}");
    assert_eq!(drift(&["--write-baseline", "old.txt"]).0, Some(0));
    let agreed = (Some(0), "library.yaml: the document and the code agree\n".to_owned());
    assert_eq!(drift(&["--baseline", "old.txt", "--fail-on", "warning"]), agreed);
}

/// What is wrong with an exception of the document is no finding of a rule, and stays reported.
#[test]
fn an_unused_exception_is_not_written_to_a_baseline() {
    let marked =
        edited("operationId: listBooks", "x-contract-ignore: info-contact\n      operationId: listBooks");
    let workplace = Workplace::new(&[("library.yaml", &marked)]);
    for option in ["--write-baseline", "--baseline"] {
        let (status, printed) = lint(&workplace, &[option, "old.txt"]);
        assert!(status == Some(0) && printed.contains("warning[ignore-unused]"), "{printed}");
        assert!(!printed.contains("baseline-outdated"), "{printed}");
    }
}

#[test]
fn a_baseline_that_cannot_be_used_is_an_error() {
    let workplace = Workplace::new(&[("library.yaml", LIBRARY), ("other.yaml", LIBRARY)]);
    let (status, printed) = lint(&workplace, &["--baseline", "missing.txt"]);
    assert_eq!(status, Some(2), "{printed}");
    assert!(printed.contains("missing.txt") && printed.contains("--write-baseline"), "{printed}");
    let (status, printed) = lint(&workplace, &["--write-baseline", "no/such.txt"]);
    assert_eq!(status, Some(2), "{printed}");
    let (status, printed) = lint(&workplace, &["other.yaml", "--write-baseline", "old.txt"]);
    assert_eq!(status, Some(2), "{printed}");
    assert!(printed.contains("belongs to one document"), "{printed}");
    // What cannot be compared is reported, and what cannot be read is not accepted.
    let unread = LIBRARY.replacen("type: integer", "type: [integer]", 1);
    workplace.write("code.json", CODE.as_bytes());
    workplace.write("library.yaml", unread.as_bytes());
    let (status, printed) =
        workplace.run(&["drift", "library.yaml", "code.json", "--write-baseline", "drift.txt"]);
    assert_eq!(status, Some(2), "{printed}");
    assert!(printed.contains("not-understood") && printed.contains("no findings written"), "{printed}");
    workplace.write("library.yaml", b"openapi: [\n");
    assert_eq!(lint(&workplace, &["--write-baseline", "old.txt"]).0, Some(2));
    assert!(!workplace.path("old.txt").exists());
}
