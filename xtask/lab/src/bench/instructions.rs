//! Measures the instructions of a request, and compares them with the committed table.
//!
//! Instructions mostly repeat within 2% on a busy machine, where times do not.

use std::collections::BTreeMap;
use std::fs;

use xtask::workspace::{in_file, workspace};

use super::Plan;
use super::callgrind;
use super::requests::{Clients, Request};
use super::seed::Postgres;
use super::server::{self, Server};
use super::table::{grouped, median, table};

/// The number of animals at the start.
const ANIMALS: u64 = 1_000;
/// The requests before the measurement, which fill caches and open connections to the database.
const WARM_UP: u64 = 640;
/// The requests in a round: callgrind makes a server fifty times slower.
const REQUESTS: u64 = 1_000;
/// The committed table, from the root of the repository.
const COMMITTED: &str = "xtask/lab/src/bench/instructions-callgrind.toml";
/// The ratio of a figure to the committed one above which it is worse.
const LIMIT: f64 = 1.02;

/// Instructions in user mode per request, by server and request.
pub type Table = BTreeMap<String, f64>;

/// Measures each request to each server and prints the table. Returns the exit status: 1 if a figure became worse.
pub(super) fn run(plan: &Plan<'_>) -> Result<u8, String> {
    let (mut rows, mut judged) = (Vec::new(), Table::new());
    let postgres = Postgres::start()?;
    for server in server::start(plan, ANIMALS, postgres.as_ref(), &callgrind::launcher(&plan.directory))? {
        for (what, request) in server.requests() {
            let (row, instructions) = (format!("{}, {what}", server.name), count(plan, &server, *request)?);
            // The servers without logic are for comparison.
            if server.key.is_some() {
                judged.insert(row.clone(), instructions);
            }
            rows.push((row, instructions));
        }
    }
    let cells = |(row, instructions): &(String, f64)| vec![row.clone(), grouped(*instructions)];
    println!("\n{}", table("server, request | user instructions", rows.iter().map(cells)));
    judge(plan, &judged)
}

/// Counts the instructions that one request costs a server: the median of the rounds.
fn count(plan: &Plan<'_>, server: &Server, request: Request) -> Result<f64, String> {
    let mut clients = Clients::connect(server, ANIMALS)?;
    clients.send(request, WARM_UP)?;
    let mut rounds = Vec::new();
    for _ in 0..plan.options.rounds {
        let work = || clients.send(request, REQUESTS);
        rounds.push(callgrind::count(server.id(), &plan.directory, work)?);
    }
    Ok((median(rounds) / REQUESTS as f64).round())
}

/// Writes the committed table, or compares with it. Returns the exit status.
fn judge(plan: &Plan<'_>, measured: &Table) -> Result<u8, String> {
    let file = workspace().join(COMMITTED);
    if plan.options.update {
        let text = toml::to_string(measured).map_err(in_file(&file))?;
        let head = "# Written by `cargo xtask bench instructions --update`; per request.\n\n";
        fs::write(&file, format!("{head}{text}")).map_err(in_file(&file))?;
        println!("bench: wrote {COMMITTED}");
        return Ok(0);
    }
    let committed = fs::read_to_string(&file).map_err(in_file(&file))?;
    let (worse, missing) = compare(&toml::from_str(&committed).map_err(in_file(&file))?, measured);
    worse.iter().chain(&missing).for_each(|line| println!("bench: {line}"));
    if worse.is_empty() {
        println!("bench: nothing is worse than in {COMMITTED} by more than 2%");
    }
    Ok(u8::from(!worse.is_empty()))
}

/// Returns a message for each figure that is worse by more than 2%, and one for each row that only one table has.
pub fn compare(committed: &Table, measured: &Table) -> (Vec<String>, Vec<String>) {
    let (mut worse, mut missing) = (Vec::new(), Vec::new());
    for (row, new) in measured {
        match committed.get(row) {
            None => missing.push(format!("{row}: was measured, but is not in the committed table")),
            Some(old) if *new > old * LIMIT => {
                let percent = (new / old - 1.0) * 100.0;
                worse.push(format!("{row}: {new} user instructions instead of {old}, {percent:.1}% more"));
            }
            Some(_) => {}
        }
    }
    let gone = committed.keys().filter(|row| !measured.contains_key(*row));
    missing.extend(gone.map(|row| format!("{row}: in the committed table, but was not measured")));
    (worse, missing)
}
