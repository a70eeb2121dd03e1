//! `cargo xtask pictures`: makes the pictures of the README, which are in `xtask/pictures`.
//!
//! One shows a finding of `cargo xtask check` in a terminal, for a document that differs from the code in one line.
//! The other shows the documentation page of a running service in headless Chromium.

use std::path::Path;
use std::process::Command;
use std::time::Duration;
use std::{env, fs};

use anstyle_svg::Term;
use tempfile::TempDir;

use crate::interop::chromium;
use crate::process::{self, output};
use crate::serve::{self, Service};
use crate::workspace::{SPEC, in_file, workspace};

/// The edit that `cargo xtask check` reports.
const EDIT: [&str; 2] = ["maximum: 100\n", "maximum: 50\n"];
/// The size of the browser window in pixels.
const WINDOW: &str = "--window-size=1200,1000";
/// How long Chromium may take.
const LIMIT: Duration = Duration::from_secs(120);

/// Makes both pictures. Returns the exit status.
///
/// # Errors
/// When the service does not build or start, Chromium is missing, or a file cannot be written.
pub fn run() -> Result<u8, String> {
    process::end_all_on_signals()?;
    let pictures = workspace().join("xtask/pictures");
    fs::create_dir_all(&pictures).map_err(in_file(&pictures))?;
    let directory = TempDir::new().map_err(|error| format!("cannot create a temporary directory: {error}"))?;
    finding(directory.path(), &pictures.join("finding.svg"))?;
    page(directory.path(), &pictures.join("docs.png"))?;
    Ok(0)
}

/// Checks a copy of the document with [`EDIT`], and writes the output as SVG.
fn finding(directory: &Path, picture: &Path) -> Result<(), String> {
    let source = workspace().join(SPEC);
    let text = fs::read_to_string(&source).map_err(in_file(&source))?;
    let edited = text.replacen(EDIT[0], EDIT[1], 1);
    if edited == text {
        return Err(format!("{SPEC}: expected a line `{}`; edit xtask/src/pictures.rs", EDIT[0].trim()));
    }
    // The finding names the copy by its relative path, which is the same as in the repository.
    let copy = directory.join(SPEC);
    let parent = copy.parent().unwrap_or(directory);
    fs::create_dir_all(parent).and_then(|()| fs::write(&copy, edited)).map_err(in_file(&copy))?;
    let program = env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
    let mut check = Command::new(program);
    check.args(["check", "--spec", SPEC]).current_dir(directory).env("CLICOLOR_FORCE", "1");
    let checked = output(&mut check)?;
    if checked.status.code() != Some(1) {
        return Err(format!("`cargo xtask check` did not report the edit ({})", checked.status));
    }
    let screen = format!("$ cargo xtask check\n{}", String::from_utf8_lossy(&checked.stdout));
    write(picture, Term::new().render_svg(&screen).as_bytes())
}

/// Starts a service and takes a screenshot of its documentation page.
fn page(directory: &Path, picture: &Path) -> Result<(), String> {
    let program = serve::build(false)?;
    let database = format!("sqlite:{}", directory.join("animals.db").display());
    let service = Service::start(&program, &database, &directory.join("log"), || Ok(()))?;
    let url = format!("{}/docs", service.url.trim_end_matches("/v1"));
    let mut browser = Command::new(chromium()?);
    browser.args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", WINDOW]);
    // The page draws itself by script: let it run for ten seconds of its own clock.
    browser.args(["--virtual-time-budget=10000", "--force-color-profile=srgb"]);
    browser.arg(format!("--user-data-dir={}", directory.join("browser").display()));
    browser.arg(format!("--screenshot={}", directory.join("docs.png").display())).arg(url);
    process::run("chromium", &mut browser, directory, LIMIT)?;
    let taken = directory.join("docs.png");
    write(picture, &fs::read(&taken).map_err(in_file(&taken))?)
}

fn write(picture: &Path, content: &[u8]) -> Result<(), String> {
    fs::write(picture, content).map_err(in_file(picture))?;
    println!("{}: {} KB", picture.display(), content.len().div_ceil(1000));
    Ok(())
}
