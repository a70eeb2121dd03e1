//! Redocly CLI and Spectral, each at its recommended rules, and nothing ignored.
//!
//! A linter that reads nothing finds nothing. So each must also find what is wrong with a document that lost
//! an `operationId`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use super::Place;
use crate::process::run;

const LIMIT: Duration = Duration::from_secs(120);

type Linter = fn(&Place, &str, &Path) -> Result<(), String>;

/// Lints the document.
///
/// # Errors
/// What is found.
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
    let mut command = place.node_command("redocly");
    command.args(["lint", "--extends", "recommended", "--format", "json"]).arg(document);
    command.current_dir(place.directory.join("node"));
    command.env("REDOCLY_TELEMETRY", "off").env("REDOCLY_SUPPRESS_UPDATE_NOTICE", "true");
    let report = run(name, &mut command, &place.logs(), LIMIT)?;
    // It succeeds when there are warnings only.
    let report: Value =
        serde_json::from_str(&report).map_err(|error| format!("{name}: {error}: {report}"))?;
    let none = |total: &str| report["totals"][total] == 0;
    let nothing = none("errors") && none("warnings") && none("ignored");
    if nothing { Ok(()) } else { Err(format!("{:#}", report["problems"])) }
}

fn spectral(place: &Place, name: &str, document: &Path) -> Result<(), String> {
    let mut command = place.node_command("spectral");
    command.args(["lint", "--ruleset", "spectral.yaml", "--fail-severity", "hint"]).arg(document);
    command.current_dir(place.directory.join("node"));
    run(name, &mut command, &place.logs(), LIMIT).map(drop)
}

/// The document without its first `operationId`, in a file of its own.
fn worse(place: &Place) -> Result<PathBuf, String> {
    let wrong = |error| format!("{}: {error}", place.document.display());
    let text = fs::read_to_string(&place.document).map_err(wrong)?;
    let mut removed = false;
    let kept = text.split_inclusive('\n').filter(|line| {
        let remove = !removed && line.trim_start().starts_with("operationId:");
        removed |= remove;
        !remove
    });
    let worse = place.directory.join("without-an-operation-id.yaml");
    fs::write(&worse, kept.collect::<String>()).map_err(|error| format!("{}: {error}", worse.display()))?;
    Ok(worse)
}
