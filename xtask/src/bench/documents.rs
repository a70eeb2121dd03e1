//! What `lint` and `breaking` cost on large documents, and how that grows with them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use contract::document::Document;
use contract::openapi::Model;
use contract::rule::Findings;

use super::command::Plan;
use super::generate;
use super::table::{grouped, median, milliseconds, table};
use crate::workspace::own_spec;

const OPERATIONS: [usize; 2] = [100, 1_000];

/// A large document, and the same after a release: one parameter allows more.
struct Pair {
    operations: usize,
    bytes: u64,
    base: PathBuf,
    revision: PathBuf,
}

/// Each round runs both commands on the smaller and on the larger document.
pub(super) fn run(plan: &Plan) -> Result<(), String> {
    println!("bench: lint and breaking on large documents, {} rounds", plan.rounds);
    let program = std::env::current_exe().map_err(|error| format!("where am I: {error}"))?;
    let pairs: Vec<_> =
        OPERATIONS.iter().map(|count| Pair::write(*count, &plan.directory)).collect::<Result<_, _>>()?;
    let mut times = vec![[Vec::new(), Vec::new()]; pairs.len()];
    for _ in 0..plan.rounds {
        for (pair, [lint, breaking]) in pairs.iter().zip(&mut times) {
            let base = pair.base.as_os_str();
            lint.push(timed(Command::new(&program).args(["lint", "--spec"]).arg(base))?);
            let mut compare = Command::new(&program);
            compare.args(["breaking", "--base"]).arg(base).arg("--spec").arg(&pair.revision);
            breaking.push(timed(&mut compare)?);
        }
    }
    let head = ["operations", "MB", "`lint`, median s", "`breaking`, median s"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let medians: Vec<[f64; 2]> =
        times.into_iter().map(|both| both.map(|times| median(times) / 1e3)).collect();
    for (pair, [lint, breaking]) in pairs.iter().zip(&medians) {
        rows.push(vec![
            grouped(pair.operations as f64),
            format!("{:.1}", pair.bytes as f64 / 1e6),
            format!("{lint:.2}"),
            format!("{breaking:.2}"),
        ]);
    }
    let [small, large] = [medians[0], medians[1]];
    let ratio = |command: usize| format!("{:.1} times", large[command] / small[command]);
    rows.push(vec!["10 times the operations".to_owned(), String::new(), ratio(0), ratio(1)]);
    println!("\n{}", table(&rows));
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
        for (path, text) in [(&base, &text), (&revision, &revised)] {
            fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        }
        Ok(Self { operations, bytes: text.len() as u64, base, revision })
    }
}

/// How long a command takes that finds nothing to fail for, in milliseconds.
fn timed(command: &mut Command) -> Result<f64, String> {
    let start = Instant::now();
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("{command:?}: {error}"))?;
    let took = milliseconds(start.elapsed());
    if output.status.success() {
        return Ok(took);
    }
    let said = String::from_utf8_lossy(&output.stdout);
    Err(format!("{command:?} fails, which it should not: {}", said.lines().next().unwrap_or_default()))
}
