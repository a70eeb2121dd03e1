//! `cargo xtask licences`: which crates are allowed.

use project::licences::{Crate, check_all};

const DENY: &str = r#"
[licenses]
allow = ["MIT", "Apache-2.0"]
exceptions = [{ crate = "special", allow = ["MPL-2.0"] }]
"#;
const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Returns what is wrong with a crate, if anything.
fn problem_of(name: &str, license: Option<&str>, source: &str) -> Option<String> {
    let one = |name: &str, licence: Option<&str>, source: Option<&str>| Crate {
        name: name.to_owned(),
        version: "1.0.0".to_owned(),
        licence: licence.map(str::to_owned),
        source: source.map(str::to_owned),
    };
    let crates = [one(name, license, Some(source)), one("own", None, None)];
    let (count, findings) = check_all(DENY, &crates).unwrap();
    assert_eq!(count, 1, "members of the workspace must not be checked");
    assert!(findings.len() <= 1, "{findings:?}");
    findings.into_iter().next()
}

#[test]
fn an_expression_is_evaluated_as_a_whole() {
    for fine in ["MIT", "MIT OR GPL-3.0-only", "MIT/GPL-3.0", "MIT AND Apache-2.0"] {
        assert_eq!(problem_of("some", Some(fine), CRATES_IO), None, "{fine}");
    }
    for bad in ["GPL-3.0-only", "MIT AND GPL-3.0-only", "Apache-2.0 WITH LLVM-exception", "MPL-2.0"] {
        assert!(problem_of("some", Some(bad), CRATES_IO).is_some(), "{bad}");
    }
    let invalid = problem_of("some", Some("do what you like"), CRATES_IO).unwrap();
    assert!(invalid.contains("is not a licence expression"), "{invalid}");
}

#[test]
fn an_exception_applies_to_its_crate_only() {
    assert_eq!(problem_of("special", Some("MPL-2.0"), CRATES_IO), None);
}

#[test]
fn another_source_and_a_missing_licence_are_reported() {
    let elsewhere = problem_of("some", Some("MIT"), "git+https://example.org/some").unwrap();
    assert!(elsewhere.contains("crates.io"), "{elsewhere}");
    let without = problem_of("some", None, CRATES_IO).unwrap();
    assert!(without.contains("does not declare a licence"), "{without}");
}
