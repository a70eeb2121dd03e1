//! Schemathesis: sends thousands of valid and invalid requests and checks each response against the document.
//!
//! `tests/interop/python/schemathesis.toml` configures it. This module checks that the run was complete, so that a
//! setting that excludes something is noticed.

use std::fs;

use serde_json::Value;
use xtask::workspace::in_file;

use super::Context;

/// The minimum number of cases of a complete run.
const CASES: u64 = 3000;
const PHASES: [&str; 4] = ["examples", "coverage", "fuzzing", "stateful"];

/// Runs Schemathesis.
pub(super) fn run_all(context: &Context) -> Result<String, String> {
    let file = context.directory.join("logs/schemathesis.json");
    context.run_with_service("schemathesis", |url, _| {
        let mut command = context.python("st");
        command.args(["--config-file", "schemathesis.toml", "run"]).arg(&context.document);
        command.args(["--url", url, "--no-color", "--report", "json", "--report-json-path"]).arg(&file);
        command.env("PYTHONPATH", context.directory.join("python"));
        Ok(command)
    })?;
    let report = fs::read(&file).map_err(in_file(&file))?;
    check_report(&serde_json::from_slice(&report).map_err(in_file(&file))?)
}

/// Checks in the report that the run was complete and found no problem. Returns a summary.
///
/// # Errors
/// A message with the problems found, or with what was left out.
pub fn check_report(report: &Value) -> Result<String, String> {
    let count = |pointer: &str| {
        let value = report.pointer(pointer).and_then(Value::as_u64);
        value.ok_or_else(|| format!("the report has no number at {pointer}"))
    };
    let (total, tested) = (count("/operations/total")?, count("/operations/tested")?);
    let (cases, failed) = (count("/test_cases/generated")?, count("/test_cases/with_failures")?);
    let errors = count("/test_cases/errored")?;
    let phases = report["phases"].as_object().ok_or("the report has no phases")?;
    let whole = PHASES.iter().all(|phase| phases.get(*phase).is_some_and(|it| it["status"] == "success"));
    let none = |list: &str| report[list].as_array().is_some_and(Vec::is_empty);
    let warnings = report["warnings"].as_object().ok_or("the report has no warnings")?;
    let quiet = warnings.values().all(|all| all.as_array().is_some_and(Vec::is_empty));
    let summary = format!("{cases} cases, {failed} failures, {tested} of {total} operations");
    if total == 0 || tested != total || cases < CASES || !whole {
        return Err(format!("the run was incomplete: {summary}, phases {phases:?}"));
    }
    if failed + errors > 0 || !none("failures") || !none("errors") || !quiet {
        return Err(format!("{summary}, {errors} errors, warnings {warnings:?}"));
    }
    Ok(summary)
}
