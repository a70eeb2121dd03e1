//! Programs that check files of this repository: Redocly CLI and Spectral the document, check-jsonschema and zizmor the
//! workflows and the action of GitHub, and SARIF Multitool the reports of `project`.
//!
//! As a control, each must refuse a changed copy.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use regex::Regex;
use serde_json::Value;
use xtask::process::output;
use xtask::workspace::{beside, in_file, workspace};

use super::Context;

/// Checks a file. The text is a name for its output.
type Validator = fn(&Context, &str, &Path) -> Result<(), String>;
/// A regular expression for a part of a file, and what a validator must refuse in its place.
type Change = (&'static str, &'static str);

const WITHOUT_ID: &[Change] = &[(r"(?m)^ *operationId:.*\n", "")];
const WORKFLOWS: [&str; 2] = [".github/workflows/ci.yml", ".github/workflows/release.yml"];
const ACTION: &str = ".github/actions/contract/action.yml";

/// A key that SARIF does not have.
const KEY: Change = (r#""runs":\s*\[\s*\{"#, r#""runs": [{"unknown": 1,"#);
/// A column that does not exist, of a finding: so there must be one.
const COLUMN: Change = (r#""startColumn":\s*\d+"#, r#""startColumn": 0"#);
/// The only finding about a report that is accepted: the project has no web page that the reports could name.
const ACCEPTED: &str = "SARIF2005";

/// Commands that report on this repository, and on frozen documents with many findings; and changes of their reports.
const REPORTS: [(&str, &[Change]); 6] = [
    ("check", &[]),
    ("lint", &[]),
    ("breaking", &[]),
    (
        "check --code=xtask/contract/fixtures/library.code.json --root=xtask/project/tests/library \
         --spec=xtask/contract/fixtures/features.yaml",
        &[COLUMN],
    ),
    ("lint --profile=strict --spec=xtask/contract/fixtures/features.yaml", &[COLUMN]),
    (
        "breaking --base=xtask/contract/fixtures/library.yaml \
         --spec=xtask/contract/fixtures/features.yaml",
        &[KEY, COLUMN],
    ),
];

/// Lints the document, with the recommended rules and without exceptions.
pub(super) fn linters(context: &Context) -> Result<String, String> {
    check(context, "redocly", redocly, &context.document, WITHOUT_ID)?;
    check(context, "spectral", spectral, &context.document, WITHOUT_ID)?;
    Ok("Redocly and Spectral find nothing".to_owned())
}

/// Checks the workflows and the action of GitHub Actions.
pub(super) fn workflow(context: &Context) -> Result<String, String> {
    let changes = &[(r"permissions: \{\}", "permissions: write-all"), ("@[0-9a-f]{40} .*", "@v1")];
    for workflow in WORKFLOWS.map(|file| workspace().join(file)) {
        check(context, "workflow-schema", schema, &workflow, &[("runs-on:", "run-on:")])?;
        check(context, "workflow-zizmor", zizmor, &workflow, changes)?;
    }
    let action = workspace().join(ACTION);
    check(context, "action-schema", schema, &action, &[("shell: bash", "sell: bash")])?;
    check(context, "action-zizmor", zizmor, &action, &[(r#""\$DOCUMENT""#, "$${{ inputs.document }}")])?;
    Ok("check-jsonschema and zizmor find nothing".to_owned())
}

/// Checks what the commands of `project` print with `--format sarif`.
pub(super) fn sarif(context: &Context) -> Result<String, String> {
    let program = beside("project")?;
    for (number, (arguments, changes)) in REPORTS.into_iter().enumerate() {
        let mut command = Command::new(&program);
        command.args(arguments.split(' ')).args(["--format", "sarif"]).current_dir(workspace());
        let report = context.directory.join(format!("report{number}.sarif"));
        fs::write(&report, output(&mut command)?.stdout).map_err(in_file(&report))?;
        check(context, &format!("sarif{number}"), multitool, &report, changes)?;
    }
    Ok(format!("SARIF Multitool accepts {} reports", REPORTS.len()))
}

/// Checks a file, and that each changed copy of it is refused.
fn check(
    context: &Context,
    name: &str,
    validator: Validator,
    file: &Path,
    changes: &[Change],
) -> Result<(), String> {
    validator(context, name, file)?;
    let text = fs::read_to_string(file).map_err(in_file(file))?;
    for (old, new) in changes {
        let old = Regex::new(old).map_err(|error| error.to_string())?;
        if !old.is_match(&text) {
            return Err(format!("{} does not contain `{old}`, which the control changes", file.display()));
        }
        let controls = context.directory.join("controls");
        // The name tells some programs what the file is.
        let control = controls.join(file.file_name().unwrap_or_default());
        let changed = old.replacen(&text, 1, *new);
        fs::create_dir_all(&controls)
            .and_then(|()| fs::write(&control, &*changed))
            .map_err(in_file(&control))?;
        if validator(context, &format!("{name}-control"), &control).is_ok() {
            return Err(format!("{name} accepts {} with `{new}` instead of `{old}`", file.display()));
        }
    }
    Ok(())
}

fn redocly(context: &Context, name: &str, document: &Path) -> Result<(), String> {
    if context.directory.join("node/.redocly.lint-ignore.yaml").exists() {
        return Err("Redocly would ignore findings: remove .redocly.lint-ignore.yaml".to_owned());
    }
    let mut command = context.node("redocly");
    // The recommended rules, with warnings as errors.
    command.args(["lint", "--extends", "recommended-strict"]).arg(document);
    command.env("REDOCLY_TELEMETRY", "off").env("REDOCLY_SUPPRESS_UPDATE_NOTICE", "true");
    context.run(name, &mut command).map(drop)
}

fn spectral(context: &Context, name: &str, document: &Path) -> Result<(), String> {
    let mut command = context.node("spectral");
    command.args(["lint", "--ruleset", "spectral.yaml", "--fail-severity", "hint"]).arg(document);
    context.run(name, &mut command).map(drop)
}

fn schema(context: &Context, name: &str, file: &Path) -> Result<(), String> {
    let schema =
        if file.ends_with("action.yml") { "vendor.github-actions" } else { "vendor.github-workflows" };
    let mut command = context.python("check-jsonschema");
    context.run(name, command.args(["--builtin-schema", schema]).arg(file)).map(drop)
}

fn zizmor(context: &Context, name: &str, file: &Path) -> Result<(), String> {
    let mut command = context.python("zizmor");
    command.args(["--offline", "--no-progress", "--persona", "pedantic"]).arg(file);
    context.run(name, &mut command).map(drop)
}

/// The validator by the editors of the standard: its schema, its rules, and those of GitHub's code scanning.
fn multitool(context: &Context, name: &str, report: &Path) -> Result<(), String> {
    let tool = context.directory.join("node/node_modules/@microsoft/sarif-multitool-linux/Sarif.Multitool");
    // npm installs it without the permission to run it.
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).map_err(in_file(&tool))?;
    let found = report.with_extension("findings.sarif");
    let mut command = Command::new(&tool);
    command.arg("validate").arg(report).args(["--rule-kind", "Sarif;Ghas", "--level", "Error;Warning"]);
    command.arg("--output").arg(&found).args(["--log", "ForceOverwrite"]);
    // The runtime of the tool needs no library of languages then.
    context.run(name, command.env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1"))?;
    let text = fs::read_to_string(&found).map_err(in_file(&found))?;
    let found: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).map_err(in_file(&found))?;
    let results = found["runs"][0]["results"].as_array().into_iter().flatten();
    let results = results.filter(|result| result["ruleId"] != ACCEPTED);
    let problems: Vec<_> =
        results.map(|result| format!("{}: {}", result["ruleId"], result["message"])).collect();
    if problems.is_empty() { Ok(()) } else { Err(format!("{}:\n{}", report.display(), problems.join("\n"))) }
}
