use super::{LIBRARY, TODAY, Workplace, edited};

fn workplace(revision: &str) -> Workplace {
    Workplace::new(&[("old.yaml", LIBRARY), ("new.yaml", revision)])
}

fn compare(revision: &str, more: &[&str]) -> (Option<i32>, String) {
    workplace(revision).run(&[&["breaking", "old.yaml", "new.yaml", "--today", TODAY], more].concat())
}

#[test]
fn a_breaking_change_is_shown_with_both_places_and_exits_with_1() {
    let (code, printed) = compare(&edited("maximum: 100\n", "maximum: 50\n"), &[]);
    assert_eq!(code, Some(1), "{printed}");
    let line = LIBRARY.lines().position(|line| line.ends_with("maximum: 100")).unwrap() + 1;
    for words in [
        &format!("new.yaml:{line}:"),
        &format!("old.yaml:{line}:"),
        "parameter `limit` of operation `listBooks`",
        "`maximum` changed from 100 to 50",
        "api-version-not-bumped",
        "must be 2.0.0 or later",
    ] {
        assert!(printed.to_lowercase().contains(&words.to_lowercase()), "{words:?} is not in\n{printed}");
    }
}

#[test]
fn another_version_of_openapi_exits_with_2() {
    for (version, words) in [("openapi: 3.1.0", "OpenAPI 3.1"), ("swagger: '2.0'", "Swagger 2.0")] {
        let workplace = workplace(&edited("openapi: 3.0.3", version));
        for pair in [["old.yaml", "new.yaml"], ["new.yaml", "old.yaml"]] {
            for command in ["breaking", "changelog"] {
                let (code, printed) = workplace.run(&[command, pair[0], pair[1]]);
                assert_eq!(code, Some(2), "{printed}");
                assert_eq!(printed.matches("error[").count(), 1, "{printed}");
                assert!(printed.contains(words) && printed.contains("new.yaml:1:"), "{printed}");
            }
        }
    }
}

#[test]
fn equal_documents_exit_with_0() {
    let (code, printed) = compare(LIBRARY, &[]);
    assert_eq!(code, Some(0), "{printed}");
}

#[test]
fn a_new_major_version_is_enough_with_fail_on_version() {
    let revision = edited("maximum: 100\n", "maximum: 50\n").replace("version: 1.0.0", "version: 2.0.0");
    assert_eq!(compare(&revision, &[]).0, Some(1));
    assert_eq!(compare(&revision, &["--fail-on", "version"]).0, Some(0));
}

#[test]
fn an_unreadable_document_exits_with_2() {
    let (code, printed) = compare("openapi: [", &[]);
    assert_eq!(code, Some(2), "{printed}");
    assert!(printed.contains("new.yaml:1"), "{printed}");
    let (code, printed) = workplace(LIBRARY).run(&["breaking", "missing.yaml", "new.yaml"]);
    assert_eq!(code, Some(2), "{printed}");
    assert!(printed.contains("missing.yaml") && printed.contains("no such file"), "{printed}");
    let broken = LIBRARY.replace("#/components/headers/RetryAfter", "#/components/headers/Missing");
    let (code, printed) = compare(&broken, &[]);
    assert_eq!(code, Some(2), "{printed}");
    assert_eq!(printed.matches("not-understood").count(), 1, "{printed}");
}

#[test]
fn the_changelog_is_markdown_without_rules_and_lines() {
    let revision = edited("maximum: 100\n", "maximum: 200\n").replace("version: 1.0.0", "version: 1.1.0");
    let workplace = workplace(&revision);
    let (code, printed) = workplace.run(&["changelog", "old.yaml", "new.yaml", "--today", TODAY]);
    assert_eq!(code, Some(0), "{printed}");
    assert!(printed.starts_with("## 1.1.0 (2026-11-21)\n\n### Changed\n\n- "), "{printed}");
    assert!(printed.contains("`maximum` changed from 100 to 200"), "{printed}");
}
