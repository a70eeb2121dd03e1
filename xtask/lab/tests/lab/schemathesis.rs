//! Evaluation of Schemathesis' report.

use lab::interop::schemathesis::check_report;
use serde_json::{Value, json};

const PHASES: [&str; 4] = ["examples", "coverage", "fuzzing", "stateful"];

fn report() -> Value {
    let phases: serde_json::Map<_, _> =
        PHASES.iter().map(|phase| ((*phase).to_owned(), json!({"status": "success"}))).collect();
    json!({
        "operations": {"total": 3, "tested": 3},
        "phases": phases,
        "test_cases": {"generated": 3500, "with_failures": 0, "errored": 0},
        "warnings": {"missing_auth": []},
        "failures": [],
        "errors": [],
    })
}

#[test]
fn a_complete_run_without_failures_passes() {
    assert_eq!(check_report(&report()).unwrap(), "3500 cases, 0 failures, 3 of 3 operations");
}

#[test]
fn an_incomplete_or_failed_run_is_an_error() {
    for (pointer, value) in [
        ("/operations/tested", json!(2)),
        ("/operations/total", json!(0)),
        ("/test_cases/generated", json!(2999)),
        ("/phases/stateful/status", json!("skip")),
        ("/test_cases/with_failures", json!(1)),
        ("/test_cases/errored", json!(1)),
        ("/failures", json!([{"code": "ST202"}])),
        ("/errors", json!([{"title": "Network Error"}])),
        ("/warnings/missing_auth", json!(["GET /pets"])),
        ("/phases", json!(null)),
    ] {
        let mut report = report();
        *report.pointer_mut(pointer).unwrap() = value;
        assert!(check_report(&report).is_err(), "{pointer}");
    }
}
