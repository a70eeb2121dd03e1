//! The clients of outside teams, generated from the document alone, and the browser of somebody who reads it.

use std::process::Command;
use std::time::Duration;

use super::service::Service;
use super::tools::CHROMIUM;
use super::{Place, last_line};
use crate::process::run;

const LIMIT: Duration = Duration::from_secs(120);

/// TypeScript: types by openapi-typescript, requests by openapi-fetch, `tsc --strict`, Node.
///
/// # Errors
/// What the generator, the compiler or the program says.
pub(super) fn typescript(place: &Place) -> Result<String, String> {
    let node = place.directory.join("node");
    let mut generate = place.node_command("openapi-typescript");
    generate.arg(&place.document).args(["--output", "api.d.ts"]).current_dir(&node);
    run("openapi-typescript", &mut generate, &place.logs(), LIMIT)?;
    let mut compile = place.node_command("tsc");
    run("tsc", compile.args(["--strict", "--project", "."]).current_dir(&node), &place.logs(), LIMIT)?;
    let mut client = place.node_command("node");
    client.arg("built/client.js").current_dir(&node);
    against_service(place, "typescript", client)
}

/// Python: all of it by openapi-python-client, whose warnings count.
///
/// # Errors
/// What the generator or the program says.
pub(super) fn python(place: &Place) -> Result<String, String> {
    let python = place.directory.join("python");
    let mut generate = place.python_command("openapi-python-client");
    generate.args(["generate", "--meta", "none", "--overwrite", "--fail-on-warning"]);
    generate.args(["--output-path", "animal_store_client", "--path"]).arg(&place.document);
    run("openapi-python-client", generate.current_dir(&python), &place.logs(), LIMIT)?;
    let mut client = place.python_command("python");
    client.arg("client.py").current_dir(&python);
    against_service(place, "python", client)
}

/// `/docs` in headless Chromium. The screenshots are kept in `target/outside/screenshots`.
///
/// # Errors
/// What was not as it should be.
pub(super) fn docs(place: &Place) -> Result<String, String> {
    let screenshots = place.directory.join("screenshots");
    std::fs::create_dir_all(&screenshots).map_err(|error| format!("{}: {error}", screenshots.display()))?;
    let mut browse = place.node_command("node");
    browse.arg("docs.mjs").current_dir(place.directory.join("node"));
    browse.env("CHROMIUM", CHROMIUM.path()?).env("SCREENSHOTS", &screenshots);
    let summary = against_service(place, "docs", browse)?;
    Ok(format!("{summary}; screenshots in {}", screenshots.display()))
}

/// Runs a program that is told by its environment where a service is, and returns the last line it printed.
fn against_service(place: &Place, name: &str, mut command: Command) -> Result<String, String> {
    let service = Service::start(place, name)?;
    place.tell(&mut command, &service);
    let printed = run(name, &mut command, &place.logs(), LIMIT)?;
    service.stop()?;
    Ok(last_line(&printed))
}
