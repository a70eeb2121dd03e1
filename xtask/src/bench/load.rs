//! The load: `wrk`, with 64 connections on two threads.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use super::Plan;
use super::server::Server;
use crate::process;
use crate::workspace::in_file;

const CONNECTIONS: u32 = 64;
const SCRIPT: &str = include_str!("load.lua");
/// How long a server is loaded before it counts.
const WARM_UP: Duration = Duration::from_secs(1);

/// What is requested.
#[derive(Clone, Debug)]
pub(super) enum Request {
    /// The same path again and again.
    Path(String),
    /// Any of this many animals.
    Random(u64),
    /// A new animal.
    Add,
}

/// What came of one load.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured {
    /// Answers in a second.
    pub(super) rate: f64,
    /// Milliseconds that one answer of a hundred took longer than.
    pub(super) p99: f64,
    /// Microseconds of processor time that the server's process took for one answer.
    pub(super) processor: f64,
}

/// The load generator.
pub(super) struct Load {
    script: PathBuf,
    logs: PathBuf,
    time: Duration,
}

impl Load {
    /// Sees whether there is one.
    pub(super) fn new(plan: &Plan) -> Result<Self, String> {
        // It has no option for it and exits with 1 whatever it is asked.
        Command::new("wrk")
            .arg("--version")
            .output()
            .map_err(|error| format!("wrk cannot be run ({error}); Debian has it as the package wrk"))?;
        let script = plan.directory.join("load.lua");
        fs::write(&script, SCRIPT).map_err(in_file(&script))?;
        Ok(Self { script, logs: plan.directory.clone(), time: plan.time })
    }

    /// Warms a server up, and then measures.
    pub(super) fn measure(&self, server: &Server, request: &Request) -> Result<Measured, String> {
        self.run(server, request, WARM_UP)?;
        let before = server.processor_time()?;
        let [requests, seconds, p99] = self.run(server, request, self.time)?;
        let used = server.processor_time()? - before;
        Ok(Measured {
            rate: requests / seconds,
            p99: p99 * 1e3,
            processor: used.as_secs_f64() * 1e6 / requests,
        })
    }

    /// Returns the number of requests, the time that they took, and the 99th percentile of their times.
    fn run(&self, server: &Server, request: &Request, time: Duration) -> Result<[f64; 3], String> {
        let mut command = Command::new("wrk");
        command.args(["--threads", "2", "--connections", &CONNECTIONS.to_string()]);
        command.args(["--duration", &format!("{}s", time.as_secs()), "--timeout", "10s"]);
        command.arg("--script").arg(&self.script);
        if let Some(key) = &server.key {
            command.args(["--header", &format!("Authorization: Bearer {key}")]);
        }
        let path = if let Request::Path(path) = request { path } else { "/v1/pets" };
        command.args([&format!("{}{path}", server.address), "--"]);
        match request {
            Request::Path(_) => &mut command,
            Request::Random(pets) => command.args(["random", &pets.to_string()]),
            Request::Add => command.arg("add"),
        };
        let said = process::run("wrk", &mut command, &self.logs, time + Duration::from_secs(30))?;
        let figures = said.lines().find_map(|line| line.strip_prefix("measured ")).unwrap_or_default();
        let figures: Vec<u64> = figures.split(' ').map_while(|figure| figure.parse().ok()).collect();
        match figures[..] {
            [requests, took, 0, 0, p99] if requests > 0 => {
                Ok([requests as f64, took as f64 / 1e6, p99 as f64 / 1e6])
            }
            [_, _, failed, refused, _] => Err(format!(
                "{}: {failed} connections failed and {refused} requests were refused at {request:?}",
                server.name
            )),
            _ => Err(format!("the output of wrk is not understood, see {}/wrk.out", self.logs.display())),
        }
    }
}
