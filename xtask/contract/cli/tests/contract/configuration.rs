use std::fs;

use fixtures::LIBRARY;

use super::{TODAY, Workplace, edited};

const FILE: &str = "contract.toml";

/// Returns a document without a contact, which only the profiles `recommended` and `strict` report.
fn without_contact() -> String {
    let start = LIBRARY.find("  contact:\n").unwrap();
    let end = start + LIBRARY[start..].find("  license:\n").unwrap();
    format!("{}{}", &LIBRARY[..start], &LIBRARY[end..])
}

fn lint(document: &str, configuration: Option<&str>, more: &[&str]) -> (Option<i32>, String) {
    let workplace = Workplace::new(&[("library.yaml", document)]);
    if let Some(text) = configuration {
        workplace.write(FILE, text.as_bytes());
    }
    workplace.run(&[&["lint", "library.yaml", "--today", TODAY], more].concat())
}

#[test]
fn the_profile_is_recommended_unless_the_file_or_the_option_names_another() {
    let document = without_contact();
    for (configuration, more, found) in [
        (None, &[][..], true),
        (Some("profile = \"spec\""), &[], false),
        (Some("profile = \"spec\""), &["--profile", "recommended"], true),
        (Some("profile = \"recommended\""), &["--profile", "spec"], false),
    ] {
        let (_, printed) = lint(&document, configuration, more);
        assert_eq!(printed.contains("info-contact"), found, "{configuration:?} {more:?}: {printed}");
    }
}

#[test]
fn a_rule_can_be_off_or_have_another_severity() {
    let document = without_contact();
    for (severity, code, shown) in [
        ("off", 0, "no findings"),
        ("info", 0, "1 note"),
        ("warning", 0, "1 warning"),
        ("error", 1, "1 error"),
    ] {
        let (status, printed) =
            lint(&document, Some(&format!("[rules]\ninfo-contact = \"{severity}\"\n")), &[]);
        assert_eq!(status, Some(code), "{printed}");
        assert!(printed.contains(shown), "{severity}: {printed}");
    }
    // The configuration takes precedence over the profile.
    let (status, printed) =
        lint(&document, Some("profile = \"spec\"\n[rules]\ninfo-contact = \"error\"\n"), &[]);
    assert_eq!(status, Some(1), "{printed}");
}

#[test]
fn an_ignore_covers_its_rule_at_its_place_and_below_and_is_reported_if_unused() {
    let document = without_contact();
    let ignore = |rule: &str, at: &str| {
        format!("[[ignore]]\nrule = \"{rule}\"\nat = \"{at}\"\nreason = \"The team has no address.\"\n")
    };
    let (status, printed) = lint(&document, Some(&ignore("info-contact", "/info")), &[]);
    assert_eq!((status, printed.as_str()), (Some(0), "library.yaml: no findings (1 accepted)\n"));
    for other in [ignore("info-license", "/info"), ignore("info-contact", "/inf")] {
        let (_, printed) = lint(&document, Some(&other), &[]);
        assert!(printed.contains("info-contact"), "{printed}");
        assert!(printed.contains("ignore-unused") && printed.contains("contract.toml:1"), "{printed}");
    }
}

/// The limit of findings of a rule counts those that remain.
#[test]
fn an_ignore_of_many_findings_hides_none_elsewhere() {
    let path = |name: &str, parameters: usize| {
        let parameter = |number| format!("{{name: {name}{number}, in: query, schema: {{type: string}}}}");
        let parameters: Vec<_> = (0..parameters).map(parameter).collect();
        let responses = "responses: {'200': {description: Done.}}";
        format!("  /{name}: {{get: {{parameters: [{}], {responses}}}}}\n", parameters.join(", "))
    };
    let document = LIBRARY.replace("paths:\n", &format!("paths:\n{}{}", path("many", 150), path("one", 1)));
    for (at, rest) in [("many", "Parameter `one0`"), ("one", "50 more findings of `parameter-description`")] {
        let ignore = format!(
            "[[ignore]]\nrule = \"parameter-description\"\nat = \"/paths/~1{at}\"\nreason = \"Generated.\"\n"
        );
        let (_, printed) = lint(&document, Some(&ignore), &["--profile", "strict"]);
        let found: Vec<_> = printed.split("\n\n").filter(|it| it.contains("parameter-description")).collect();
        assert!(found.iter().any(|it| it.contains(rest)), "{at}: {printed}");
        let ignored = format!("`{at}0`");
        assert!(!found.iter().any(|it| it.contains(&ignored)), "{at}: {printed}");
    }
}

#[test]
fn an_undefined_or_invalid_entry_is_an_error_at_its_line() {
    for (text, line, message) in [
        ("profile = \"loose\"\n", 1, "expected one of `spec`, `recommended`, `strict`"),
        ("\nprofil = \"spec\"\n", 2, "Unknown field `profil`, expected one of `profile`"),
        ("\nfoo = \"spec\"\n", 2, "Unknown field `foo`, expected one of"),
        ("[limits]\nfindings_per_rules = 30\n", 2, "expected `findings-per-rule`"),
        ("[limits]\nfindings-per-rule = -1\n", 2, "expected usize"),
        ("[rules]\ninfo-contacts = \"off\"\n", 2, "Did you mean `info-contact`?"),
        ("[rules]\ninfo-contact = \"loud\"\n", 2, "expected one of `error`, `warning`, `info`, `off`"),
        (
            "[[ignore]]\nrule = \"info-contact\"\nat = \"\"\nreason = \"\"\n",
            4,
            "`reason` is empty; write why",
        ),
        ("[[ignore]]\nrule = \"info-contact\"\nreason = \"x\"\n", 1, "requires `at`, `operation` or `path`"),
        (
            "[[waiver]]\nrule = \"info-contact\"\nreason = \"x\"\nuntil = 2027-01-31\n",
            1,
            "requires `at`, `operation` or `path`",
        ),
        (
            "[[waiver]]\nrule = \"info-contact\"\nat = \"\"\nreason = \"x\"\nuntil = \"soon\"\n",
            5,
            "`until` is a date",
        ),
        (
            "[[waiver]]\nrule = \"info-contact\"\nat = \"\"\nreason = \"x\"\nrelease = \"next\"\n",
            5,
            "`release` is a version",
        ),
        (
            "[[waiver]]\nrule = \"info-contact\"\nat = \"\"\nreason = \"x\"\n",
            1,
            "either `release` or `until`",
        ),
        (
            "[[waiver]]\nrule = \"info-contact\"\nat = \"\"\nreason = \"x\"\nrelease = \"1.1.0\"\nuntil = 2027-01-31\n",
            1,
            "either `release` or `until`",
        ),
        (
            "[[waiver]]\nrule = \"info-contact\"\nat = \"\"\nreason = \"x\"\nuntil = 2027-01-31\n",
            1,
            "write `[[ignore]]`",
        ),
        (
            "[[ignore]]\nrule = \"request-max-decreased\"\nat = \"\"\nreason = \"x\"\n",
            1,
            "write `[[waiver]]`",
        ),
        (
            "[[ignore]]\nrule = \"info-contact\"\nat = \"\"\nreason = \"x\"\nuntil = 2027-01-31\n",
            1,
            "nly a `[[waiver]]` has",
        ),
        ("[[ignore]]\nrule = \"info-contact\"\npath = \"/***\"\nreason = \"x\"\n", 3, "patterns such as"),
        (
            "[rules]\n\"request-parameter-max-decrease\" = \"off\"\n",
            2,
            "Did you mean `request-parameter-max-decreased`?",
        ),
        ("profile = [\n", 1, ""),
    ] {
        let (status, printed) = lint(LIBRARY, Some(text), &[]);
        assert_eq!(status, Some(2), "{text}: {printed}");
        assert!(printed.contains(message), "{text}: {printed}");
        assert!(printed.contains(&format!("contract.toml:{line}:")), "{text}: {printed}");
    }
    let (status, printed) = lint(LIBRARY, None, &["--config", "missing.toml"]);
    assert_eq!(status, Some(2), "{printed}");
    assert!(printed.contains("missing.toml"), "{printed}");
}

#[test]
fn the_nearest_file_above_the_document_in_its_repository_applies() {
    let workplace = Workplace::new(&[(FILE, "profile = [\n")]);
    for directory in ["inside/.git", "inside/api/v1", "inside/other"] {
        fs::create_dir_all(workplace.path(directory)).unwrap();
    }
    let document = without_contact();
    workplace.write("inside/api/v1/library.yaml", document.as_bytes());
    let is_reported = |here: &str, name: &str| {
        let mut command = workplace.command(&["lint", name, "--today", TODAY]);
        let output = command.current_dir(workplace.path(here)).output().unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(printed.ends_with("1 warning\n") || printed.ends_with("no findings\n"), "{printed}");
        printed.contains("info-contact")
    };
    let from_everywhere = || {
        let names = [
            ("inside/api/v1", "library.yaml"),
            ("inside", "api/v1/library.yaml"),
            ("inside/other", "../api/v1/library.yaml"),
            ("inside/api/v1", "../../api/v1/library.yaml"),
        ];
        names.map(|(here, name)| is_reported(here, name))
    };
    // The file above the repository does not apply.
    assert_eq!(from_everywhere(), [true; 4]);
    workplace.write("inside/other/contract.toml", b"profile = [\n");
    workplace.write("inside/contract.toml", b"profile = \"spec\"\n");
    assert_eq!(from_everywhere(), [false; 4]);
    assert!(!is_reported("", &workplace.path("inside/api/v1/library.yaml").display().to_string()));
    workplace.write("inside/api/contract.toml", b"profile = \"recommended\"\n");
    assert_eq!(from_everywhere(), [true; 4]);
    std::os::unix::fs::symlink("nowhere", workplace.path("inside/api/v1/contract.toml")).unwrap();
    let (status, printed) = workplace.run(&["lint", "inside/api/v1/library.yaml"]);
    assert!(status == Some(2) && printed.contains("inside/api/v1/contract.toml"), "{printed}");
}

#[test]
fn the_limits_can_be_set() {
    let operation = "operationId: listBooks\n";
    let sunset = "deprecated: true\n      x-sunset: '2026-12-21'\n";
    let deprecated = edited(operation, &format!("{operation}      {sunset}"));
    for (days, found) in [(29, false), (30, true)] {
        let limits = format!("[limits]\nsunset-days = {days}\n");
        let (_, printed) = lint(&deprecated, Some(&limits), &["--profile", "strict"]);
        assert_eq!(printed.contains("sunset-near"), found, "{days}: {printed}");
    }
    let parameters: Vec<_> =
        (0..6).map(|number| format!("{{name: n{number}, in: query, schema: {{type: string}}}}")).collect();
    let path = format!(
        "  /many: {{get: {{parameters: [{}], responses: {{'200': {{description: Done.}}}}}}}}\n",
        parameters.join(", ")
    );
    let document = LIBRARY.replace("paths:\n", &format!("paths:\n{path}"));
    let limits = "[limits]\nfindings-per-rule = 4\n";
    let (_, printed) = lint(&document, Some(limits), &["--profile", "strict"]);
    assert!(printed.contains("2 more findings of `parameter-description`"), "{printed}");
}

#[test]
fn a_waiver_allows_a_breaking_change_until_its_date() {
    let revision = edited("maximum: 100\n", "maximum: 50\n").replace("version: 1.0.0", "version: 1.1.0");
    let workplace = Workplace::new(&[("old.yaml", LIBRARY), ("new.yaml", &revision)]);
    let (status, printed) = workplace.run(&["breaking", "old.yaml", "new.yaml", "--today", TODAY]);
    assert_eq!(status, Some(1), "{printed}");
    let rule = printed.split_once("error[request-").and_then(|(_, rest)| rest.split_once(']')).unwrap().0;
    let waiver = format!(
        "[[waiver]]\nrule = \"request-{rule}\"\noperation = \"listBooks\"\nreason = \"No client asks for more.\"\n\
         until = 2026-12-31\n"
    );
    workplace.write(FILE, waiver.as_bytes());
    let (status, printed) = workplace.run(&["breaking", "old.yaml", "new.yaml", "--today", TODAY]);
    assert_eq!(status, Some(0), "{printed}");
    assert!(printed.contains("No client asks for more."), "{printed}");
    let (status, printed) = workplace.run(&["breaking", "old.yaml", "new.yaml", "--today", "2027-01-01"]);
    assert_eq!(status, Some(1), "{printed}");
    assert!(printed.contains("waiver-expired") && printed.contains("contract.toml:1"), "{printed}");
}

/// Returns what `lint` prints about a summary that an operation on `/books` lacks.
fn without_summary(exception: &str) -> String {
    let document = edited("      summary: List books\n", "");
    lint(&document, Some(&format!("[[ignore]]\n{exception}\nreason = \"Known.\"\n")), &[]).1
}

#[test]
fn an_ignore_covers_operations_and_paths_by_patterns() {
    for (exception, covers) in [
        ("rule = \"operation-summary\"\noperation = \"listBooks\"", true),
        ("rule = \"operation-summary\"\noperation = \"list*\"", true),
        ("rule = \"operation-summary\"\noperation = \"create*\"", false),
        ("rule = \"operation-summary\"\npath = \"/b*\"", true),
        ("rule = \"operation-summary\"\npath = \"/**\"", true),
        ("rule = \"operation-summary\"\npath = \"/*/*\"", false),
        ("rule = \"operation-summary\"\npath = \"/books\"\noperation = \"get*\"", false),
        ("rule = \"operation-summary\"\npath = \"/books\"\nat = \"/components\"", false),
        ("rule = \"operation-description\"\npath = \"/books\"", false),
        ("rule = \"*\"\npath = \"/books\"", true),
    ] {
        let printed = without_summary(exception);
        assert_eq!(printed.contains("operation-summary]"), !covers, "{exception}: {printed}");
        assert_eq!(printed.contains("(1 accepted)"), covers, "{exception}: {printed}");
    }
}

#[test]
fn a_waiver_covers_operations_and_paths_by_patterns() {
    let limit = edited("maximum: 100\n", "maximum: 50\n");
    let error = LIBRARY.replace("minimum: 400", "minimum: 300");
    let start = LIBRARY.find("  /books/{").unwrap();
    let removed = format!("{}{}", &LIBRARY[..start], &LIBRARY[LIBRARY.find("components:\n").unwrap()..]);
    for (revision, scope, covers) in [
        (&limit, "operation = \"list*\"", true),
        (&limit, "operation = \"get*\"", false),
        (&limit, "path = \"/books\"", true),
        (&limit, "path = \"/other/**\"", false),
        (&limit, "at = \"/paths/~1books\"", true),
        (&limit, "at = \"/paths/~1book\"", false),
        // A response of three operations, on two paths.
        (&error, "path = \"/books\"", false),
        (&error, "path = \"/**\"", true),
        (&error, "operation = \"list*\"", false),
        (&error, "operation = \"*Book*\"", true),
        (&removed, "path = \"/books/*\"", true),
        (&removed, "path = \"/books\"", false),
    ] {
        let waiver = format!("[[waiver]]\nrule = \"*\"\n{scope}\nreason = \"Known.\"\nuntil = 2027-01-31\n");
        let revision = revision.replace("version: 1.0.0", "version: 1.1.0");
        let workplace = Workplace::new(&[("old.yaml", LIBRARY), ("new.yaml", &revision), (FILE, &waiver)]);
        let (status, printed) = workplace.run(&["breaking", "old.yaml", "new.yaml", "--today", TODAY]);
        assert_eq!(status, Some(i32::from(!covers)), "{scope}: {printed}");
        assert_eq!(printed.contains("waiver-unused"), !covers, "{scope}: {printed}");
    }
}

#[test]
fn names_of_other_programs_stand_for_all_their_rules() {
    let breaking = |rules: &str| {
        let revision = edited("maximum: 100\n", "maximum: 50\n").replace("version: 1.0.0", "version: 1.1.0");
        let workplace = Workplace::new(&[("old.yaml", LIBRARY), ("new.yaml", &revision), (FILE, rules)]);
        workplace.run(&["breaking", "old.yaml", "new.yaml", "--today", TODAY]).0
    };
    for (rules, status) in [
        ("\"request-parameter-max-decreased\" = \"warning\"", 0),
        // The rule's own name has precedence.
        ("\"request-parameter-max-decreased\" = \"warning\"\n\"request-max-decreased\" = \"error\"", 1),
        ("\"*\" = \"off\"", 0),
        ("\"*\" = \"off\"\n\"request-parameter-max-decreased\" = \"error\"", 1),
    ] {
        assert_eq!(breaking(&format!("[rules]\n{rules}\n")), Some(status), "{rules}");
    }
    let waiver = "[[waiver]]\nrule = \"request-parameter-max-decreased\"\npath = \"/books\"\nreason = \"r\"\nuntil = 2027-01-31\n";
    assert_eq!(breaking(waiver), Some(0));
}

#[test]
fn a_document_accepts_findings_of_its_parts() {
    let operation = "      operationId: listBooks\n";
    for (mark, found, others) in [
        ("operation-summary", 0, ""),
        ("[operation-summary]", 0, ""),
        ("{operation-summary: 'Generated, see #1.'}", 0, ""),
        ("['*']", 0, ""),
        ("[operation-description]", 1, "ignore-unused"),
        ("[operation-sumary]", 1, "Did you mean `operation-summary`?"),
        // A rule of `breaking` has no effect here.
        ("[request-max-decreased]", 1, ""),
    ] {
        let document = edited("      summary: List books\n", &format!("      x-contract-ignore: {mark}\n"));
        let (_, printed) = lint(&document, None, &[]);
        assert_eq!(printed.matches("operation-summary]").count(), found, "{mark}: {printed}");
        assert_eq!(printed.matches("(1 accepted)").count(), 1 - found, "{mark}: {printed}");
        assert!(
            printed.contains(others) && printed.contains("ignore") != others.is_empty(),
            "{mark}: {printed}"
        );
        let (_, json) = lint(&document, None, &["--format", "json"]);
        assert_eq!(json.contains("see #1."), mark.contains("see #1."), "{json}");
    }
    // It is not a change of the contract, in either version.
    let marked = edited(operation, &format!("{operation}      x-contract-ignore: [request-max-decreased]\n"));
    let with = |text: &str| {
        text.replace("maximum: 100\n", "maximum: 50\n").replace("version: 1.0.0", "version: 1.1.0")
    };
    for (old, new, status) in [
        (LIBRARY, marked.as_str(), 0),
        (&marked, LIBRARY, 0),
        (LIBRARY, &with(LIBRARY), 1),
        (LIBRARY, &with(&marked), 0),
        (&marked, &with(LIBRARY), 0),
    ] {
        let workplace = Workplace::new(&[("old.yaml", old), ("new.yaml", new)]);
        let (found, printed) = workplace.run(&["breaking", "old.yaml", "new.yaml", "--today", TODAY]);
        assert_eq!(found, Some(status), "{printed}");
    }
}
