//! The workflow and the action of GitHub Actions: check-jsonschema compares them with GitHub's schemas, zizmor looks for
//! risks such as an action that is not pinned.
//!
//! As a control, each must refuse a changed file.

use std::fs;

use launcher::workspace::{in_file, workspace};
use regex::Regex;

use super::Context;

const WORKFLOW: &str = ".github/workflows/ci.yml";
const ACTION: &str = ".github/actions/contract/action.yml";

/// A tool, a file that it must accept, a regular expression for a part of it, and what the tool must refuse there.
const CHECKS: [(Tool, &str, &str, &str); 5] = [
    (SCHEMA, WORKFLOW, "runs-on:", "run-on:"),
    (ZIZMOR, WORKFLOW, r"permissions: \{\}", "permissions: write-all"),
    (ZIZMOR, WORKFLOW, "@[0-9a-f]{40} .*", "@v1"),
    (SCHEMA_OF_ACTIONS, ACTION, "shell: bash", "sell: bash"),
    (ZIZMOR, ACTION, r#""\$DOCUMENT""#, "$${{ inputs.document }}"),
];

/// A program, and its arguments before the file.
type Tool = (&'static str, &'static [&'static str]);

const SCHEMA: Tool = ("check-jsonschema", &["--builtin-schema", "vendor.github-workflows"]);
const SCHEMA_OF_ACTIONS: Tool = ("check-jsonschema", &["--builtin-schema", "vendor.github-actions"]);
const ZIZMOR: Tool = ("zizmor", &["--offline", "--no-progress", "--persona", "pedantic"]);

/// Checks both files with both tools.
pub(super) fn run_all(context: &Context) -> Result<String, String> {
    for ((name, arguments), file, old, new) in CHECKS {
        let path = workspace().join(file);
        let text = fs::read_to_string(&path).map_err(in_file(&path))?;
        context.run(name, context.python(name).args(arguments).arg(&path))?;
        let old = Regex::new(old).map_err(|error| error.to_string())?;
        if !old.is_match(&text) {
            return Err(format!("{file} does not contain `{old}`, which the control changes"));
        }
        // The name tells zizmor an action from a workflow.
        let control = context.directory.join(path.file_name().unwrap_or_default());
        fs::write(&control, old.replace(&text, new).as_bytes()).map_err(in_file(&control))?;
        if context.run(&format!("{name}-control"), context.python(name).args(arguments).arg(&control)).is_ok()
        {
            return Err(format!("{name} accepts {file} with `{new}`"));
        }
    }
    Ok("check-jsonschema and zizmor find nothing".to_owned())
}
