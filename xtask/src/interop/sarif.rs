//! SARIF Multitool, the validator by the editors of the standard: its schema, its rules, and those of GitHub's code
//! scanning.
//!
//! As a control, a report with a column that does not exist and one with an undefined key must be refused.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use launcher::process::output;
use launcher::workspace::{in_file, workspace};
use serde_json::{Value, json};

use super::Context;
use crate::workspace::empty_directory;

/// The only finding that is accepted: the project has no web page that the reports could name.
const ACCEPTED: &str = "SARIF2005";

/// Reports of this repository, and of frozen documents with many findings.
const REPORTS: [(&str, &[&str]); 6] = [
    ("check", &["check"]),
    ("lint", &["lint"]),
    ("breaking", &["breaking"]),
    (
        "differences",
        &[
            "check",
            "--code=xtask/checks/tests/documents/library.code.json",
            "--root=xtask/tests/library",
            "--spec=xtask/checks/tests/documents/features.yaml",
        ],
    ),
    ("errors", &["lint", "--profile=strict", "--spec=xtask/checks/tests/documents/features.yaml"]),
    (
        "changes",
        &[
            "breaking",
            "--base=xtask/checks/tests/documents/library.yaml",
            "--spec=xtask/checks/tests/documents/features.yaml",
        ],
    ),
];

/// Checks all reports.
pub(super) fn run_all(context: &Context) -> Result<String, String> {
    let directory = context.directory.join("sarif");
    empty_directory(&directory)?;
    let tool = executable(context)?;
    let mut number = 0;
    for (name, arguments) in REPORTS {
        let report = report(arguments)?;
        number += report["runs"][0]["results"].as_array().map_or(0, Vec::len);
        let problems = validate(context, &tool, &directory, name, &report)?;
        if !problems.is_empty() {
            return Err(format!("SARIF of `{}`:\n{}", arguments.join(" "), problems.join("\n")));
        }
        controls(&report).into_iter().try_for_each(|(what, control)| {
            let problems = validate(context, &tool, &directory, &format!("{name}-control"), &control)?;
            match problems.is_empty() {
                true => Err(format!("SARIF Multitool accepts a report with {what}")),
                false => Ok(()),
            }
        })?;
    }
    Ok(format!("SARIF Multitool accepts {} reports with {number} results", REPORTS.len()))
}

/// Returns wrong copies of a report.
fn controls(report: &Value) -> Vec<(&'static str, Value)> {
    let mut unknown = report.clone();
    unknown["runs"][0]["unknown"] = json!(1);
    let mut controls = vec![("an undefined key", unknown)];
    let column = "/runs/0/results/0/locations/0/physicalLocation/region/startColumn";
    let mut outside = report.clone();
    if let Some(column) = outside.pointer_mut(column) {
        *column = json!(0);
        controls.push(("column 0", outside));
    }
    controls
}

/// Runs a command of this program with `--format sarif`. Returns its output.
fn report(arguments: &[&str]) -> Result<Value, String> {
    let program = std::env::current_exe().map_err(|error| format!("the path of this program: {error}"))?;
    let mut command = Command::new(program);
    let printed = output(command.args(arguments).args(["--format", "sarif"]).current_dir(workspace()))?;
    serde_json::from_slice(&printed.stdout).map_err(|error| {
        let problem = String::from_utf8_lossy(&printed.stderr);
        format!("`{}` did not print JSON: {error}\n{problem}", arguments.join(" "))
    })
}

/// Returns what the tool finds in a report.
fn validate(
    context: &Context,
    tool: &Path,
    directory: &Path,
    name: &str,
    report: &Value,
) -> Result<Vec<String>, String> {
    let file = directory.join(format!("{name}.sarif"));
    let found = directory.join(format!("{name}.findings.sarif"));
    fs::write(&file, report.to_string()).map_err(in_file(&file))?;
    let mut command = Command::new(tool);
    command.arg("validate").arg(&file).args(["--rule-kind", "Sarif;Ghas", "--level", "Error;Warning"]);
    command.arg("--output").arg(&found).args(["--log", "ForceOverwrite"]);
    // The runtime of the tool needs no library of languages then.
    context.run("sarif", command.env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1"))?;
    let text = fs::read_to_string(&found).map_err(in_file(&found))?;
    let found: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).map_err(in_file(&found))?;
    let results = found["runs"][0]["results"].as_array().into_iter().flatten();
    let results = results.filter(|result| result["ruleId"] != ACCEPTED);
    Ok(results.map(|result| format!("{}: {}", result["ruleId"], result["message"])).collect())
}

/// Returns the program, which npm installs without the permission to run it.
fn executable(context: &Context) -> Result<PathBuf, String> {
    let program =
        context.directory.join("node/node_modules/@microsoft/sarif-multitool-linux/Sarif.Multitool");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).map_err(in_file(&program))?;
    Ok(program)
}
