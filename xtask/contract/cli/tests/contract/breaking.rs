use fixtures::LIBRARY;

use super::{TODAY, Workplace, edited};

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
        "`info.version` is 1.0.0, but one breaking change needs 2.0.0 or later.",
    ] {
        assert!(printed.to_lowercase().contains(&words.to_lowercase()), "{words:?} is not in\n{printed}");
    }
}

#[test]
fn the_text_shows_warnings_and_counts_the_rest() {
    let revision = edited("maximum: 100\n", "maximum: 50\n").replace(
        "      operationId: listBooks\n",
        "      operationId: listBooks\n      deprecated: true\n      x-note: n\n",
    );
    let shown = |more: &[&str]| {
        let (code, printed) = compare(&revision, more);
        assert_eq!(code, Some(1), "{printed}");
        let count = |severity| printed.lines().filter(|line| line.starts_with(severity)).count();
        let last = printed.lines().last().unwrap_or_default().to_owned();
        (["error[", "warning[", "info["].map(count), last)
    };
    let (all, last) = shown(&["--level", "info"]);
    assert!(all[2] > 0, "{all:?}");
    assert!(last.starts_with("new.yaml against old.yaml: "), "{last}");
    let rest = format!("not shown: {} note; `--level info` shows all", all[2]);
    assert_eq!(shown(&[]), ([all[0], all[1], 0], rest.clone()));
    assert_eq!(shown(&["--level", "warning"]), ([all[0], all[1], 0], rest));
    let rest = format!("not shown: {} warning, {} note; `--level info` shows all", all[1], all[2]);
    assert_eq!(shown(&["--level", "error"]), ([all[0], 0, 0], rest));
    let (_, json) = compare(&revision, &["--level", "error", "--format", "json"]);
    assert_eq!(json.matches("\"severity\"").count(), all.iter().sum::<usize>(), "{json}");
    assert_eq!(compare(&revision, &["--level", "unreadable"]).0, Some(2));
}

/// Each operation has an error of its own, one in common with three others, and one in the shared schema.
#[test]
fn many_findings_begin_with_an_overview_and_end_with_the_version() {
    let document = |maximum: u32, name: &str| {
        let paths = (0..14).map(|number| {
            let own = if number < 4 { "token" } else { "cursor" };
            let kept = if name == "old" || number > 4 { own } else { "renamed" };
            format!(
                "  /a{number}:\n    get:\n      operationId: get{number}\n      parameters:\n      - {{name: p{number}, in: query, \
                 schema: {{type: integer, maximum: {maximum}}}}}\n      - {{name: {kept}, in: query, schema: {{type: string}}}}\n      \
                 responses: {{'200': {{description: d}}}}\n",
                maximum = maximum + number
            )
        });
        format!("openapi: 3.0.3\ninfo: {{title: t, version: 1.0.0}}\npaths:\n{}", paths.collect::<String>())
    };
    let workplace =
        Workplace::new(&[("old.yaml", &document(100, "old")), ("new.yaml", &document(50, "new"))]);
    let (code, printed) = workplace.run(&["breaking", "old.yaml", "new.yaml"]);
    assert_eq!(code, Some(1), "{printed}");
    let lines: Vec<_> = printed.lines().collect();
    assert_eq!(
        lines[..6].join("\n"),
        "new.yaml against old.yaml: 20 errors, 5 notes

The rules with the most findings:
  request-max-decreased: 14 errors
  request-parameter-removed: 5 errors
  api-version-not-bumped: 1 error"
    );
    let titles: Vec<_> = lines.iter().filter(|line| line.starts_with("error[")).collect();
    // The parameter `token` was removed from four operations, for one reason.
    assert_eq!(titles.len(), 14 + 2 + 1, "{printed}");
    assert!(titles[16].starts_with("error[api-version-not-bumped]"), "{printed}");
    assert!(printed.contains("= also: line 14: operation `get1`\n"), "{printed}");
    assert!(printed.contains("or add a waiver") && !printed.contains("[[waiver]]"), "{printed}");
    let (_, json) = workplace.run(&["breaking", "old.yaml", "new.yaml", "--format", "json"]);
    assert_eq!(json.matches("\"severity\": \"error\"").count(), 20);
}

#[test]
fn the_text_joins_what_was_removed_from_one_place() {
    let document =
        |paths: &str| format!("openapi: 3.0.3\ninfo: {{title: t, version: 1.0.0}}\npaths:\n{paths}");
    let path = |name: &str| format!("  /{name}:\n    get:\n      responses: {{'200': {{description: d}}}}\n");
    let all = ["a", "b", "c", "d"].map(path).concat();
    let workplace = Workplace::new(&[("old.yaml", &document(&all)), ("new.yaml", &document(&path("a")))]);
    let (code, printed) = workplace.run(&["breaking", "old.yaml", "new.yaml"]);
    assert_eq!((code, printed.matches("error[api-removed").count()), (Some(1), 1), "{printed}");
    let also = "also: was line 11: `GET /c` was removed without having been deprecated\n";
    assert!(printed.contains(also) && printed.contains("was line 14: `GET /d` was removed"), "{printed}");
    assert!(printed.ends_with("new.yaml against old.yaml: 4 errors\n"), "{printed}");
    assert!(printed.contains("[[waiver]]\n"), "{printed}");
}

#[test]
fn a_finding_says_its_impact_and_how_to_undo_it() {
    for (old, new, fix) in [
        ("maximum: 100\n", "maximum: 50\n", "Restore `maximum: 100`, release 2.0.0"),
        (
            "minimum: 1\n            maximum",
            "minimum: 1\n            multipleOf: 2\n            maximum",
            "Remove `multipleOf: 2`, release 2.0.0",
        ),
    ] {
        let (_, json) = compare(&edited(old, new), &["--format", "json"]);
        let found: serde_json::Value = serde_json::from_str(&json).unwrap();
        let impact = "Requests that the old version accepted are refused.";
        let fix = format!("{fix}, or add a waiver to `contract.toml`.");
        assert_eq!(found[0]["impact"], impact, "{json}");
        assert_eq!(found[0]["fix"].as_str().unwrap().lines().next(), Some(&*fix), "{json}");
        let (_, text) = compare(&edited(old, new), &[]);
        assert!(text.contains(&format!("= impact: {impact}\n")), "{text}");
        assert!(text.contains(&format!("= help: {fix}\n")), "{text}");
    }
}

#[test]
fn another_version_of_openapi_exits_with_2() {
    for (version, words, advice) in [
        ("openapi: 3.1.0", "`openapi: 3.1.0` is not supported", "`openapi-down-convert`"),
        ("swagger: '2.0'", "`swagger: 2.0` is not supported", "`swagger2openapi`"),
        ("openapi: '3'", "`openapi: 3` is not supported", "only OpenAPI 3.0"),
    ] {
        let workplace = workplace(&edited("openapi: 3.0.3", version));
        for pair in [["old.yaml", "new.yaml"], ["new.yaml", "old.yaml"]] {
            for command in ["breaking", "changelog"] {
                let (code, printed) = workplace.run(&[command, pair[0], pair[1]]);
                assert_eq!(code, Some(2), "{printed}");
                assert_eq!(printed.matches("error[").count(), 1, "{printed}");
                assert!(printed.contains(words) && printed.contains("new.yaml:1:"), "{printed}");
                // Another number would make the document an invalid one.
                assert!(printed.contains(advice) && !printed.contains("3.0.3"), "{printed}");
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
fn a_break_passes_with_a_new_major_version_unless_any_break_fails() {
    let revision = edited("maximum: 100\n", "maximum: 50\n").replace("version: 1.0.0", "version: 2.0.0");
    let (status, printed) = compare(&revision, &[]);
    assert_eq!(status, Some(0), "{printed}");
    assert!(
        printed.contains("warning[request-max-decreased]")
            && printed.contains("= help: Released as 2.0.0.\n"),
        "{printed}"
    );
    assert!(
        printed.ends_with("new.yaml against old.yaml: 1 breaking change, released as 2.0.0\n"),
        "{printed}"
    );
    assert_eq!(compare(&revision, &["--fail-on", "warning"]).0, Some(0));
    assert_eq!(compare(&revision, &["--fail-on", "breaking"]).0, Some(1));
    let (status, printed) = compare(&revision, &["--fail-on", "version"]);
    assert!(status == Some(2) && printed.contains("error, warning, breaking"), "{printed}");
}

/// The last five lines of the help are a waiver; with a version for an addition, nothing else is needed.
#[test]
fn the_help_of_a_break_has_the_lines_of_a_waiver() {
    for version in ["1.0.0", "1.1.0"] {
        let revision = edited("maximum: 100\n", "maximum: 50\n")
            .replace("version: 1.0.0", &format!("version: {version}"));
        let workplace = workplace(&revision);
        let arguments = ["breaking", "old.yaml", "new.yaml", "--today", TODAY, "--format", "json"];
        let (_, json) = workplace.run(&arguments);
        let found: serde_json::Value = serde_json::from_str(&json).unwrap();
        let (_, waiver) = found[0]["fix"].as_str().unwrap().split_once('\n').unwrap();
        workplace.write("contract.toml", waiver.as_bytes());
        let (status, json) = workplace.run(&arguments);
        assert!(json.contains("\"accepted\": \"WHY\""), "{waiver}: {json}");
        assert_eq!(status, Some(i32::from(version == "1.0.0")), "{json}");
    }
}

#[test]
fn a_warning_fails_only_with_fail_on_warning() {
    let (old, new) = ("operationId: listBooks\n", "operationId: listBooks\n      deprecated: true\n");
    let revision = edited(old, new).replace("version: 1.0.0", "version: 1.1.0");
    let (status, printed) = compare(&revision, &["--fail-on", "error"]);
    assert!(status == Some(0) && printed.contains(" warning"), "{printed}");
    assert_eq!(compare(&revision, &["--fail-on", "warning"]).0, Some(1));
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
    for command in ["breaking", "changelog"] {
        let (code, printed) = workplace(&broken).run(&[command, "old.yaml", "new.yaml"]);
        assert_eq!(code, Some(2), "{printed}");
        assert_eq!(printed.matches("not-understood").count(), 1, "{printed}");
    }
}

#[test]
fn control_characters_of_a_document_are_not_printed() {
    let (old, new) = ("operationId: getBook\n", "operationId: \"get\\e[31m\\u202eBook\"\n");
    let revision = edited(old, new).replace("maximum: 599", "maximum: 600");
    let (_, printed) = compare(&revision, &[]);
    assert!(printed.contains("get [31mBook"), "{printed}");
    assert!(!printed.contains(['\u{1b}', '\u{202e}']), "{printed:?}");
}

#[test]
fn the_changelog_is_markdown_without_rules_and_lines_or_data() {
    let revision = edited("maximum: 100\n", "maximum: 200\n").replace("version: 1.0.0", "version: 1.1.0");
    let workplace = workplace(&revision);
    let (code, printed) = workplace.run(&["changelog", "old.yaml", "new.yaml", "--today", TODAY]);
    assert_eq!(code, Some(0), "{printed}");
    assert!(printed.starts_with("## 1.1.0 (2026-11-21)\n\n### Changed\n\n- "), "{printed}");
    assert!(printed.contains("`maximum` changed from 100 to 200"), "{printed}");
    let arguments = ["changelog", "old.yaml", "new.yaml", "--today", TODAY, "--format"];
    let (code, json) = workplace.run(&[&arguments[..], &["json"]].concat());
    let release: changes::Release = serde_json::from_str(&json).unwrap();
    assert_eq!((code, release.to_markdown()), (Some(0), printed));
    assert_eq!((release.version.as_str(), release.previous.as_deref()), ("1.1.0", Some("1.0.0")));
    let (code, printed) = workplace.run(&[&arguments[..], &["sarif"]].concat());
    assert!(code == Some(2) && printed.contains("[possible values: markdown, json]"), "{printed}");
}

/// Each rule of `breaking` and `drift` is in every profile.
#[test]
fn only_lint_has_profiles() {
    let workplace = workplace(LIBRARY);
    for command in ["breaking", "drift", "changelog"] {
        let (code, printed) = workplace.run(&[command, "old.yaml", "new.yaml", "--profile", "spec"]);
        assert!(code == Some(2) && printed.contains("unexpected argument '--profile'"), "{printed}");
    }
}
