//! Operations are invented in a copy of the document, scaffolded into a copy of the workspace, compiled there
//! with all warnings refused, and looked at from inside: `probe.rs`.
//!
//! The copy shares the target directory, so that only the two crates of this workspace are compiled again. Its
//! programs have names of their own: those of this workspace must not be overwritten while tests run them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use xtask::check::workspace;

use crate::{NO_TOY, SCHEMAS, TOYS, scaffold, with};

const PROBE: &str = include_str!("probe.rs");

const PROBE_MANIFEST: &str = r#"
[package]
name = "probe"
version = "0.0.0"
edition.workspace = true

[[bin]]
name = "probe-of-scaffold"
path = "main.rs"

[dependencies]
animal-store = { path = ".." }
jiff.workspace = true
slog.workspace = true
tokio.workspace = true
xtask = { path = "../xtask" }
"#;

/// A copy of what is needed to build library and check.
fn copy(document: &str) -> PathBuf {
    let (from, to) = (workspace(), Path::new(env!("CARGO_TARGET_TMPDIR")).join("scaffolded"));
    if to.exists() {
        fs::remove_dir_all(&to).unwrap();
    }
    for part in
        [".cargo", "src", "openapi", "xtask/src", "xtask/bare", "tests/http/v1", "tests/postgres_cluster"]
    {
        copy_all(&from.join(part), &to.join(part));
    }
    for file in ["Cargo.lock", "build.rs", "xtask/Cargo.toml"] {
        fs::copy(from.join(file), to.join(file)).unwrap();
    }
    let manifest = fs::read_to_string(from.join("Cargo.toml")).unwrap();
    let manifest = manifest
        .replace("members = [\"xtask\", \"xtask/bare\"]", "members = [\"xtask\", \"xtask/bare\", \"probe\"]");
    let manifest = manifest.replace("[workspace.lints.rust]", "[workspace.lints.rust]\nwarnings = \"deny\"");
    fs::write(to.join("Cargo.toml"), manifest).unwrap();
    fs::create_dir_all(to.join("probe")).unwrap();
    fs::write(to.join("probe/Cargo.toml"), PROBE_MANIFEST).unwrap();
    fs::write(to.join("probe/main.rs"), PROBE).unwrap();
    fs::write(to.join("openapi/animal-store.yaml"), document).unwrap();
    to
}

fn copy_all(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_all(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// The target directory that this test was built into.
fn target() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_xtask")).ancestors().nth(2).unwrap()
}

#[test]
fn invented_operations_compile_and_the_check_is_quiet() {
    let document = with(TOYS, SCHEMAS, NO_TOY);
    let made = scaffold(&document, None).unwrap();
    let left_out: Vec<_> = made.notes.iter().filter(|note| note.contains("left out")).collect();
    assert!(left_out.is_empty(), "{left_out:?}");
    let copy = copy(&document);
    made.write(&copy).unwrap();

    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .args(["build", "--offline", "--quiet", "--package", "probe", "--target-dir"])
        .arg(target())
        .current_dir(&copy)
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));

    let new_toy = r#"{"name":"bear","price":5,"codes":[null,1],"fragile":null}"#;
    let probed = Command::new(target().join("debug/probe-of-scaffold"))
        .arg(copy.join("openapi/animal-store.yaml"))
        .args(["GET /v1/toys?kind=bear", "GET /v1/toys?kind=bear&limit=51", "GET /v1/toys?kind=dog"])
        .args(["GET /v1/toyCounts", "DELETE /v1/toys/7", "DELETE /v1/toys/07", "GET /v1/pets"])
        .args([
            &format!("PUT /v1/toys/7?dryRun=true {new_toy}"),
            "PUT /v1/toys/7 {\"name\":\"\",\"price\":5}",
        ])
        .arg("POST /v1/toys/7/parts/leg {\"weight\":\"ask_heavy\"}")
        .env("CARGO_MANIFEST_DIR", copy.join("xtask"))
        .output()
        .unwrap();
    let printed = String::from_utf8(probed.stdout).unwrap();
    assert!(probed.status.success(), "{printed}{}", String::from_utf8_lossy(&probed.stderr));
    let (checked, answers) = printed.split_once("ExitCode").unwrap();
    assert!(checked.ends_with("the file and the code say the same\n"), "{checked}");
    let answers: Vec<(&str, Value)> = answers
        .lines()
        .skip(1)
        .map(|line| line.split_once(' ').unwrap())
        .map(|(status, body)| (status, serde_json::from_str(body).unwrap()))
        .collect();
    let short: Vec<_> = answers
        .iter()
        .map(|(status, body)| {
            format!(
                "{status} {} {}",
                body["code"].as_str().unwrap_or_default(),
                body["message"].as_str().unwrap_or_default()
            )
        })
        .collect();
    let not_implemented = "501 not_implemented this operation is not implemented yet";
    assert_eq!(
        short,
        [
            not_implemented,
            "400 invalid_parameter limit must be an integer from 1 to 50",
            "400 invalid_parameter kind must be one of bear, block, car",
            not_implemented,
            not_implemented,
            "404 not_found nothing lives at this path: a value in it is not of the type that the document says",
            "200  ",
            not_implemented,
            "400 invalid_body name must have 1 to 40 character(s)",
            "400 invalid_body weight must be a number",
        ]
    );
}

#[test]
fn the_tests_that_are_made_use_what_the_harness_has() {
    let harness = fs::read_to_string(workspace().join("tests/http/service.rs")).unwrap();
    for used in [
        "pub use crate::recorder::ask::Ask;",
        "pub async fn start() -> Self",
        "pub fn request(&self, method: Method, target: &str)",
    ] {
        assert!(harness.contains(used), "{used}");
    }
    let made = scaffold(&with(TOYS, SCHEMAS, NO_TOY), None).unwrap();
    let tests = made.files.iter().filter(|(path, _)| path.starts_with("tests/http/v1/toy"));
    let requests = tests.filter(|(_, text)| text.contains(".answer()")).count();
    assert_eq!(requests, 5);
}
