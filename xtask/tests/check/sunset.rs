//! What a deprecated operation owes its callers, and when it must be gone.

use jiff::civil::{Date, date};
use xtask::check::exit_code;
use xtask::finding::Severity;

use crate::document::{TEXT, code, edit, findings, findings_on, told};

fn on(today: Date) -> (u8, Vec<String>) {
    let findings = findings_on(TEXT, code(), today);
    let line = TEXT.lines().position(|line| line.contains("x-sunset:")).unwrap() + 1;
    assert!(findings.iter().all(|finding| finding.span.line == line));
    (exit_code(&findings), findings.into_iter().map(|finding| finding.rule).collect())
}

#[test]
fn the_last_ninety_days_are_warned_of_and_what_is_after_is_refused() {
    let near = vec!["deprecation-sunset-near".to_owned()];
    assert_eq!(on(date(2030, 9, 5)), (0, vec![]));
    assert_eq!(on(date(2030, 9, 6)), (0, near.clone()));
    assert_eq!(on(date(2030, 12, 5)), (0, near));
    assert_eq!(on(date(2030, 12, 6)), (1, vec!["deprecation-sunset-passed".to_owned()]));
    assert_eq!(on(date(2040, 1, 1)), (1, vec!["deprecation-sunset-passed".to_owned()]));
}

#[test]
fn dates_and_successor_must_be_there_and_valid() {
    for (old, new, rule, same_line) in [
        ("      x-sunset: '2030-12-05'\n", "", "deprecation-incomplete", false),
        ("      x-deprecated-since: '2026-11-21'\n", "", "deprecation-incomplete", false),
        ("      x-successor: /pets\n", "", "deprecation-incomplete", false),
        ("x-sunset: '2030-12-05'", "x-sunset: '2030-02-30'", "deprecation-malformed", true),
        ("x-sunset: '2030-12-05'", "x-sunset: 5 December 2030", "deprecation-malformed", true),
        ("x-sunset: '2030-12-05'", "x-sunset: 20301205", "deprecation-malformed", true),
        (
            "x-deprecated-since: '2026-11-21'",
            "x-deprecated-since: '21.11.2026'",
            "deprecation-malformed",
            true,
        ),
        ("x-sunset: '2030-12-05'", "x-sunset: '2026-11-21'", "deprecation-sunset-order", true),
        ("x-successor: /pets", "x-successor: /animals", "deprecation-malformed", true),
        ("x-successor: /pets", "x-successor: [/pets]", "deprecation-malformed", true),
    ] {
        let edited = edit(&["getPet"], old, new);
        let today = date(2026, 1, 1);
        let findings = findings_on(&edited.text, code(), today);
        assert_eq!(findings.len(), 1, "{new}: {:?}", told(&findings));
        assert_eq!((findings[0].rule.as_str(), findings[0].severity), (rule, Severity::Error), "{new}");
        let line = edited.text.lines().nth(findings[0].span.line - 1).unwrap();
        match same_line {
            true => assert_eq!(findings[0].span.line, edited.line, "{new}"),
            false => assert!(line.contains("deprecated: true"), "{line}"),
        }
    }
}

#[test]
fn an_operation_that_is_not_deprecated_has_none_of_it() {
    let edited = edit(&[], "operationId: listPets", "x-sunset: '2031-01-01'\n      operationId: listPets");
    let findings = findings(&edited.text, code());
    assert_eq!(told(&findings), [("deprecation-of-nothing", edited.line)]);
}
