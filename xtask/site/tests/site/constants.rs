//! What the build script reads from the document.

use site::embedded;

const TEXT: &str = "\
openapi: 3.0.3
info: {version: 2.3.4, title: Toys}
paths:
  /toys/{toyId}:
    get: {operationId: getToy, x-deprecated-since: SINCE, x-sunset: SUNSET, x-successor: /toys}
";

/// Returns the Rust for a document with these dates of deprecation.
fn constants(since: &str, sunset: &str) -> String {
    let text = TEXT.replace("SINCE", since).replace("SUNSET", sunset);
    let (shown, constants) = embedded::constants(&text).unwrap();
    let json = format!(
        r#"{{"openapi":"3.0.3","info":{{"version":"2.3.4","title":"Toys"}},"paths":{{"/toys/{{toyId}}":{{"get":{{"operationId":"getToy","x-deprecated-since":"{since}","x-sunset":"{sunset}","x-successor":"/toys"}}}}}}}}"#
    );
    assert_eq!(shown, json, "in the order of the file");
    constants
}

#[test]
fn they_follow_the_document() {
    let rust = constants("2026-11-22", "2031-01-02");
    for part in [
        "version: \"2.3.4\"",
        "operation_id: \"getToy\", since: 1795305600, sunset: \"Thu, 02 Jan 2031 00:00:00 GMT\", successor: \"/toys\"",
    ] {
        assert!(rust.contains(part), "{part} is not in {rust}");
    }
    let other = constants("2026-11-21", "2030-12-05");
    assert!(other.contains("since: 1795219200, sunset: \"Thu, 05 Dec 2030 00:00:00 GMT\""), "{other}");
}

#[test]
fn an_unusable_date_leaves_the_deprecation_out() {
    assert!(constants("soon", "2031-01-02").contains("deprecations: &[]"));
    assert!(constants("2026-11-22", "2031-02-30").contains("deprecations: &[]"));
}

#[test]
fn an_invalid_document_is_an_error() {
    let problem = embedded::constants("openapi: [").err().unwrap();
    assert!(problem.contains("line 1") || problem.contains(":1"), "{problem}");
    assert!(embedded::constants("openapi: 3.0.3").err().unwrap().contains("info.version"));
}
