//! `cargo xtask fuzz`: looks for inputs that break a rule of a parser of untrusted text (`xtask/lab/fuzz/rules.rs`).

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use xtask::parallel;
use xtask::process::{cargo, output, status};
use xtask::workspace::{ALL, beside, in_file, target, workspace};

/// How many targets run at the same time. Each uses one processor.
const AT_ONCE: usize = 2;
/// The limits of one input: seconds, and MiB of memory.
const LIMITS: [&str; 2] = ["-timeout=120", "-rss_limit_mb=512"];

/// Look for inputs that break a rule of a parser of untrusted text.
///
/// libFuzzer changes the inputs in xtask/lab/fuzz/corpus, and keeps those that take new branches in target/fuzz.
///
/// Exit status: 0, or 1 if an input was found, 2 if the targets cannot be run.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// The targets, which are the directories of xtask/lab/fuzz/corpus [default: all].
    targets: Vec<String>,
    /// The processor time to look for, in seconds, for all targets together.
    #[arg(long, value_name = "SECONDS", default_value_t = Options::default().seconds)]
    seconds: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { targets: Vec::new(), seconds: 60 }
    }
}

/// Builds and runs the targets. Returns the exit status.
///
/// # Errors
/// A message, if the targets do not build, or one cannot be run.
pub fn run(options: &Options) -> Result<u8, String> {
    let corpus = workspace().join("xtask/lab/fuzz/corpus");
    let mut targets = options.targets.clone();
    if targets.is_empty() {
        for entry in fs::read_dir(&corpus).map_err(in_file(&corpus))? {
            targets.push(entry.map_err(in_file(&corpus))?.file_name().to_string_lossy().into_owned());
        }
        targets.sort();
    }
    if let Some(name) = targets.iter().find(|name| !corpus.join(name).is_dir()) {
        return Err(format!("there is no target `{name}`; `ls xtask/lab/fuzz/corpus` shows all"));
    }
    // With the features of the whole workspace, so that cargo uses the crates that other builds compiled.
    let mut build = cargo(&["build", "--no-default-features", "--bin", "fuzz"]);
    build.args(ALL);
    build.env("RUSTC_WORKSPACE_WRAPPER", workspace().join("xtask/lab/fuzz/instrumented-rustc"));
    if !status(&mut build)?.success() {
        return Err("the package `fuzz` does not build, see above".to_owned());
    }
    let program = beside("fuzz")?;
    let found = target(&program)?.join("fuzz");
    let seconds = (options.seconds / targets.len()).max(1);
    let results = parallel::each(targets, AT_ONCE, |name| {
        run_one(&program, &corpus.join(&name), &found, (&name, seconds))
    });
    let passed = results.into_iter().collect::<Result<Vec<_>, _>>()?;
    Ok(u8::from(passed.contains(&false)))
}

/// Runs a target. Returns whether no input broke a rule.
fn run_one(
    program: &Path,
    corpus: &Path,
    found: &Path,
    (name, seconds): (&str, usize),
) -> Result<bool, String> {
    let kept = found.join(name);
    fs::create_dir_all(&kept).map_err(in_file(&kept))?;
    let mut command = Command::new(program);
    // libFuzzer writes to the first directory only.
    command.arg(&kept).arg(corpus).args(LIMITS).arg(format!("-max_total_time={seconds}"));
    command.arg(format!("-artifact_prefix={}/{name}-", found.display()));
    command.env("FUZZ_TARGET", name).env("RUST_BACKTRACE", "0");
    let Output { status, stderr, .. } = output(&mut command)?;
    let printed = String::from_utf8_lossy(&stderr);
    if status.success() {
        println!("fuzz: {name}: {}", printed.lines().last().unwrap_or_default());
        return Ok(true);
    }
    eprintln!("{printed}\nfuzz: {name} failed ({status})");
    if let Some(path) = printed.lines().find_map(|line| line.split_once("Test unit written to ")) {
        let input = fs::read(path.1).map_err(in_file(Path::new(path.1)))?;
        let corpus = corpus.display();
        eprintln!("fuzz: the input is \"{}\"", input.escape_ascii());
        eprintln!("fuzz: cp {} {corpus}; then `cargo test --package fuzz` fails until it is fixed", path.1);
    }
    Ok(false)
}
