//! What a designer waits for: `cargo xtask check` after the document was saved.

use std::fs::File;
use std::process::{Command, Stdio};
use std::time::{Instant, SystemTime};

use contract::drift::{Help, compare};

use super::command::Plan;
use super::table::{median, milliseconds, table};
use crate::ci::cargo;
use crate::dropshot::served;
use crate::workspace::{own_spec, workspace};
use contract::document::Document;

/// Each round saves the document and checks it, through cargo and without it.
pub(super) fn run(plan: &Plan) -> Result<(), String> {
    println!("bench: `cargo xtask check` after a save of the document, {} rounds", plan.rounds);
    let spec = own_spec();
    let mut check = Command::new(cargo());
    check.args(["xtask", "check"]).current_dir(workspace()).stdout(Stdio::null());
    let served = served::document()?.to_string();
    let code = Document::parse("the code", &served).map_err(|unreadable| unreadable.problem.to_string())?;
    let (mut whole, mut read, mut compared) = (Vec::new(), Vec::new(), Vec::new());
    // The first builds what is not built.
    for round in 0..=plan.rounds {
        // To cargo, a file that was saved is one with a newer time. Its text must stay as it is, also if we
        // are ended half-way.
        let save = File::options().append(true).open(&spec);
        save.and_then(|file| file.set_modified(SystemTime::now()))
            .map_err(|error| format!("{}: {error}", spec.display()))?;
        let start = Instant::now();
        let status = check.status().map_err(|error| format!("cargo cannot be run: {error}"))?;
        if !status.success() {
            return Err("`cargo xtask check` finds something; mend that first".to_owned());
        }
        if round == 0 {
            continue;
        }
        whole.push(milliseconds(start.elapsed()));
        let start = Instant::now();
        let document = Document::load(&spec).map_err(|_| format!("{}: unreadable", spec.display()))?;
        read.push(milliseconds(start.elapsed()));
        let start = Instant::now();
        compare(&document, &code, Help::default());
        compared.push(milliseconds(start.elapsed()));
    }
    let row = |what: &str, times: Vec<f64>| vec![what.to_owned(), format!("{:.1}", median(times))];
    let head = vec!["after a save of the document".to_owned(), "median ms".to_owned()];
    let rows = [
        head,
        row("`cargo xtask check`, cargo included", whole),
        row("of that, to read the document", read),
        row("of that, to compare it with the code", compared),
    ];
    println!("\n{}", table(&rows));
    Ok(())
}
