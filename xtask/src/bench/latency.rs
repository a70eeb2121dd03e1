//! Measures response times at fixed rates with oha, in an open loop: requests are sent at their time, however long
//! earlier ones take, and a response time counts from that time. So a slow server does not delay the requests that
//! would show it (coordinated omission).

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;
use std::time::Duration;

use launcher::process::output;
use launcher::workspace::in_file;
use serde::Deserialize;

use super::Plan;
use super::load::{BODY, CONNECTIONS};
use super::seed::Postgres;
use super::server::{Programs, Server};
use super::table::{grouped, median, table};
use crate::process::{self, Running};

const ANIMALS: u64 = 1_000_000;
/// The additions per second during all measurements.
const ADDITIONS: u64 = 500;
/// The measured requests; the paths are regular expressions that oha generates paths from.
const REQUESTS: [(&str, &str); 2] = [("get by id", "/v1/pets/[1-9][0-9]{5}"), ("list of 20", "/v1/pets")];
/// The rates, as shares of the capacity.
const SHARES: [f64; 3] = [0.1, 0.5, 0.8];
const INSTALL: &str = "cargo install oha --locked";

/// The report of oha; times are in seconds.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    summary: Summary,
    latency_percentiles: BTreeMap<String, Option<f64>>,
    status_code_distribution: BTreeMap<String, u64>,
    error_distribution: BTreeMap<String, u64>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Summary {
    requests_per_sec: f64,
}

/// One request to one server, with the results of all rounds.
struct Row<'s> {
    server: &'s Server,
    what: &'static str,
    path: &'static str,
    /// Responses per second in a closed loop.
    capacity: f64,
    /// The reports for each of [`SHARES`].
    reports: [Vec<Report>; 3],
}

/// Measures the gets and lists of both stores, and prints the table.
pub(super) fn run(plan: &Plan<'_>) -> Result<(), String> {
    output(Command::new("oha").arg("--version"))
        .map_err(|error| format!("{error}; to install it: {INSTALL}"))?;
    let programs = Programs::build()?;
    let postgres = Postgres::start()?;
    let mut servers = vec![programs.serve(&programs.sqlite("animals", ANIMALS, plan)?, &[])?];
    if let Some(postgres) = &postgres {
        servers.push(programs.serve(&programs.postgres(postgres, ANIMALS, plan)?, &[])?);
    }
    let mut rows = Vec::new();
    for server in &servers {
        for (what, path) in REQUESTS {
            let mut rates = Vec::new();
            for _ in 0..plan.options.rounds {
                rates.push(measure(plan, server, path, None)?.summary.requests_per_sec);
            }
            let capacity = median(rates);
            println!("bench: {}, {what}: capacity {}/s", server.name, grouped(capacity));
            rows.push(Row { server, what, path, capacity, reports: Default::default() });
        }
    }
    for round in 1..=plan.options.rounds {
        for row in &mut rows {
            for (share, reports) in SHARES.iter().zip(&mut row.reports) {
                reports.push(measure(plan, row.server, row.path, Some(row.capacity * share))?);
            }
        }
        println!("bench: round {round} of {}", plan.options.rounds);
    }
    let head = "server, request | load | requests/s | p50 ms | p99 ms | p99.9 ms";
    println!("\n{}", table(head, rows.iter().flat_map(cells)));
    Ok(())
}

/// Returns the lines of the table of one request.
fn cells<'r>(row: &'r Row<'_>) -> impl Iterator<Item = Vec<String>> + 'r {
    let name = format!("{}, {}", row.server.name, row.what);
    let capacity = ["capacity".to_owned(), grouped(row.capacity)].into_iter();
    let first = [name.clone()].into_iter().chain(capacity).chain(["", "", ""].map(str::to_owned)).collect();
    let others = SHARES.iter().zip(&row.reports).map(move |(share, reports)| {
        let rate = median(reports.iter().map(|report| report.summary.requests_per_sec));
        let percentiles = ["p50", "p99", "p99.9"].map(|percentile| {
            let values = reports.iter().filter_map(|report| *report.latency_percentiles.get(percentile)?);
            format!("{:.2}", median(values) * 1e3)
        });
        let load = [format!("{:.0}%", share * 100.0), grouped(rate)];
        [name.clone()].into_iter().chain(load).chain(percentiles).collect()
    });
    [first].into_iter().chain(others)
}

/// Requests a path while animals are added: at a rate, or as fast as the responses arrive.
fn measure(plan: &Plan<'_>, server: &Server, path: &str, rate: Option<f64>) -> Result<Report, String> {
    let seconds = plan.options.seconds;
    let url = server.address.clone();
    let mut reads = oha(server);
    match rate {
        // A number of requests rather than a duration, after which those that are late would not be counted.
        Some(rate) => {
            let rate = rate.round().max(1.0);
            reads.args(["-q", &rate.to_string(), "-n", &(rate * seconds as f64).to_string()]);
            reads.arg("--latency-correction");
        }
        None => drop(reads.args(["-z", &format!("{seconds}s")])),
    }
    reads.args(["-c", &CONNECTIONS.to_string(), "--rand-regex-url", &format!("{url}{path}")]);
    let mut additions = oha(server);
    additions.args(["-q", &ADDITIONS.to_string(), "-n", &(ADDITIONS * seconds).to_string(), "-c", "8"]);
    additions.args(["-m", "POST", "-T", "application/json", "-d", BODY, &format!("{url}/v1/pets")]);
    let limit = Duration::from_secs(seconds * 10 + 60);

    let log = plan.directory.join("additions.json");
    let file = fs::File::create(&log).map_err(in_file(&log))?;
    let mut adding = Running::start(additions.stdout(file))?;
    let report = process::run("oha", &mut reads, &plan.directory, limit)?;
    let report = read(&report, "200", rate.is_none())?;
    match adding.end(limit) {
        Some(status) if status.success() => {}
        other => return Err(format!("the additions did not end: {other:?}")),
    }
    read(&fs::read_to_string(&log).map_err(in_file(&log))?, "201", false)?;
    Ok(report)
}

/// Returns the part of the command that all loads have.
fn oha(server: &Server) -> Command {
    let mut command = Command::new("oha");
    command.args(["--no-tui", "--output-format", "json"]);
    let key = server.key.as_deref().unwrap_or_default();
    command.args(["-H", &format!("Authorization: Bearer {key}")]);
    command
}

/// Reads a report. Every response must have the status. At the end of a duration oha aborts some requests.
fn read(json: &str, status: &str, aborted: bool) -> Result<Report, String> {
    let report: Report =
        serde_json::from_str(json).map_err(|error| format!("unexpected output of oha: {error}"))?;
    if report.status_code_distribution.keys().any(|other| other != status) {
        return Err(format!("expected only responses with {status}: {:?}", report.status_code_distribution));
    }
    if !(aborted || report.error_distribution.is_empty()) {
        return Err(format!("requests failed: {:?}", report.error_distribution));
    }
    Ok(report)
}
