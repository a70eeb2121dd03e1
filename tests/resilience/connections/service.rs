//! A running service with short time limits, its metrics and its memory.

use std::net::SocketAddr;
use std::time::Duration;
use std::{fs, io};

use tokio::process::Command;
use tokio::time::sleep;

use crate::connections::clients::frames::Connection;
use crate::connections::clients::good::{Client, Protocol, Trust};
use crate::connections::clients::hostile::{Held, Kind};
use kit::program::{Program, WorkDir};

/// The time limit of each wait. A busy machine must not reach it.
pub const TIMEOUT: Duration = Duration::from_secs(120);
/// A page of this many animals is the largest.
const PAGE: usize = 100;
/// How often a metric is read.
pub const POLL: Duration = Duration::from_millis(10);

/// A running service.
pub struct Service {
    pub program: Program,
    pub key: String,
    trust: Option<Trust>,
    directory: WorkDir,
}

impl Service {
    /// Starts a service with these settings of `[connections]`.
    pub async fn start(limits: &[(&str, &str)]) -> Self {
        Self::start_with(limits, &[], |_| {}).await
    }

    /// Starts a service with TLS and these settings of `[connections]`.
    pub async fn start_tls(limits: &[(&str, &str)]) -> Self {
        Self::start_tls_with(limits, |_| {}).await
    }

    /// Starts a service with TLS and these settings of `[connections]`, after `change` was applied to the command.
    pub async fn start_tls_with(limits: &[(&str, &str)], change: impl FnOnce(&mut Command)) -> Self {
        let directory = WorkDir::new();
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        directory.write("certificate.pem", made.cert.pem());
        directory.write("key.pem", made.signing_key.serialize_pem());
        directory.write("store.toml", "[tls]\ncertificate = 'certificate.pem'\nprivate_key = 'key.pem'\n");
        let trust = Trust::only(made.cert.der().clone()).unwrap();
        Self::start_in(directory, Some(trust), limits, &["--config", "store.toml"], change).await
    }

    /// Starts a service with these settings of `[connections]`, after `change` was applied to the command.
    pub async fn start_with(
        limits: &[(&str, &str)],
        arguments: &[&str],
        change: impl FnOnce(&mut Command),
    ) -> Self {
        Self::start_in(WorkDir::new(), None, limits, arguments, change).await
    }

    async fn start_in(
        directory: WorkDir,
        trust: Option<Trust>,
        limits: &[(&str, &str)],
        arguments: &[&str],
        change: impl FnOnce(&mut Command),
    ) -> Self {
        let key = directory.key().await;
        let arguments = [&["--ops-bind", "127.0.0.1:0"], arguments].concat();
        let configure = |command: &mut Command| {
            for (name, value) in limits {
                command.env(format!("ANIMAL_STORE_CONNECTIONS__{}", name.to_uppercase()), value);
            }
            change(command);
        };
        let program = directory.serve_with(&arguments, configure).await;
        Self { program, key, trust, directory }
    }

    /// Adds a page of animals whose names are `name`.
    pub async fn add_page(&self, name: &str) {
        let mut client = self.connect(false).await;
        for number in 0..PAGE {
            let body = format!(r#"{{"name":"{name}","categoryId":{number}}}"#);
            assert_eq!(client.post("/v1/pets", body).await.unwrap().0, 201);
        }
    }

    pub fn direct(&self) -> SocketAddr {
        self.program.direct
    }

    /// The file of the database.
    pub fn database(&self) -> std::path::PathBuf {
        self.directory.path("animal-store.db")
    }

    /// How a good client connects.
    pub fn protocol(&self, http2: bool) -> Protocol {
        Protocol { http2, tls: self.trust.clone() }
    }

    /// The certificate that clients trust; `None` without TLS.
    pub fn trust(&self) -> Option<&Trust> {
        self.trust.as_ref()
    }

    /// Connects a client of this kind.
    pub async fn held(&self, kind: Kind) -> io::Result<Held> {
        kind.connect(self.direct(), self.trust(), &self.key).await
    }

    /// Opens a connection over HTTP/2 that sends frames, with this window for each response.
    pub async fn frames(&self, window: u32) -> Connection {
        let trust = self.trust().expect("HTTP/2 needs TLS");
        Connection::open(self.direct(), trust, window).await.expect("a connection")
    }

    /// Connects a good client.
    pub async fn connect(&self, http2: bool) -> Client {
        Client::connect(&self.protocol(http2), self.direct(), &self.key).await.unwrap()
    }

    /// Checks that new clients are answered over HTTP/1.1, and over HTTP/2 if there is TLS.
    pub async fn answers(&self) {
        for http2 in [false, true].into_iter().filter(|http2| !http2 || self.trust.is_some()) {
            let mut client = self.connect(http2).await;
            assert_eq!(client.get("/v1/pets").await.unwrap().0, 200);
        }
    }

    /// Returns the value of a metric; 0 if it has none yet.
    pub async fn metric(&self, name: &str) -> u64 {
        let (status, metrics) = self.program.ops("/metrics").await;
        assert_eq!(status, 200, "{metrics}");
        let mut values = metrics.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        values.next().map_or(0, |value| value.parse().unwrap())
    }

    /// Waits until a metric has a value that fits, and returns it.
    pub async fn wait_for_metric(&self, name: &str, fits: impl Fn(u64) -> bool) -> u64 {
        let mut value = self.metric(name).await;
        let fit = async {
            while !fits(value) {
                // A change of a metric is not reported.
                sleep(POLL).await;
                value = self.metric(name).await;
            }
        };
        in_time(name, fit).await;
        value
    }

    /// Returns how many connections exceeded a time limit.
    pub async fn timed_out(&self, timeout: &str) -> u64 {
        self.metric(&format!("connections_timed_out_total{{timeout=\"{timeout}\"}}")).await
    }

    /// Waits until no connection is open, and `count` exceeded this time limit and none another.
    pub async fn all_timed_out(&self, timeout: &str, count: u64) {
        self.wait_for_metric("connections_open", |open| open == 0).await;
        for other in ["header", "idle", "send", "age"] {
            let expected = if other == timeout { count } else { 0 };
            assert_eq!(self.timed_out(other).await, expected, "{other}");
        }
    }

    /// Returns a value in KiB from `/proc/PID/status`: `VmRSS` is the resident memory, `VmHWM` its maximum so far.
    pub fn memory(&self, name: &str) -> usize {
        let pid = self.program.pid().as_raw_nonzero();
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let value = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).unwrap();
        value.trim().trim_end_matches(" kB").parse().unwrap()
    }

    pub async fn stop(self) {
        self.program.stop().await;
    }
}

/// Waits for `event` within [`TIMEOUT`].
#[track_caller]
pub fn in_time<T>(what: &str, event: impl Future<Output = T>) -> impl Future<Output = T> {
    let what = what.to_owned();
    async move { tokio::time::timeout(TIMEOUT, event).await.unwrap_or_else(|_| panic!("not in time: {what}")) }
}
