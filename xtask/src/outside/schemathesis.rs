//! Schemathesis: requests that the document allows and requests that it does not, by the thousand, and each
//! answer held against the document.
//!
//! `tests/strangers/python/schemathesis.toml` says what it does. Here is what must have come of it, so that a
//! setting that leaves something out is noticed.

use std::fs;
use std::time::Duration;

use serde_json::Value;

use super::Place;
use super::service::Service;
use crate::process::run;

const LIMIT: Duration = Duration::from_secs(540);
/// A run with fewer has left something out.
const CASES: u64 = 3000;
const PHASES: [&str; 4] = ["examples", "coverage", "fuzzing", "stateful"];

/// Runs it.
///
/// # Errors
/// What it found, or what it left out.
pub(super) fn run_all(place: &Place) -> Result<String, String> {
    let python = place.directory.join("python");
    let file = place.logs().join("schemathesis.json");
    let service = Service::start(place, "schemathesis")?;
    let mut command = place.python_command("st");
    command.args(["--config-file", "schemathesis.toml", "run"]).arg(&place.document);
    command.args(["--url", &service.url, "--no-color", "--report", "json", "--report-json-path"]).arg(&file);
    command.current_dir(&python).env("PYTHONPATH", &python);
    place.tell(&mut command, &service);
    let ran = run("schemathesis", &mut command, &place.logs(), LIMIT);
    service.stop()?;
    ran?;
    let wrong = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
    let report = fs::read(&file).map_err(|error| wrong(&error))?;
    judge(&serde_json::from_slice(&report).map_err(|error| wrong(&error))?)
}

/// Whether a run that went well was a whole one.
fn judge(report: &Value) -> Result<String, String> {
    let count = |pointer: &str| {
        let value = report.pointer(pointer).and_then(Value::as_u64);
        value.ok_or_else(|| format!("its report has no number at {pointer}"))
    };
    let (total, tested) = (count("/operations/total")?, count("/operations/tested")?);
    let (cases, failed) = (count("/test_cases/generated")?, count("/test_cases/with_failures")?);
    let errors = count("/test_cases/errored")?;
    let phases = report["phases"].as_object().ok_or("its report has no phases")?;
    let whole = PHASES.iter().all(|phase| phases.get(*phase).is_some_and(|it| it["status"] == "success"));
    let none = |list: &str| report[list].as_array().is_some_and(Vec::is_empty);
    let warnings = report["warnings"].as_object().ok_or("its report has no warnings")?;
    let quiet = warnings.values().all(|all| all.as_array().is_some_and(Vec::is_empty));
    let summary = format!("{cases} cases, {failed} failures, {tested} of {total} operations");
    if total == 0 || tested != total || cases < CASES || !whole {
        return Err(format!("something was left out: {summary}, phases {phases:?}"));
    }
    if failed + errors > 0 || !none("failures") || !none("errors") || !quiet {
        return Err(format!("{summary}, {errors} errors, warnings {warnings:?}"));
    }
    Ok(summary)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
    fn a_whole_run_without_failures_is_good() {
        assert_eq!(judge(&report()).unwrap(), "3500 cases, 0 failures, 3 of 3 operations");
    }

    #[test]
    fn a_run_that_left_something_out_or_failed_is_not() {
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
            assert!(judge(&report).is_err(), "{pointer}");
        }
    }
}
