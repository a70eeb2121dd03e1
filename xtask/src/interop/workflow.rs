//! The workflow of GitHub Actions: check-jsonschema compares it with GitHub's schema, zizmor looks for risks such as an
//! action that is not pinned.
//!
//! As a control, each must refuse a changed workflow.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::Place;
use crate::workspace::{in_file, workspace};

const WORKFLOW: &str = ".github/workflows/ci.yml";

/// A tool, and an edit after which it must refuse the workflow.
struct Check {
    name: &'static str,
    command: fn(&Place, &Path) -> Command,
    old: &'static str,
    new: &'static str,
}

const CHECKS: [Check; 3] = [
    Check { name: "check-jsonschema", command: schema, old: "runs-on:", new: "run-on:" },
    Check { name: "zizmor", command: zizmor, old: "permissions: {}", new: "permissions: write-all" },
    Check { name: "zizmor", command: zizmor, old: "@3d3c42e5aac5ba805825da76410c181273ba90b1", new: "@v7" },
];

/// Checks the workflow with both tools.
pub(super) fn run_all(place: &Place) -> Result<String, String> {
    let file = workspace().join(WORKFLOW);
    let text = fs::read_to_string(&file).map_err(in_file(&file))?;
    for Check { name, command, old, new } in CHECKS {
        place.run(name, &mut command(place, &file))?;
        if !text.contains(old) {
            return Err(format!("{WORKFLOW} does not contain `{old}`, which the control changes"));
        }
        let control = place.directory.join("changed-workflow.yml");
        fs::write(&control, text.replacen(old, new, 1)).map_err(in_file(&control))?;
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
