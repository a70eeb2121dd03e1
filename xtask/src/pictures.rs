//! `cargo xtask pictures`: makes the pictures of the README, which are in `xtask/pictures`.
//!
//! `finding.svg` is the output of `cargo xtask check` for a document that differs from the code in one line.
//! `docs.png` is the screenshot of an operation at `/docs` that `cargo xtask interop docs` takes.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

use anstyle_svg::Term;
use launcher::process::output;
use launcher::workspace::{in_file, target, workspace};
use tempfile::TempDir;

use crate::interop::{self, Part};
use crate::workspace::SPEC;

/// The edit of the document that `cargo xtask check` reports.
const EDIT: [&str; 2] = ["maximum: 100\n", "maximum: 50\n"];

/// Makes both pictures. Returns the exit status.
///
/// # Errors
/// When the output or the screenshot differs from what the pictures show, or a file cannot be written.
pub fn run() -> Result<u8, String> {
    let pictures = workspace().join("xtask/pictures");
    fs::create_dir_all(&pictures).map_err(in_file(&pictures))?;
    let program = env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
    write(&pictures.join("finding.svg"), Term::new().render_svg(&finding(&program)?).as_bytes())?;
    let status = interop::run(&[Part::Docs], &[])?;
    if status == 0 {
        let screenshot = target(&program)?.join("interop/screenshots/docs-operations.png");
        write(&pictures.join("docs.png"), &fs::read(&screenshot).map_err(in_file(&screenshot))?)?;
    }
    Ok(status)
}

/// Checks a copy of the document with [`EDIT`]. Returns the screen of a terminal, with ANSI escape codes.
fn finding(program: &Path) -> Result<String, String> {
    let source = workspace().join(SPEC);
    let text = fs::read_to_string(&source).map_err(in_file(&source))?;
    let edited = text.replacen(EDIT[0], EDIT[1], 1);
    if edited == text {
        return Err(format!("{SPEC}: expected a line `{}`; edit xtask/src/pictures.rs", EDIT[0].trim()));
    }
    // The finding names the copy by its relative path, which is the same as in the repository.
    let directory =
        TempDir::new().map_err(|error| format!("cannot create a temporary directory: {error}"))?;
    let copy = directory.path().join(SPEC);
    let parent = copy.parent().unwrap_or(directory.path());
    fs::create_dir_all(parent).and_then(|()| fs::write(&copy, edited)).map_err(in_file(&copy))?;
    let mut check = Command::new(program);
    check.args(["check", "--spec", SPEC]).current_dir(&directory).env("CLICOLOR_FORCE", "1");
    let checked = output(&mut check)?;
    if checked.status.code() != Some(1) {
        return Err(format!("`cargo xtask check` did not report the edit ({})", checked.status));
    }
    // The Rust source is outside the current directory, so its path is absolute.
    let root = format!("{}/", workspace().display());
    let printed = String::from_utf8_lossy(&checked.stdout).replace(&root, "");
    Ok(format!("$ cargo xtask check\n{}", printed.trim_end()))
}

fn write(picture: &Path, content: &[u8]) -> Result<(), String> {
    fs::write(picture, content).map_err(in_file(picture))?;
    println!("{}: {} KB", picture.display(), content.len().div_ceil(1000));
    Ok(())
}
