//! Schemathesis: requests that the document allows and requests that it does not, by the thousand, and each
//! answer held against the document.
//!
//! `tests/third_party/python/schemathesis.toml` says what it does. Here is what must have come of it, so that a
//! setting that leaves something out is noticed.

use std::fs;

use serde_json::Value;

use super::Place;
use crate::workspace::in_file;

/// A run with fewer has left something out.
const CASES: u64 = 3000;
const PHASES: [&str; 4] = ["examples", "coverage", "fuzzing", "stateful"];

/// Runs it.
pub(super) fn run_all(place: &Place) -> Result<String, String> {
    let file = place.directory.join("logs/schemathesis.json");
    place.run_beside_service("schemathesis", |url| {
        let mut command = place.python("st");
        command.args(["--config-file", "schemathesis.toml", "run"]).arg(&place.document);
        command.args(["--url", url, "--no-color", "--report", "json", "--report-json-path"]).arg(&file);
        command.env("PYTHONPATH", place.directory.join("python"));
        command
    })?;
    let report = fs::read(&file).map_err(in_file(&file))?;
    judge(&serde_json::from_slice(&report).map_err(in_file(&file))?)
}

/// Checks in the report that the run was complete and found nothing. Returns a summary.
///
/// # Errors
/// What it found, or what it left out.
pub fn judge(report: &Value) -> Result<String, String> {
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
