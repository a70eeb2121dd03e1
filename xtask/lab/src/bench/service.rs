//! Measures requests per second of a bare hyper server, a bare dropshot endpoint, and the service on both databases, with
//! `wrk`: 64 connections on two threads.

use std::fs;
use std::process::Command;
use std::time::Duration;

use xtask::workspace::in_file;

use super::Plan;
use super::requests::{BODY, CONNECTIONS, Request};
use super::seed::Postgres;
use super::server::{self, Server};
use super::table::{grouped, median, table};
use project::process;

/// The number of animals at the start.
const ANIMALS: u64 = 1_000_000;
const SCRIPT: &str = include_str!("load.lua");
/// How long a server is loaded before the measurement.
const WARM_UP: u64 = 1;

/// Measures each request to each server in each round, and prints the table.
pub(super) fn run(plan: &Plan<'_>) -> Result<(), String> {
    let rounds = plan.options.rounds;
    let postgres = Postgres::start()?;
    let servers = server::start(plan, ANIMALS, postgres.as_ref(), &[])?;
    println!("bench: {} animals, {} s a load", grouped(ANIMALS as f64), plan.options.seconds);
    let mut rows: Vec<_> = servers
        .iter()
        .flat_map(|server| {
            server.requests().iter().map(move |(what, request)| (server, *what, *request, Vec::new()))
        })
        .collect();
    for round in 1..=rounds {
        for (server, _, request, measured) in &mut rows {
            measured.push(measure(plan, server, *request)?);
        }
        println!("bench: round {round} of {rounds}");
    }
    let bare = &rows[0].3;
    let cells = |(server, what, _, measured): &(&Server, &str, Request, Vec<[f64; 3]>)| {
        let [rate, p99, processor] = [0, 1, 2].map(|figure| median(measured.iter().map(|it| it[figure])));
        let share = median(measured.iter().zip(bare).map(|(this, bare)| this[0] / bare[0]));
        let times = [p99, processor].map(|time| format!("{time:.1}"));
        [&[format!("{}, {what}", server.name), grouped(rate)][..], &times, &[format!("{share:.2}")]].concat()
    };
    let head = "server, request | requests/s | p99 ms | server CPU µs/request | of bare hyper";
    println!("\n{}", table(head, rows.iter().map(cells)));
    Ok(())
}

/// Measures one request, after a warm-up. Returns the responses per second, the 99th percentile of the response times in
/// milliseconds, and the CPU time of the server per response in microseconds.
fn measure(plan: &Plan<'_>, server: &Server, request: Request) -> Result<[f64; 3], String> {
    load(plan, server, request, WARM_UP)?;
    let before = server.processor_time()?;
    let [requests, seconds, p99] = load(plan, server, request, plan.options.seconds)?;
    Ok([requests / seconds, p99 * 1e3, (server.processor_time()? - before) * 1e6 / requests])
}

/// Runs wrk. Returns the number of requests, the duration, and the 99th percentile of response times, in seconds.
fn load(plan: &Plan<'_>, server: &Server, request: Request, seconds: u64) -> Result<[f64; 3], String> {
    let script = plan.directory.join("load.lua");
    fs::write(&script, SCRIPT).map_err(in_file(&script))?;
    let mut command = Command::new("wrk");
    command.args(["--threads", "2", "--connections", &CONNECTIONS.to_string()]);
    command.args(["--duration", &format!("{seconds}s"), "--timeout", "10s"]).arg("--script").arg(&script);
    if let Some(key) = &server.key {
        command.args(["--header", &format!("Authorization: Bearer {key}")]);
    }
    let path = if request == Request::Hello { "/" } else { "/v1/pets" };
    command.args([&format!("{}{path}", server.url), "--"]);
    match request {
        Request::Hello | Request::List => &mut command,
        Request::Get => command.args(["random", &ANIMALS.to_string()]),
        Request::Add => command.args(["add", BODY]),
        Request::AddOnce => command.args(["add-once", BODY]),
    };
    let output = process::run("wrk", &mut command, &plan.directory, Duration::from_secs(seconds + 30))?;
    let figures = output.lines().find_map(|line| line.strip_prefix("measured ")).unwrap_or_default();
    let figures: Vec<u64> = figures.split(' ').map_while(|figure| figure.parse().ok()).collect();
    match figures[..] {
        [requests, took, 0, 0, p99] if requests > 0 => {
            Ok([requests as f64, took as f64 / 1e6, p99 as f64 / 1e6])
        }
        [requests, _, failed, rejected, _] => Err(format!(
            "{}: {requests} responses, {rejected} with an error, and {failed} failed connections, for {request:?}",
            server.name
        )),
        _ => Err(format!("unexpected output of wrk; see {}/wrk.out", plan.directory.display())),
    }
}
