//! The commands of the page for clients, as a reader of the site runs them: in an empty directory, with documents and
//! example programs that a running service publishes.
//!
//! The commands are read from the page itself, so the page cannot differ from what is tested. Pinned versions apply to what
//! the commands install: lock files in `tests/interop/clients`, and the requirements of the other Python packages.

use std::fs;
use std::process::Command;

use xtask::workspace::{in_file, workspace};

use super::front::Front;
use super::{Context, command_in};
use project::site;

/// The page in the site.
const PAGE: &str = "docs/clients.html";
/// The lock files, by the names of languages.
const PINS: &str = "tests/interop/clients";
/// Animals that the service has before: more than fit on a page, and one that the filter excludes.
const AVAILABLE: usize = 120;
/// What each example prints. The identifier of the animal that it adds follows those of the animals before.
const PRINTED: [&str; 6] = [
    "added 122 Rex",
    "repeated 122 Rex",
    "listed 121",
    "fetched 122 Rex",
    "there is no animal 0",
    "refused 422 idempotency_key_reused: ",
];

/// Runs the commands for TypeScript.
pub(super) fn typescript(context: &Context) -> Result<String, String> {
    // The shell finds the pinned Node.
    run(context, "TypeScript", Some("package-lock.json"), context.node("sh"))
}

/// Runs the commands for Python.
pub(super) fn python(context: &Context) -> Result<String, String> {
    run(context, "Python", None, pinned_python())
}

/// Runs the commands for Rust. The generator and the crates are compiled once, into the directory of the packages.
pub(super) fn rust(context: &Context) -> Result<String, String> {
    let directory = context.directory.join("rust");
    let mut shell = command_in(&[directory.join("bin")], "sh", &directory);
    shell.env("CARGO_INSTALL_ROOT", &directory).env("CARGO_TARGET_DIR", directory.join("target"));
    // The generator compiles in a third of the time, and runs for a second.
    shell.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0").env("CARGO_PROFILE_DEV_DEBUG", "0");
    run(context, "Rust", Some("Cargo.lock"), shell)
}

/// Runs the commands for Go. Go itself may not download anything.
pub(super) fn go(context: &Context) -> Result<String, String> {
    let mut shell = pinned_python();
    shell.env("GOCACHE", context.directory.join("go")).env("GOPROXY", "off").env("GOTOOLCHAIN", "local");
    run(context, "Go", None, shell)
}

/// Returns a shell in which pip installs the pinned versions.
fn pinned_python() -> Command {
    let mut shell = Command::new("sh");
    shell.env("PIP_CONSTRAINT", workspace().join("tests/interop/python/requirements.txt"));
    shell
}

/// Runs the commands for a language in a shell, with a service that has animals, and compares what the example prints.
/// Its requests pass through a [`Front`]. `lock` is a file with pinned versions.
fn run(context: &Context, language: &str, lock: Option<&str>, mut shell: Command) -> Result<String, String> {
    let name = language.to_lowercase();
    let temporary = tempfile::tempdir().map_err(|error| format!("cannot create a directory: {error}"))?;
    // npm writes the name of the directory into its lock file.
    let directory = temporary.path().join(&name);
    fs::create_dir(&directory).map_err(in_file(&directory))?;
    if let Some(lock) = lock {
        let pinned = workspace().join(PINS).join(&name).join(lock);
        fs::copy(&pinned, directory.join(lock)).map_err(in_file(&pinned))?;
    }
    let mut front = None;
    let printed = context.run_with_service(&format!("{name}-page"), |url, key| {
        let origin = url.trim_end_matches("/v1");
        let commands = commands_of(&page(origin)?, language)?;
        add_animals(url, key)?;
        shell.args(["-exc", &commands]).current_dir(&directory);
        let front = front.insert(Front::start(origin)?).url();
        shell.env("SITE", &front).env("URL", format!("{front}/v1")).env("KEY", key);
        Ok(shell)
    })?;
    if !front.is_some_and(|front| front.has_failed()) {
        return Err(format!("{printed}\nthe example in {language} did not repeat an addition"));
    }
    let lines: Vec<&str> = printed.lines().rev().take(PRINTED.len()).collect();
    let is_expected = |(line, expected): (&&str, &&str)| line.starts_with(*expected);
    if lines.len() < PRINTED.len() || !lines.iter().rev().zip(&PRINTED).all(is_expected) {
        return Err(format!("{printed}\nthe example in {language} did not print {PRINTED:#?}"));
    }
    Ok(format!("the commands of the page for {language}, and its example"))
}

/// Returns the page as `cargo xtask site --url` writes it.
fn page(url: &str) -> Result<String, String> {
    let content = site::files(&workspace(), Some(url))?.remove(PAGE);
    let content = content.ok_or_else(|| format!("the site has no {PAGE}"))?;
    String::from_utf8(content).map_err(|error| error.to_string())
}

/// Returns the commands for a language.
fn commands_of(page: &str, language: &str) -> Result<String, String> {
    let found = site::languages(page).into_iter().find(|(known, _)| known == language);
    found.map(|(_, commands)| commands).ok_or_else(|| format!("{PAGE} has no commands for {language}"))
}

/// Adds the animals that the examples list.
fn add_animals(url: &str, key: &str) -> Result<(), String> {
    let animals = (0..AVAILABLE).map(|number| (number, "available")).chain([(AVAILABLE, "sold")]);
    let (url, key) = (format!("{url}/pets"), format!("Bearer {key}"));
    for (number, status) in animals {
        let animal =
            serde_json::json!({ "name": format!("Animal {number}"), "categoryId": 3, "status": status });
        let request = ureq::post(&url).header("authorization", &key).content_type("application/json");
        request.send(animal.to_string()).map_err(|error| format!("{url}: {error}"))?;
    }
    Ok(())
}
