//! The workflow of GitHub Actions: check-jsonschema compares it with GitHub's schema, zizmor looks for risks such as an
//! action that is not pinned.
//!
//! As a control, each must refuse a changed workflow.

use std::fs;
use std::path::Path;
use std::process::Command;

use launcher::workspace::{in_file, workspace};
use regex::Regex;

use super::Place;

const WORKFLOW: &str = ".github/workflows/ci.yml";

/// A tool, and an edit after which it must refuse the workflow.
struct Check {
    name: &'static str,
    command: fn(&Place, &Path) -> Command,
    /// A regular expression for what the edit replaces.
    old: &'static str,
    new: &'static str,
}

const CHECKS: [Check; 3] = [
    Check { name: "check-jsonschema", command: schema, old: "runs-on:", new: "run-on:" },
    Check { name: "zizmor", command: zizmor, old: r"permissions: \{\}", new: "permissions: write-all" },
    Check { name: "zizmor", command: zizmor, old: "@[0-9a-f]{40} .*", new: "@v1" },
];

/// Checks the workflow with both tools.
pub(super) fn run_all(place: &Place) -> Result<String, String> {
    let file = workspace().join(WORKFLOW);
    let text = fs::read_to_string(&file).map_err(in_file(&file))?;
    for Check { name, command, old, new } in CHECKS {
        place.run(name, &mut command(place, &file))?;
        let old = Regex::new(old).map_err(|error| error.to_string())?;
        if !old.is_match(&text) {
            return Err(format!("{WORKFLOW} does not contain `{old}`, which the control changes"));
        }
        let control = place.directory.join("changed-workflow.yml");
        fs::write(&control, old.replace(&text, new).as_bytes()).map_err(in_file(&control))?;
        if place.run(&format!("{name}-control"), &mut command(place, &control)).is_ok() {
            return Err(format!("{name} accepts the workflow with `{new}`"));
        }
    }
    Ok("check-jsonschema and zizmor find nothing".to_owned())
}

fn schema(place: &Place, file: &Path) -> Command {
    let mut command = place.python("check-jsonschema");
    command.args(["--builtin-schema", "vendor.github-workflows"]).arg(file);
    command
}

fn zizmor(place: &Place, file: &Path) -> Command {
    let mut command = place.python("zizmor");
    command.args(["--offline", "--no-progress", "--persona", "pedantic"]).arg(file);
    command
}
