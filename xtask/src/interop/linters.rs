//! Redocly CLI and Spectral, each with its recommended rules and without exceptions.
//!
//! As a control, each must also report an error for a document without an `operationId`, which shows that it reads the
//! file.

use std::fs;
use std::path::{Path, PathBuf};

use launcher::workspace::in_file;
use serde_json::Value;

use super::Context;

type Linter = fn(&Context, &str, &Path) -> Result<(), String>;

/// Lints the document.
pub(super) fn run_all(context: &Context) -> Result<String, String> {
    let control = control_document(context)?;
    for (name, linter) in [("redocly", redocly as Linter), ("spectral", spectral)] {
        linter(context, name, &context.document)?;
        if linter(context, &format!("{name}-control"), &control).is_ok() {
            return Err(format!("{name} does not report the missing operationId in {}", control.display()));
        }
    }
    Ok("Redocly and Spectral find nothing".to_owned())
}

fn redocly(context: &Context, name: &str, document: &Path) -> Result<(), String> {
    let mut command = context.node("redocly");
    command.args(["lint", "--extends", "recommended", "--format", "json"]).arg(document);
    command.env("REDOCLY_TELEMETRY", "off").env("REDOCLY_SUPPRESS_UPDATE_NOTICE", "true");
    let report = context.run(name, &mut command)?;
    // Redocly exits with 0 if it finds only warnings.
    let report: Value =
        serde_json::from_str(&report).map_err(|error| format!("{name}: {error}: {report}"))?;
    let found = ["errors", "warnings", "ignored"].iter().any(|total| report["totals"][total] != 0);
    if found { Err(format!("{:#}", report["problems"])) } else { Ok(()) }
}

fn spectral(context: &Context, name: &str, document: &Path) -> Result<(), String> {
    let mut command = context.node("spectral");
    command.args(["lint", "--ruleset", "spectral.yaml", "--fail-severity", "hint"]).arg(document);
    context.run(name, &mut command).map(drop)
}

/// Writes the document without its first `operationId` to a file.
fn control_document(context: &Context) -> Result<PathBuf, String> {
    let text = fs::read_to_string(&context.document).map_err(in_file(&context.document))?;
    let is_id = |line: &&str| line.trim_start().starts_with("operationId:");
    let id = text.split_inclusive('\n').find(is_id).unwrap_or_default();
    let control = context.directory.join("without-an-operation-id.yaml");
    fs::write(&control, text.replacen(id, "", 1)).map_err(in_file(&control))?;
    Ok(control)
}
