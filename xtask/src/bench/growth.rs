//! What becomes of the time of a request when the store grows.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ureq::Agent;

use super::command::Plan;
use super::load::{Load, Request};
use super::picture::{self, Line};
use super::postgres::Postgres;
use super::seed;
use super::server::{Programs, Server};
use super::table::{grouped, median, table};

const SIZES: [u64; 5] = [1_000, 10_000, 100_000, 1_000_000, 10_000_000];
const REQUESTS: [&str; 4] = ["get by id", "first page", "deep page", "rare filter"];

/// A store of one size, served.
struct Stage {
    size: u64,
    /// What the operating system is to have in memory; it may have put away what was not read for a while.
    file: Option<PathBuf>,
    server: Server,
    requests: [Request; 4],
    /// By request, the answers per second of each round.
    rates: [Vec<f64>; 4],
}

/// Each round sends every request to the stores of all sizes, in turn: the machine's own ups and downs are longer.
pub(super) fn run(plan: &Plan) -> Result<(), String> {
    let load = Load::new(plan)?;
    let programs = Programs::build()?;
    let mut lines = Vec::new();
    lines.extend(grow("SQLite", plan, &load, |size| on_sqlite(&programs, size, plan))?);
    if let Some(postgres) = Postgres::start()? {
        lines.extend(grow("PostgreSQL", plan, &load, |size| on_postgres(&programs, &postgres, size, plan))?);
    }
    picture::draw(&plan.picture, &lines)?;
    println!("bench: drew {}", plan.picture.display());
    Ok(())
}

fn grow(
    database: &'static str,
    plan: &Plan,
    load: &Load,
    serve: impl Fn(u64) -> Result<(Option<PathBuf>, Server), String>,
) -> Result<Vec<Line>, String> {
    let mut stages = Vec::new();
    for size in SIZES.into_iter().filter(|size| *size <= plan.most) {
        println!("bench: {database}, makes a store of {} animals", grouped(size as f64));
        let (file, server) = serve(size)?;
        stages.push(Stage::new(size, file, server)?);
    }
    for round in 1..=plan.rounds {
        for request in 0..REQUESTS.len() {
            for stage in &mut stages {
                stage.file.as_deref().map_or(Ok(0), read_through)?;
                let measured = load.measure(&stage.server, &stage.requests[request])?;
                stage.rates[request].push(measured.rate);
            }
        }
        println!("bench: round {round} of {}", plan.rounds);
    }
    println!("\n{}", shown(database, &stages));
    let line = |(number, request): (usize, &&'static str)| Line {
        database,
        request,
        points: stages.iter().map(|stage| (stage.size, stage.slower_than(&stages[0], number))).collect(),
    };
    Ok(REQUESTS.iter().enumerate().map(line).collect())
}

fn on_sqlite(programs: &Programs, size: u64, plan: &Plan) -> Result<(Option<PathBuf>, Server), String> {
    let file = plan.directory.join(format!("{size}.db"));
    let database = format!("sqlite:{}", file.display());
    let key = programs.key(&database)?;
    seed::sqlite(&file, size)?;
    let log = plan.directory.join(format!("sqlite-{size}"));
    Ok((Some(file), programs.service("on SQLite", &database, key, &log)?))
}

fn on_postgres(
    programs: &Programs,
    postgres: &Postgres,
    size: u64,
    plan: &Plan,
) -> Result<(Option<PathBuf>, Server), String> {
    let database = postgres.database();
    let key = programs.key(&database)?;
    postgres.run(&database, &seed::postgres(size))?;
    let log = plan.directory.join(format!("postgres-{size}"));
    Ok((None, programs.service("on PostgreSQL", &database, key, &log)?))
}

impl Stage {
    fn new(size: u64, file: Option<PathBuf>, server: Server) -> Result<Self, String> {
        let first = "/v1/pets";
        let deep = middle(&server, first, size)?;
        let requests = [
            Request::Random(size),
            Request::Path(first.to_owned()),
            Request::Path(deep),
            Request::Path("/v1/pets?status=sold".to_owned()),
        ];
        Ok(Self { size, file, server, requests, rates: Default::default() })
    }

    /// How many times the time of a request, the median of the rounds.
    fn slower_than(&self, smallest: &Self, request: usize) -> f64 {
        let pairs = smallest.rates[request].iter().zip(&self.rates[request]);
        median(pairs.map(|(before, now)| before / now))
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

/// Reads a file from its beginning to its end.
fn read_through(path: &Path) -> Result<u64, String> {
    let read = File::open(path).and_then(|mut file| io::copy(&mut file, &mut io::sink()));
    read.map_err(|error| format!("{}: {error}", path.display()))
}

fn shown(database: &str, stages: &[Stage]) -> String {
    let mut rows = vec![
        [format!("on {database}, requests/s")]
            .into_iter()
            .chain(stages.iter().map(|stage| grouped(stage.size as f64)))
            .chain(["time, last to first".to_owned()])
            .collect::<Vec<_>>(),
    ];
    for (number, request) in REQUESTS.iter().enumerate() {
        let rates = stages.iter().map(|stage| grouped(median(stage.rates[number].iter().copied())));
        let last = stages.last().map(|last| last.slower_than(&stages[0], number));
        let last = last.map(|ratio| format!("{ratio:.2}"));
        rows.push([(*request).to_owned()].into_iter().chain(rates).chain(last).collect());
    }
    table(&rows)
}
