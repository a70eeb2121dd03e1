//! Generates load with `wrk`: 64 connections on two threads.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use launcher::workspace::in_file;

use super::Plan;
use super::server::Server;
use super::table::{grouped, median};
use crate::process;

pub(super) const CONNECTIONS: u32 = 64;
/// The animal that is added.
pub(super) const BODY: &str = r#"{"name":"Bruno","categoryId":7,"status":"available"}"#;
const SCRIPT: &str = include_str!("load.lua");
/// How long a server is loaded before the measurement.
const WARM_UP: Duration = Duration::from_secs(1);

/// The request that is repeated.
#[derive(Clone, Debug)]
pub(super) enum Request {
    /// GET of a path.
    Path(String),
    /// GET of a random animal, of this many.
    Random(u64),
    /// POST of a new animal.
    Add,
    /// POST of a new animal with a new idempotency key.
    AddOnce,
}

impl Request {
    /// The requests to a server with this many animals.
    pub(super) fn of(server: &Server<'_>, animals: u64) -> Vec<(&'static str, Self)> {
        if server.key().is_none() {
            return vec![("hello", Self::Path("/".to_owned()))];
        }
        Self::operations(animals).into_iter().chain([("durable add with a key", Self::AddOnce)]).collect()
    }

    /// The three requests that servers with this many animals are compared by.
    pub(super) fn operations(animals: u64) -> [(&'static str, Self); 3] {
        [
            ("get by id", Self::Random(animals)),
            ("list of 20", Self::Path("/v1/pets".to_owned())),
            ("durable add", Self::Add),
        ]
    }
}

/// The result of one measurement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured {
    /// Responses per second.
    pub(super) rate: f64,
    /// The 99th percentile of the response times, in milliseconds.
    pub(super) p99: f64,
    /// CPU time of the server's processes per response, in microseconds.
    pub(super) processor: f64,
    /// CPU time of the processes of PostgreSQL per response, in microseconds; 0 for other databases.
    pub(super) database: f64,
}

/// One request to one server, with the results of all rounds.
pub(super) struct Row<'s> {
    pub(super) server: &'s Server<'s>,
    pub(super) what: &'static str,
    request: Request,
    rounds: Vec<Measured>,
}

impl<'s> Row<'s> {
    pub(super) fn new(server: &'s Server<'s>, what: &'static str, request: Request) -> Self {
        Self { server, what, request, rounds: Vec::new() }
    }

    /// The median of a figure over the rounds.
    pub(super) fn median(&self, figure: fn(&Measured) -> f64) -> f64 {
        median(self.rounds.iter().map(figure))
    }

    /// The cells that all tables have: a name, requests per second, 99th percentile and CPU time.
    pub(super) fn cells(&self, name: &str) -> [String; 4] {
        let [p99, processor] = [self.median(|round| round.p99), self.median(|round| round.processor)];
        let rate = grouped(self.median(|round| round.rate));
        [name.to_owned(), rate, format!("{p99:.1}"), format!("{processor:.1}")]
    }

    /// The median over the rounds of this row's rate relative to another row's.
    pub(super) fn share_of(&self, other: &Self) -> f64 {
        median(self.rounds.iter().zip(&other.rounds).map(|(this, other)| this.rate / other.rate))
    }
}

/// The load generator.
pub(super) struct Load<'p> {
    plan: &'p Plan<'p>,
    script: PathBuf,
}

impl<'p> Load<'p> {
    /// Writes the script for `wrk`. Fails if `wrk` is not installed.
    pub(super) fn new(plan: &'p Plan<'p>) -> Result<Self, String> {
        // wrk exits with 1 even if it prints its version.
        Command::new("wrk")
            .arg("--version")
            .output()
            .map_err(|error| format!("cannot run wrk ({error}); on Debian: apt-get install wrk"))?;
        let script = plan.directory.join("load.lua");
        fs::write(&script, SCRIPT).map_err(in_file(&script))?;
        Ok(Self { plan, script })
    }

    /// Measures every row in each round.
    pub(super) fn measure(&self, rows: &mut [Row<'_>]) -> Result<(), String> {
        let rounds = self.plan.options.rounds;
        for round in 1..=rounds {
            for row in &mut *rows {
                row.rounds.push(self.measure_once(row.server, &row.request)?);
            }
            println!("bench: round {round} of {rounds}");
        }
        Ok(())
    }

    /// Measures one request, after a warm-up.
    fn measure_once(&self, server: &Server<'_>, request: &Request) -> Result<Measured, String> {
        self.run(server, request, WARM_UP)?;
        let before = [server.processor_time()?, server.database_time()?];
        let time = Duration::from_secs(self.plan.options.seconds);
        let [requests, seconds, p99] = self.run(server, request, time)?;
        let each = |used: Duration| used.as_secs_f64() * 1e6 / requests;
        Ok(Measured {
            rate: requests / seconds,
            p99: p99 * 1e3,
            processor: each(server.processor_time()? - before[0]),
            database: each(server.database_time()? - before[1]),
        })
    }

    /// Runs wrk. Returns the number of requests, the duration, and the 99th percentile of response times, in seconds.
    fn run(&self, server: &Server<'_>, request: &Request, time: Duration) -> Result<[f64; 3], String> {
        let mut command = Command::new("wrk");
        command.args(["--threads", "2", "--connections", &CONNECTIONS.to_string()]);
        command.args(["--duration", &format!("{}s", time.as_secs()), "--timeout", "10s"]);
        command.arg("--script").arg(&self.script);
        if let Some(key) = server.key() {
            command.args(["--header", &format!("Authorization: Bearer {key}")]);
        }
        let path = if let Request::Path(path) = request { path } else { "/v1/pets" };
        command.args([&format!("{}{path}", server.address), "--"]);
        match request {
            Request::Path(_) => &mut command,
            Request::Random(pets) => command.args(["random", &pets.to_string()]),
            Request::Add => command.args(["add", BODY]),
            Request::AddOnce => command.args(["add-once", BODY]),
        };
        let logs = &self.plan.directory;
        let output = process::run("wrk", &mut command, logs, time + Duration::from_secs(30))?;
        let figures = output.lines().find_map(|line| line.strip_prefix("measured ")).unwrap_or_default();
        let figures: Vec<u64> = figures.split(' ').map_while(|figure| figure.parse().ok()).collect();
        match figures[..] {
            [requests, took, 0, 0, p99] if requests > 0 => {
                Ok([requests as f64, took as f64 / 1e6, p99 as f64 / 1e6])
            }
            [requests, _, failed, rejected, _] => Err(format!(
                "{}: {requests} responses, {rejected} with an error, and {failed} failed connections, for {request:?}",
                server.name()
            )),
            _ => Err(format!("unexpected output of wrk; see {}/wrk.out", logs.display())),
        }
    }
}
