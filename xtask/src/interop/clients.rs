//! Clients generated from the document by third-party tools, and the documentation page in a browser.

use std::fs;
use std::process::Command;

use launcher::process::output;
use launcher::workspace::in_file;

use super::Place;

/// Runs a TypeScript client: openapi-typescript, openapi-fetch, `tsc --strict`, Node.
pub(super) fn typescript(place: &Place) -> Result<String, String> {
    let mut generate = place.node("openapi-typescript");
    place.run("openapi-typescript", generate.arg(&place.document).args(["--output", "api.d.ts"]))?;
    place.run("tsc", place.node("tsc").args(["--strict", "--project", "."]))?;
    let mut client = place.node("node");
    client.arg("built/client.js");
    place.run_with_service("typescript", |_| client).map(last_line)
}

/// Runs a Python client by openapi-python-client. Its warnings are errors.
pub(super) fn python(place: &Place) -> Result<String, String> {
    let mut generate = place.python("openapi-python-client");
    generate.args(["generate", "--meta", "none", "--overwrite", "--fail-on-warning"]);
    generate.args(["--output-path", "animal_store_client", "--path"]).arg(&place.document);
    place.run("openapi-python-client", &mut generate)?;
    let mut client = place.python("python");
    client.arg("client.py");
    place.run_with_service("python", |_| client).map(last_line)
}

/// Uses `/docs` in headless Chromium. Screenshots are kept in `target/interop/screenshots`.
pub(super) fn docs(place: &Place) -> Result<String, String> {
    let screenshots = place.directory.join("screenshots");
    fs::create_dir_all(&screenshots).map_err(in_file(&screenshots))?;
    let mut browse = place.node("node");
    browse.arg("docs.mjs").env("CHROMIUM", chromium()?).env("SCREENSHOTS", &screenshots);
    let summary = place.run_with_service("docs", |_| browse).map(last_line)?;
    Ok(format!("{summary}; screenshots in {}", screenshots.display()))
}

/// Returns the path of Chromium.
fn chromium() -> Result<String, String> {
    let found =
        output(Command::new("sh").args(["-c", "command -v chromium || command -v chromium-browser"]))?;
    let path = String::from_utf8_lossy(&found.stdout).trim().to_owned();
    if path.is_empty() {
        Err("chromium is missing; on Debian: apt-get install chromium".to_owned())
    } else {
        Ok(path)
    }
}

/// Returns the last non-empty line of a text.
fn last_line(text: String) -> String {
    text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().to_owned()
}
