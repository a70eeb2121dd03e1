//! Measures the instructions and allocations of a request, and compares them with the committed table.
//!
//! Instructions mostly repeat within 2% on a busy machine, where times do not.

use launcher::workspace::workspace;

use super::Plan;
use super::baseline::{self, Figures, Table};
use super::counter::{Counter, Counts};
use super::load::Request;
use super::requests::Clients;
use super::seed::Postgres;
use super::server::{Programs, Server};
use super::table::{grouped, median, table};

/// The number of animals at the start.
const ANIMALS: u64 = 1_000;
/// The requests before the measurement, which fill caches and open connections to the database.
const WARM_UP: u64 = 640;
const NOT_MEASURED: &str = "not measured";

/// Measures each request to each server and prints the table. Returns the exit status: 1 if a figure became worse.
pub(super) fn run(plan: &Plan<'_>) -> Result<u8, String> {
    let counter = Counter::available(&plan.directory)?;
    let programs = Programs::build()?;
    println!("bench: {}", counter.description());
    let launcher = counter.launcher(&plan.directory);
    let mut rows = Vec::new();
    for name in ["bare-hyper", "bare-dropshot"] {
        let server = programs.bare(name, plan, &launcher)?;
        rows.push((format!("{name}, hello"), count(plan, counter, &server, &Request::Path("/".to_owned()))?));
    }
    let server = programs.serve(&programs.sqlite("animals", ANIMALS, plan)?, &launcher)?;
    for (what, request) in Request::of_this_service(ANIMALS) {
        rows.push((format!("{}, {what}", server.name), count(plan, counter, &server, &request)?));
    }
    drop(server);
    if let Some(postgres) = Postgres::start()? {
        let server = programs.serve(&programs.postgres(&postgres, ANIMALS, plan)?, &launcher)?;
        for (what, request) in Request::of_this_service(ANIMALS) {
            let [ours, theirs] = count_both(plan, counter, &server, &postgres, &request)?;
            rows.push((format!("{}, {what}", server.name), ours));
            rows.push((format!("PostgreSQL itself, {what}"), theirs));
        }
    }
    print(&rows);
    judge(plan, counter, &rows)
}

/// Counts what one request costs a server.
pub(super) fn count(
    plan: &Plan<'_>,
    counter: Counter,
    server: &Server,
    request: &Request,
) -> Result<PerRequest, String> {
    let mut clients = Clients::connect(server)?;
    clients.send(request, WARM_UP)?;
    let requests = requests(counter);
    let mut rounds = Vec::new();
    for _ in 0..plan.options.rounds {
        let work = || clients.send(request, requests);
        rounds.push(counter.count(&server.processes()?, &plan.directory, work)?);
    }
    Ok(PerRequest::median(&rounds, requests))
}

/// Counts what one request costs the service and the processes of PostgreSQL.
fn count_both(
    plan: &Plan<'_>,
    counter: Counter,
    server: &Server,
    postgres: &Postgres,
    request: &Request,
) -> Result<[PerRequest; 2], String> {
    let mut clients = Clients::connect(server)?;
    clients.send(request, WARM_UP)?;
    let requests = requests(counter);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..plan.options.rounds {
        theirs.push(counter.count(&postgres.processes()?, &plan.directory, || {
            let work = || clients.send(request, requests);
            ours.push(counter.count(&server.processes()?, &plan.directory, work)?);
            Ok(())
        })?);
    }
    Ok([ours, theirs].map(|rounds| PerRequest::median(&rounds, requests)))
}

/// Returns the number of requests in a round: callgrind makes a server fifty times slower.
fn requests(counter: Counter) -> u64 {
    match counter {
        Counter::Perf => 20_000,
        Counter::Callgrind => 1_000,
    }
}

/// What one request costs. `None`: not measured.
#[derive(Clone, Copy)]
pub(super) struct PerRequest {
    pub(super) user: Option<f64>,
    kernel: Option<f64>,
    cycles: Option<f64>,
    allocations: Option<f64>,
}

impl PerRequest {
    /// Returns the medians of the rounds, divided by the number of requests in each.
    fn median(rounds: &[Counts], requests: u64) -> Self {
        let of = |figure: fn(&Counts) -> Option<u64>| {
            let sums: Option<Vec<f64>> =
                rounds.iter().map(|counts| figure(counts).map(|sum| sum as f64)).collect();
            sums.map(|sums| median(sums) / requests as f64)
        };
        Self {
            user: of(|counts| counts.user),
            kernel: of(|counts| counts.kernel),
            cycles: of(|counts| counts.cycles),
            allocations: of(|counts| counts.allocations),
        }
    }
}

/// Formats a figure.
pub(super) fn cell(figure: Option<f64>, format: fn(f64) -> String) -> String {
    figure.map_or_else(|| NOT_MEASURED.to_owned(), format)
}

fn print(rows: &[(String, PerRequest)]) {
    let cells = rows.iter().map(|(row, request)| {
        vec![
            row.clone(),
            cell(request.user, grouped),
            cell(request.kernel, grouped),
            cell(request.cycles, grouped),
            cell(request.allocations, |count| format!("{count:.1}")),
        ]
    });
    let head = "server, request | user instructions | kernel instructions | cycles | allocations";
    println!("\n{}", table(head, cells));
}

/// Writes the committed table, or compares with it. Returns the exit status.
fn judge(plan: &Plan<'_>, counter: Counter, rows: &[(String, PerRequest)]) -> Result<u8, String> {
    let figures = |request: &PerRequest| {
        let allocations = request.allocations.map(|count| (count * 10.0).round() / 10.0);
        Some(Figures { user: request.user?.round(), allocations })
    };
    let measured: Table =
        rows.iter().filter_map(|(row, request)| Some((row.clone(), figures(request)?))).collect();
    let name = format!("xtask/src/bench/instructions-{}.toml", counter.name());
    let file = workspace().join(&name);
    if plan.options.update {
        baseline::write(&file, &measured)?;
        println!("bench: wrote {name}");
        return Ok(0);
    }
    let Some(committed) = baseline::read(&file)? else {
        println!("bench: there is no {name} to compare with; --update writes it");
        return Ok(0);
    };
    let difference = baseline::compare(&committed, &measured);
    for line in difference.worse.iter().chain(&difference.missing) {
        println!("bench: {line}");
    }
    if difference.worse.is_empty() {
        println!("bench: nothing is worse than in {name} by more than 2%");
    }
    Ok(u8::from(!difference.worse.is_empty()))
}
