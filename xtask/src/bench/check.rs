//! The time of `cargo xtask check` after the document was saved.

use std::fs::File;
use std::process::Stdio;
use std::time::SystemTime;

use contract::document::Document;
use contract::drift::{Help, compare};

use super::Plan;
use super::table::{median, table, timed};
use crate::dropshot;
use crate::process::{cargo, status};
use crate::workspace::{in_file, own_spec};

/// Each round saves the document and checks it, through cargo and without it.
pub(super) fn run(plan: &Plan) -> Result<(), String> {
    println!("bench: `cargo xtask check` after a save of the document, {} rounds", plan.rounds);
    let spec = own_spec();
    let mut check = cargo(&["xtask", "check"]);
    check.stdout(Stdio::null());
    let code = dropshot::document()?;
    let (mut whole, mut read, mut compared) = (Vec::new(), Vec::new(), Vec::new());
    // The first builds what is not built.
    for round in 0..=plan.rounds {
        // To cargo, a file that was saved is one with a newer time. Its text must stay as it is, also if this
        // process is ended half-way.
        let save = File::options().append(true).open(&spec);
        save.and_then(|file| file.set_modified(SystemTime::now())).map_err(in_file(&spec))?;
        let (status, took) = timed(|| status(&mut check));
        if !status?.success() {
            return Err("`cargo xtask check` finds something; fix that first".to_owned());
        }
        if round > 0 {
            whole.push(took);
            let (document, took) = timed(|| Document::load(&spec));
            read.push(took);
            let document = document.map_err(|error| format!("{}: {}", error.path, error.problem))?;
            let (_, took) = timed(|| compare(&document, &code, Help::default()));
            compared.push(took);
        }
    }
    let row = |what: &str, times: Vec<f64>| vec![what.to_owned(), format!("{:.1}", median(times) * 1e3)];
    let rows = [
        row("`cargo xtask check`, cargo included", whole),
        row("of that, to read the document", read),
        row("of that, to compare it with the code", compared),
    ];
    println!("\n{}", table(&["after a save of the document", "median ms"], &rows));
    Ok(())
}
