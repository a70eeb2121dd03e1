//! Redocly CLI and Spectral, each at its recommended rules, and nothing ignored.
//!
//! A linter that reads nothing finds nothing. So each must also find what is wrong with a document that lost
//! an `operationId`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::Place;
use crate::workspace::in_file;

type Linter = fn(&Place, &str, &Path) -> Result<(), String>;

/// Lints the document.
pub(super) fn run_all(place: &Place) -> Result<String, String> {
    let worse = worse(place)?;
    for (name, linter) in [("redocly", redocly as Linter), ("spectral", spectral)] {
        linter(place, name, &place.document)?;
        if linter(place, &format!("{name}-control"), &worse).is_ok() {
            return Err(format!("{name} finds nothing in {} either", worse.display()));
        }
    }
    Ok("Redocly and Spectral find nothing".to_owned())
}

fn redocly(place: &Place, name: &str, document: &Path) -> Result<(), String> {
    let mut command = place.node("redocly");
    command.args(["lint", "--extends", "recommended", "--format", "json"]).arg(document);
    command.env("REDOCLY_TELEMETRY", "off").env("REDOCLY_SUPPRESS_UPDATE_NOTICE", "true");
    let report = place.run(name, &mut command)?;
    // It succeeds when there are warnings only.
    let report: Value =
        serde_json::from_str(&report).map_err(|error| format!("{name}: {error}: {report}"))?;
    let found = ["errors", "warnings", "ignored"].iter().any(|total| report["totals"][total] != 0);
    if found { Err(format!("{:#}", report["problems"])) } else { Ok(()) }
}

fn spectral(place: &Place, name: &str, document: &Path) -> Result<(), String> {
    let mut command = place.node("spectral");
    command.args(["lint", "--ruleset", "spectral.yaml", "--fail-severity", "hint"]).arg(document);
    place.run(name, &mut command).map(drop)
}

/// Writes the document without its first `operationId` into a file.
fn worse(place: &Place) -> Result<PathBuf, String> {
    let text = fs::read_to_string(&place.document).map_err(in_file(&place.document))?;
    let is_id = |line: &&str| line.trim_start().starts_with("operationId:");
    let id = text.split_inclusive('\n').find(is_id).unwrap_or_default();
    let worse = place.directory.join("without-an-operation-id.yaml");
    fs::write(&worse, text.replacen(id, "", 1)).map_err(in_file(&worse))?;
    Ok(worse)
}
