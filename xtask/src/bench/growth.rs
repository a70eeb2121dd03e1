//! How the time of a request grows with the store.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Duration;

use ureq::Agent;

use super::Plan;
use super::load::{Load, Request};
use super::seed::Postgres;
use super::server::{Programs, Server};
use super::table::{grouped, median, table};
use crate::workspace::in_file;

const SIZES: [u64; 5] = [1_000, 10_000, 100_000, 1_000_000, 10_000_000];
const REQUESTS: [&str; 4] = ["get by id", "first page", "deep page", "rare filter"];

/// A store of one size, served.
struct Stage {
    size: u64,
    server: Server,
    requests: [Request; 4],
    /// By request, the requests per second of each round.
    rates: [Vec<f64>; 4],
}

/// Measures on each database.
pub(super) fn run(plan: &Plan) -> Result<(), String> {
    let load = Load::new(plan)?;
    let programs = Programs::build()?;
    grow("SQLite", plan, &load, |size| programs.on_sqlite(size, plan))?;
    if let Some(postgres) = Postgres::start()? {
        grow("PostgreSQL", plan, &load, |size| programs.on_postgres(&postgres, size, plan))?;
    }
    Ok(())
}

/// Each round sends every request to the stores of all sizes, in turn: the machine's load varies more slowly.
fn grow(
    database: &str,
    plan: &Plan,
    load: &Load,
    serve: impl Fn(u64) -> Result<Server, String>,
) -> Result<(), String> {
    let mut stages = Vec::new();
    for size in SIZES.into_iter().filter(|size| *size <= plan.most) {
        println!("bench: {database}, makes a store of {} animals", grouped(size as f64));
        stages.push(Stage::new(size, serve(size)?)?);
    }
    for round in 1..=plan.rounds {
        for request in 0..REQUESTS.len() {
            for stage in &mut stages {
                stage.server.file.as_deref().map_or(Ok(0), read_through)?;
                let measured = load.measure(&stage.server, &stage.requests[request])?;
                stage.rates[request].push(measured.rate);
            }
        }
        println!("bench: round {round} of {}", plan.rounds);
    }
    println!("\n{}", shown(database, &stages));
    Ok(())
}

impl Stage {
    fn new(size: u64, server: Server) -> Result<Self, String> {
        let first = "/v1/pets";
        let requests = [
            Request::Random(size),
            Request::Path(first.to_owned()),
            Request::Path(middle(&server, first, size)?),
            Request::Path("/v1/pets?status=sold".to_owned()),
        ];
        Ok(Self { size, server, requests, rates: Default::default() })
    }
}

/// The page of 20 in the middle of the list, as one comes there: by following `next`.
fn middle(server: &Server, path: &str, size: u64) -> Result<String, String> {
    let agent: Agent = Agent::config_builder().timeout_global(Some(Duration::from_secs(10))).build().into();
    let mut next = format!("{path}?limit=100");
    for _ in 0..size / 200 {
        let url = format!("{}{next}", server.address);
        let key = server.key.as_deref().unwrap_or_default();
        let answer = agent.get(&url).header("Authorization", format!("Bearer {key}")).call();
        let mut answer = answer.map_err(|error| format!("{url}: {error}"))?;
        let link = answer.headers().get("link").and_then(|link| link.to_str().ok());
        let link = link.and_then(|link| link.strip_prefix('<')?.split_once('>'));
        next = link.map(|(target, _)| target.to_owned()).ok_or_else(|| format!("{url}: has no next page"))?;
        // Read to its end, so that the connection can be used again.
        answer.body_mut().read_to_vec().map_err(|error| format!("{url}: {error}"))?;
    }
    Ok(next.replace("limit=100", "limit=20"))
}

/// Reads a file, so that the operating system has it in memory.
fn read_through(path: &Path) -> Result<u64, String> {
    File::open(path).and_then(|mut file| io::copy(&mut file, &mut io::sink())).map_err(in_file(path))
}

/// The table. Its last column is the median of the ratios of the rounds.
fn shown(database: &str, stages: &[Stage]) -> String {
    let mut head = vec![format!("on {database}, requests/s")];
    head.extend(stages.iter().map(|stage| grouped(stage.size as f64)));
    head.push("time, last to first".to_owned());
    let row = |(number, request): (usize, &&str)| {
        let rates = |stage: &Stage| stage.rates[number].clone();
        let mut row = vec![(*request).to_owned()];
        row.extend(stages.iter().map(|stage| grouped(median(rates(stage)))));
        if let (Some(first), Some(last)) = (stages.first(), stages.last()) {
            let ratios = rates(first).into_iter().zip(rates(last)).map(|(first, last)| first / last);
            row.push(format!("{:.2}", median(ratios)));
        }
        row
    };
    let rows: Vec<_> = REQUESTS.iter().enumerate().map(row).collect();
    table(&head.iter().map(String::as_str).collect::<Vec<_>>(), &rows)
}
