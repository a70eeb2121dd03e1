//! The time of `lint` and `breaking` on large documents, and how it grows with their size.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use contract::document::Document;
use contract::openapi::Model;
use contract::rule::Findings;

use super::table::{grouped, median, table, timed};
use super::{Plan, generate};
use crate::process::output;
use crate::workspace::{in_file, own_spec};

const OPERATIONS: [usize; 2] = [100, 1_000];

/// A large document and a revision of it, in which one parameter allows more; and what was measured.
struct Pair {
    bytes: usize,
    base: PathBuf,
    revision: PathBuf,
    lint: Vec<f64>,
    breaking: Vec<f64>,
}

/// Each round runs both commands on the smaller and on the larger document.
pub(super) fn run(plan: &Plan) -> Result<(), String> {
    println!("bench: lint and breaking on large documents, {} rounds", plan.rounds);
    let program = std::env::current_exe().map_err(|error| format!("the path of this program: {error}"))?;
    let [small, large] = OPERATIONS.map(|count| Pair::write(count, &plan.directory));
    let mut pairs = [small?, large?];
    for _ in 0..plan.rounds {
        for pair in &mut pairs {
            pair.lint.push(seconds_of(Command::new(&program).args(["lint", "--spec"]).arg(&pair.base))?);
            let mut breaking = Command::new(&program);
            breaking.args(["breaking", "--base"]).arg(&pair.base).arg("--spec").arg(&pair.revision);
            pair.breaking.push(seconds_of(&mut breaking)?);
        }
    }
    let medians = pairs.each_ref().map(|pair| [&pair.lint, &pair.breaking].map(|it| median(it.clone())));
    let row = |number: usize| {
        let [lint, breaking] = medians[number];
        let megabytes = pairs[number].bytes as f64 / 1e6;
        let figures = [format!("{megabytes:.1}"), format!("{lint:.2}"), format!("{breaking:.2}")];
        [vec![grouped(OPERATIONS[number] as f64)], figures.to_vec()].concat()
    };
    let ratio = |command: usize| format!("{:.1} times", medians[1][command] / medians[0][command]);
    let ratios = vec!["10 times the operations".to_owned(), String::new(), ratio(0), ratio(1)];
    let head = ["operations", "MB", "`lint`, median s", "`breaking`, median s"];
    println!("\n{}", table(&head, &[row(0), row(1), ratios]));
    Ok(())
}

impl Pair {
    fn write(operations: usize, directory: &Path) -> Result<Self, String> {
        let [base, revision] =
            ["base", "revision"].map(|name| directory.join(format!("{operations}-{name}.yaml")));
        let own = Document::load(&own_spec()).map_err(|unreadable| unreadable.problem.to_string())?;
        let per_copy = Model::of(&own, &mut Findings::default()).operations().count().max(1);
        let text = generate::repeated(&own, operations.div_ceil(per_copy));
        let revised =
            text.replace("version: 1.0.0", "version: 1.1.0").replace("maximum: 100\n", "maximum: 200\n");
        fs::write(&base, &text).map_err(in_file(&base))?;
        fs::write(&revision, revised).map_err(in_file(&revision))?;
        Ok(Self { bytes: text.len(), base, revision, lint: Vec::new(), breaking: Vec::new() })
    }
}

/// How long a command takes that must succeed.
fn seconds_of(command: &mut Command) -> Result<f64, String> {
    let (output, took) = timed(|| output(command));
    let output = output?;
    if output.status.success() {
        return Ok(took);
    }
    let said = String::from_utf8_lossy(&output.stdout);
    Err(format!("{command:?} fails: {}", said.lines().next().unwrap_or_default()))
}
