//! The version check and the waivers.

use checks::config::Config;
use checks::outcome::{FailOn, Outcome};

use super::documents::{LIBRARY, TODAY, document, edit};

fn breaking() -> String {
    edit(LIBRARY, "- name: limit", "maximum: 100", "maximum: 50").0
}

fn additive() -> String {
    edit(LIBRARY, "- name: limit", "maximum: 100", "maximum: 200").0
}

fn words() -> String {
    edit(LIBRARY, "", "title: Library", "title: Books").0
}

fn outcome(base: &str, revision: &str, version: &str, waivers: &str) -> Outcome {
    let (revision, _) = edit(revision, "", "version: 1.0.0", &format!("version: {version}"));
    let waivers = Config::parse("contract.toml".to_owned(), waivers.to_owned()).unwrap();
    Outcome::of(&document("base.yaml", base), &document("new.yaml", &revision), &waivers, TODAY)
}

#[test]
fn the_version_must_increase_with_the_contract() {
    for (revision, version, rule, exit_code) in [
        (words(), "1.0.0", "", 0),
        (words(), "1.0.1", "", 0),
        (words(), "0.9.0", "api-version-decreased", 1),
        (words(), "1.0.0-rc.1", "api-version-decreased", 1),
        (additive(), "1.0.0", "api-version-not-bumped", 1),
        (additive(), "1.0.0+build", "api-version-not-bumped", 1),
        (additive(), "1.0.7", "api-minor-version-not-bumped", 1),
        (additive(), "1.1.0", "", 0),
        (additive(), "2.0.0", "", 0),
        (breaking(), "1.0.0", "api-version-not-bumped", 1),
        (breaking(), "1.1.0", "api-major-version-not-bumped", 1),
        (breaking(), "2.0.0", "", 0),
        (breaking(), "2.0.0-rc.1", "", 0),
        (breaking(), "two", "api-version-unreadable", 1),
        (words(), "one", "api-version-unreadable", 0),
        (words(), "v1", "api-version-unreadable", 0),
        (words(), "'1.0'", "", 0),
        (words(), "v1.0.1", "", 0),
        (additive(), "'1.0'", "api-version-not-bumped", 1),
        (additive(), "v1.1", "", 0),
        // A number, where a string is expected: the document is not understood.
        (words(), "1", "api-version-unreadable", 2),
    ] {
        let outcome = outcome(LIBRARY, &revision, version, "");
        let said = outcome.version.as_ref().map(|change| change.rule.name).unwrap_or_default();
        assert_eq!(said, rule, "{version}");
        assert_eq!(outcome.exit_code(FailOn::Error), exit_code, "{version}");
        let any = exit_code.max(u8::from(revision == breaking()));
        assert_eq!(outcome.exit_code(FailOn::Breaking), any, "{version}");
    }
}

#[test]
fn the_severity_decides_the_version_too() {
    for (revision, version, severity, rule) in [
        (breaking(), "1.1.0", "error", "api-major-version-not-bumped"),
        (breaking(), "1.1.0", "warning", ""),
        (breaking(), "1.1.0", "info", ""),
        (breaking(), "1.0.1", "info", "api-minor-version-not-bumped"),
        (breaking(), "1.0.0", "off", ""),
    ] {
        let rules = format!("[rules]\n\"request-max-decreased\" = \"{severity}\"\n");
        let said = outcome(LIBRARY, &revision, version, &rules).version.map(|change| change.rule.name);
        assert_eq!(said.unwrap_or_default(), rule, "{severity}");
    }
}

#[test]
fn documents_with_other_versions_are_compared() {
    let dated =
        |text: &str, version: &str| edit(text, "", "version: 1.0.0", &format!("version: '{version}'")).0;
    for (base, revision, rule, words, exit_code) in [
        (dated(LIBRARY, "2026-10"), dated(LIBRARY, "2026-10"), "", "", 0),
        (
            dated(LIBRARY, "2026-10"),
            dated(&words(), "2026-11"),
            "api-version-unreadable",
            "`2026-11`, which is not a version",
            0,
        ),
        (
            dated(LIBRARY, "2026-10"),
            dated(&additive(), "2026-11"),
            "api-version-unreadable",
            "but one change needs a new version",
            0,
        ),
        (
            dated(LIBRARY, "2026-10"),
            dated(&breaking(), "2026-11"),
            "api-version-unreadable",
            "but one breaking change needs a new major version",
            1,
        ),
    ] {
        let config = Config::default();
        let outcome =
            Outcome::of(&document("base.yaml", &base), &document("new.yaml", &revision), &config, TODAY);
        let version = outcome.version.as_ref();
        assert_eq!(version.map(|change| change.rule.name).unwrap_or_default(), rule);
        let what = version.map(|change| change.what.as_str()).unwrap_or_default();
        assert!(what.contains(words), "{what}");
        assert_eq!(outcome.exit_code(FailOn::Error), exit_code, "{what}");
    }
}

#[test]
fn a_change_of_generated_clients_requires_the_version_of_its_severity() {
    let (renamed, _) = edit(LIBRARY, "", "operationId: listBooks", "operationId: allBooks");
    for (severity, version, rule, exit_code) in [
        ("info", "1.0.0", "api-version-not-bumped", 1),
        ("info", "1.0.1", "", 0),
        ("warning", "1.0.1", "api-minor-version-not-bumped", 1),
        ("warning", "1.1.0", "", 0),
        ("error", "1.1.0", "api-major-version-not-bumped", 1),
        ("error", "2.0.0", "", 0),
        ("off", "1.0.0", "", 0),
    ] {
        let config = format!("[rules]\n\"api-operation-id-removed\" = \"{severity}\"\n");
        let outcome = outcome(LIBRARY, &renamed, version, &config);
        let said = outcome.version.as_ref().map(|change| change.rule.name).unwrap_or_default();
        assert_eq!(said, rule, "{severity} {version}");
        assert_eq!(outcome.exit_code(FailOn::Error), exit_code, "{severity} {version}");
    }
}

#[test]
fn the_message_names_the_required_version_and_the_reason() {
    let outcome = outcome(LIBRARY, &breaking(), "1.1.0", "");
    let version = outcome.version.unwrap();
    assert_eq!((version.place.pointer.as_str(), version.place.span.line), ("/info/version", 5));
    assert_eq!(version.sentence(), "`info.version` is 1.1.0, but one breaking change needs 2.0.0 or later");
}

#[test]
fn before_1_0_0_a_breaking_change_requires_a_new_minor_version() {
    let old = |text: &str| edit(text, "", "version: 1.0.0", "version: 0.3.1").0;
    for (revision, version, rule) in [
        (breaking(), "0.3.2", "api-major-version-not-bumped"),
        (breaking(), "0.4.0", ""),
        (additive(), "0.3.2", ""),
        (additive(), "0.3.1", "api-version-not-bumped"),
    ] {
        let outcome = outcome(&old(LIBRARY), &revision, version, "");
        let said = outcome.version.as_ref().map(|change| change.rule.name).unwrap_or_default();
        assert_eq!(said, rule, "{version}");
    }
}

/// The version that the changes need allows them, except where versions do not follow the changes.
#[test]
fn a_break_passes_with_the_version_that_it_needs() {
    let off = |rule: &str| format!("[rules]\n\"{rule}\" = \"off\"\n");
    for (base, version, configuration, passes) in [
        ("1.0.0", "2.0.0", String::new(), true),
        ("v1.0", "v2.0", String::new(), true),
        ("1.0.0", "3.4.5", String::new(), true),
        ("1.0.0", "2.0.0-rc.1", String::new(), true),
        ("0.3.1", "0.4.0", String::new(), true),
        ("2.0.0-rc.1", "2.0.0-rc.2", String::new(), true),
        ("0.3.1", "0.3.2", off("api-major-version-not-bumped"), false),
        ("1.0.0", "1.0.0", off("api-version-not-bumped"), false),
        ("2026-10", "2026-11", off("api-version-unreadable"), false),
    ] {
        let dated =
            |text: &str, version: &str| text.replacen("version: 1.0.0", &format!("version: '{version}'"), 1);
        let (base, revision) = (dated(LIBRARY, base), dated(&breaking(), version));
        let config = Config::parse("contract.toml".to_owned(), configuration).unwrap();
        let outcome =
            Outcome::of(&document("base.yaml", &base), &document("new.yaml", &revision), &config, TODAY);
        assert_eq!(outcome.exit_code(FailOn::Error), u8::from(!passes), "{version}");
        assert_eq!(outcome.exit_code(FailOn::Warning), u8::from(!passes), "{version}");
        assert_eq!(outcome.exit_code(FailOn::Breaking), 1, "{version}");
        let finding = outcome.changes[0].finding();
        assert_eq!(finding.fix.starts_with("Released as "), passes, "{finding:?}");
        assert_eq!(finding.accepted.is_some(), passes, "{finding:?}");
        assert_eq!(
            outcome.summary().starts_with("1 breaking change, released as "),
            passes,
            "{}",
            outcome.summary()
        );
    }
}

/// After a pre-release, any later version is enough (semver.org, items 9 and 11).
#[test]
fn a_prerelease_promises_no_compatibility() {
    for (base, version, rule, least) in [
        ("2.0.0-rc.1", "2.0.0", "", ""),
        ("2.0.0-rc.1", "2.0.0-rc.2", "", ""),
        ("2.0.0-rc.2", "2.0.0-rc.10", "", ""),
        ("2.0.0-rc.1", "2.0.0-rc.1+build", "api-version-not-bumped", "2.0.0 or"),
        ("2.0.0-rc.2", "2.0.0-rc.1", "api-version-decreased", "2.0.0 or"),
        ("1.0.0", "2.0.0-rc.1", "", ""),
        ("1.0.0", "1.1.0-rc.1", "api-major-version-not-bumped", "2.0.0 or"),
    ] {
        let old = LIBRARY.replacen("version: 1.0.0", &format!("version: {base}"), 1);
        let version_problem = outcome(&old, &breaking(), version, "").version;
        let said = version_problem.as_ref().map(|change| change.rule.name).unwrap_or_default();
        let what = version_problem.map(|change| change.what).unwrap_or_default();
        assert_eq!(said, rule, "{base} to {version}");
        assert!(what.contains(least), "{what}");
    }
}

#[test]
fn the_configuration_applies_to_the_version() {
    let waiver = "[[waiver]]\nrule = \"api-minor-version-not-bumped\"\nat = \"/info/version\"\nreason = \"Planned.\"\n";
    let severity = |it: &str| format!("[rules]\napi-minor-version-not-bumped = \"{it}\"\n");
    for (configuration, reported, fails) in [
        (String::new(), true, 1),
        (severity("warning"), true, 0),
        (severity("info"), true, 0),
        (severity("off"), false, 0),
        (waiver.to_owned() + "until = 2027-01-31\n", true, 0),
        (waiver.to_owned() + "release = \"1.0.1\"\n", true, 0),
    ] {
        let outcome = outcome(LIBRARY, &additive(), "1.0.1", &configuration);
        assert_eq!(outcome.version.is_some(), reported, "{configuration}");
        assert_eq!(outcome.exit_code(FailOn::Error), fails, "{configuration}");
        assert_eq!(waiver_rules(&outcome), [""; 0], "{configuration}");
    }
}

const GOOD: &str = r#"
[[waiver]]
rule = "request-max-decreased"
operation = "listBooks"
reason = "No client asks for more than 50."
until = 2027-01-31
"#;

fn waiver_rules(outcome: &Outcome) -> Vec<String> {
    outcome.waivers.iter().map(|change| format!("{} {}", change.rule.severity, change.rule.name)).collect()
}

#[test]
fn a_waived_change_does_not_break() {
    let pointer =
        GOOD.replace("operation = \"listBooks\"", "at = \"/paths/~1books/get/parameters/0/schema/maximum\"");
    let text_date = GOOD.replace("2027-01-31", "\"2026-11-21\"");
    for waivers in [GOOD, &pointer, &text_date] {
        let outcome = outcome(LIBRARY, &breaking(), "1.1.0", waivers);
        assert_eq!(waiver_rules(&outcome), [""; 0]);
        let waived = outcome.changes[0].waived.as_deref();
        assert_eq!(waived, Some("No client asks for more than 50."));
        assert!(outcome.version.is_none());
        assert_eq!(outcome.exit_code(FailOn::Error), 0);
        assert!(outcome.summary().contains("(1 waived)"), "{}", outcome.summary());
    }
    let same_version = outcome(LIBRARY, &breaking(), "1.0.0", GOOD);
    assert_eq!(same_version.version.unwrap().rule.name, "api-version-not-bumped");
}

#[test]
fn a_waiver_for_a_release_has_effect_on_that_version_only_and_is_kept_afterwards() {
    let waiver = GOOD.replace("until = 2027-01-31", "release = \"1.1.0\"");
    let of = |base: &str, version| outcome(base, &breaking(), version, &waiver);
    let released = of(LIBRARY, "1.1.0");
    assert!(released.version.is_none() && released.changes[0].waived.is_some());
    assert_eq!(waiver_rules(&released), [""; 0]);
    let other = of(LIBRARY, "1.2.0");
    assert_eq!(other.version.unwrap().rule.name, "api-major-version-not-bumped");
    assert!(other.changes[0].waived.is_none());
    // The document after the release, and its next version.
    let document = breaking().replace("version: 1.0.0", "version: 1.1.0");
    for version in ["1.1.0", "1.1.1"] {
        assert_eq!(waiver_rules(&of(&document, version)), [""; 0], "{version}");
    }
    let unused = outcome(LIBRARY, LIBRARY, "1.1.0", &waiver);
    assert_eq!(waiver_rules(&unused), ["warning waiver-unused"]);
}

#[test]
fn an_invalid_waiver_has_no_effect_and_is_reported_with_its_line() {
    for (old, new, rule, words) in [
        ("2027-01-31", "2026-11-20", "error waiver-expired", "2026-11-20"),
        ("request-max-decreased", "request-body-removed", "warning waiver-unused", "no change"),
        ("listBooks", "createBook", "warning waiver-unused", "no change"),
    ] {
        assert!(GOOD.contains(old), "{old}");
        let outcome = outcome(LIBRARY, &breaking(), "2.0.0", &GOOD.replace(old, new));
        assert_eq!(waiver_rules(&outcome), [rule], "{new}");
        let finding = &outcome.waivers[0];
        assert!(finding.what.contains(words), "{}", finding.what);
        assert_eq!((finding.place.file.as_str(), finding.place.span.line), ("contract.toml", 2));
        assert!(outcome.changes.iter().all(|change| change.waived.is_none()));
        // The version allows the change, but an expired waiver must go.
        assert_eq!(outcome.exit_code(FailOn::Error), u8::from(rule.starts_with("error")));
    }
}

#[test]
fn a_waiver_for_one_operation_does_not_cover_a_change_of_several() {
    let (revision, _) = edit(LIBRARY, "    Error:", "minimum: 400", "minimum: 300");
    let waiver = GOOD.replace("request-max-decreased", "response-min-decreased");
    let outcome = outcome(LIBRARY, &revision, "2.0.0", &waiver);
    assert_eq!(waiver_rules(&outcome), ["warning waiver-unused"]);
    assert_eq!(outcome.changes[0].operations, ["listBooks", "createBook", "getBook"]);
}
