//! Measures the instructions and allocations of a request, and compares them with the committed table.
//!
//! Instructions mostly repeat within 2% on a busy machine, where times do not.

use launcher::workspace::workspace;

use super::Plan;
use super::baseline::{self, Figures, Table};
use super::callgrind;
use super::load::Request;
use super::profile::Profile;
use super::requests::Clients;
use super::seed::Postgres;
use super::server::{Programs, Server};
use super::table::{grouped, median, table};

/// The number of animals at the start.
const ANIMALS: u64 = 1_000;
/// The requests before the measurement, which fill caches and open connections to the database.
const WARM_UP: u64 = 640;
/// The requests in a round: callgrind makes a server fifty times slower.
const REQUESTS: u64 = 1_000;
/// The committed table, from the root of the repository.
const COMMITTED: &str = "xtask/src/bench/instructions-callgrind.toml";

/// Measures each request to each server and prints the table. Returns the exit status: 1 if a figure became worse.
pub(super) fn run(plan: &Plan<'_>) -> Result<u8, String> {
    callgrind::available()?;
    let programs = Programs::build()?;
    let launcher = callgrind::launcher(&plan.directory);
    let mut rows = Vec::new();
    for name in ["bare-hyper", "bare-dropshot"] {
        let server = programs.bare(name, plan, &launcher)?;
        rows.push((format!("{name}, hello"), count(plan, &server, &Request::Path("/".to_owned()))?));
    }
    let postgres = Postgres::start()?;
    let mut stores = vec![programs.sqlite("animals", ANIMALS, plan)?];
    if let Some(postgres) = &postgres {
        stores.push(programs.postgres("postgres", postgres, ANIMALS, plan)?);
    }
    for store in &stores {
        let server = programs.serve(store, &launcher)?;
        for (what, request) in Request::of_this_service(ANIMALS) {
            rows.push((format!("{}, {what}", server.name), count(plan, &server, &request)?));
        }
    }
    let cells = |(row, figures): &(String, Figures)| {
        vec![row.clone(), grouped(figures.user), figures.allocations.to_string()]
    };
    println!("\n{}", table("server, request | user instructions | allocations", rows.iter().map(cells)));
    judge(plan, rows.into_iter().collect())
}

/// Counts what one request costs a server: the medians of the rounds.
pub(super) fn count(plan: &Plan<'_>, server: &Server, request: &Request) -> Result<Figures, String> {
    let mut clients = Clients::connect(server)?;
    clients.send(request, WARM_UP)?;
    let mut rounds = Vec::new();
    for _ in 0..plan.options.rounds {
        let work = || clients.send(request, REQUESTS);
        rounds.push(callgrind::count(server.id(), &plan.directory, work)?);
    }
    let of = |figure: fn(&Profile) -> u64| {
        median(rounds.iter().map(|round| figure(round) as f64)) / REQUESTS as f64
    };
    let allocations = of(|round| round.allocations);
    Ok(Figures {
        user: of(|round| round.instructions).round(),
        allocations: (allocations * 10.0).round() / 10.0,
    })
}

/// Writes the committed table, or compares with it. Returns the exit status.
fn judge(plan: &Plan<'_>, measured: Table) -> Result<u8, String> {
    let file = workspace().join(COMMITTED);
    if plan.options.update {
        baseline::write(&file, &measured)?;
        println!("bench: wrote {COMMITTED}");
        return Ok(0);
    }
    let difference = baseline::compare(&baseline::read(&file)?, &measured);
    for line in difference.worse.iter().chain(&difference.missing) {
        println!("bench: {line}");
    }
    if difference.worse.is_empty() {
        println!("bench: nothing is worse than in {COMMITTED} by more than 2%");
    }
    Ok(u8::from(!difference.worse.is_empty()))
}
