//! Unreadable documents: every command that reads one reports the line, exits with 2, and does not take long.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use fixtures::{CODE_FILE, LIBRARY_FILE};
use wait_timeout::ChildExt;

/// The time limit of a command.
const LIMIT: Duration = Duration::from_secs(60);

/// Returns descriptions, contents, and the lines with the error.
fn broken() -> Vec<(&'static str, Vec<u8>, usize)> {
    let bomb: String = (1..12).fold("a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned(), |text, level| {
        let items = vec![format!("*a{}", level - 1); 9].join(", ");
        format!("{text}a{level}: &a{level} [{items}]\n")
    });
    let deep = format!("openapi: 3.0.3\npaths: {}{}\n", "[".repeat(100_000), "]".repeat(100_000));
    let text = |text: &str| text.as_bytes().to_vec();
    vec![
        ("empty", text(""), 1),
        ("blank", text("\n\n# nothing\n"), 1),
        ("not UTF-8", b"openapi: 3.0.3\ninfo:\n  title: \xff\xfe\n".to_vec(), 3),
        ("binary", (0..=255).collect(), 2),
        ("not YAML", text("openapi: 3.0.3\ninfo: {title: [}\n"), 2),
        ("a tab", text("openapi: 3.0.3\ninfo:\n\ttitle: T\n"), 3),
        ("a key twice", text("openapi: 3.0.3\ninfo: {}\ninfo: {}\n"), 3),
        ("two documents", text("openapi: 3.0.3\n---\nopenapi: 3.0.3\n"), 2),
        ("too deep", deep.into_bytes(), 2),
        ("exponential aliases", bomb.into_bytes(), 7),
        ("an alias of itself", text("openapi: 3.0.3\ninfo: &a\n  title: *a\n"), 3),
        ("a list", text("- openapi: 3.0.3\n"), 1),
        ("a word", text("openapi\n"), 1),
        ("Swagger", text("swagger: '2.0'\n"), 1),
    ]
}

fn run(arguments: &[&str], file: &Path) -> (Option<i32>, String) {
    let output = file.with_extension("out");
    let into = fs::File::create(&output).unwrap();
    let arguments =
        arguments.iter().map(|argument| if *argument == "FILE" { file.to_str().unwrap() } else { argument });
    let mut child = Command::new(env!("CARGO_BIN_EXE_project"))
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(into.try_clone().unwrap())
        .stderr(into)
        .spawn()
        .unwrap();
    let ended = child.wait_timeout(LIMIT).unwrap();
    if ended.is_none() {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    (ended.and_then(|status| status.code()), fs::read_to_string(&output).unwrap())
}

#[test]
fn every_command_reports_the_line_and_exits_with_2() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("broken.yaml");
    for (what, content, line) in broken() {
        fs::write(&file, content).unwrap();
        for arguments in [
            &["check", "--code", CODE_FILE, "--spec", "FILE"][..],
            &["check", "--code", CODE_FILE, "--spec", "FILE", "--format", "json"],
            &["lint", "--spec", "FILE"],
            &["breaking", "--base", "FILE", "--spec", LIBRARY_FILE],
            &["breaking", "--base", LIBRARY_FILE, "--spec", "FILE"],
        ] {
            let (code, output) = run(arguments, &file);
            assert_eq!(code, Some(2), "{what}: {arguments:?}: {output}");
            let place = [format!("broken.yaml:{line}:"), format!("\"line\": {line},")];
            assert!(
                place.iter().any(|place| output.contains(place)),
                "{what}: {arguments:?}: line {line}: {output}"
            );
            assert!(output.len() < 5_000, "{what}: {arguments:?}: {} bytes of output", output.len());
        }
    }
}

#[test]
fn the_error_names_a_missing_file_or_a_directory() {
    let directory = tempfile::tempdir().unwrap();
    for file in [directory.path().join("none.yaml"), directory.path().to_owned()] {
        for command in [&["check", "--code", CODE_FILE][..], &["lint"]] {
            let mut program = Command::new(env!("CARGO_BIN_EXE_project"));
            let output = program.args(command).arg("--spec").arg(&file).output().unwrap();
            let printed = [output.stdout, output.stderr].concat();
            let printed = String::from_utf8(printed).unwrap();
            assert_eq!(output.status.code(), Some(2), "{command:?}: {printed}");
            assert!(printed.contains(file.to_str().unwrap()), "{command:?}: {printed}");
        }
    }
}
