//! Measures what hostile connections cost: what happens to them, the memory of the service, and the response times
//! of good clients.
//!
//! Each kind of connection has a service of its own with default settings, so that the maximum of its memory belongs
//! to that kind.

use std::cell::Cell;
use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use launcher::serve;
use launcher::workspace::in_file;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::Plan;
use super::clients;
use super::clients::good::{Client, Protocol, Trust};
use super::clients::hostile::{Kind, closed};
use super::seed::cluster::free_port;
use super::server::memory;
use super::table::{grouped, table};
use crate::process::Running;

/// How long connections may take to be accepted or closed.
const LIMIT: Duration = Duration::from_secs(120);
const POLL: Duration = Duration::from_millis(20);
/// A page of this many animals is the largest.
const ANIMALS: usize = 100;

/// What is measured: a name, the kind, the number of connections.
const CASES: [(&str, Kind, usize); 12] = [
    ("silent", Kind::Silent, 20_000),
    ("half of the preface of HTTP/2", Kind::HalfPreface, 10_000),
    ("preface of HTTP/2, then nothing", Kind::Preface, 10_000),
    ("half of a header", Kind::HalfHeader, 10_000),
    ("first message of a TLS handshake", Kind::HalfHandshake, 10_000),
    ("idle after a response, HTTP/1.1", Kind::IdleHttp1, 10_000),
    ("idle after a response, HTTP/2", Kind::IdleHttp2, 10_000),
    ("100 pages unread, HTTP/1.1", Kind::UnreadHttp1(100), 40),
    ("200 pages unread, HTTP/2 with window 0", Kind::UnreadHttp2(200), 1_000),
    ("100 errors unread without a key, HTTP/2 with window 0", Kind::UnreadErrors(100), 10_000),
    ("100 bodies without end, HTTP/2", Kind::OpenBodies(100), 10_000),
    ("100 bodies without end and without a key, HTTP/2", Kind::OpenBodiesWithoutKey(100), 10_000),
];

/// Measures each kind of connection, and prints the table.
pub(super) fn run(plan: &Plan<'_>) -> Result<(), String> {
    println!("bench: building the service, optimised");
    let program = serve::build(true)?;
    let runtime = Runtime::new().map_err(|error| format!("cannot start the tokio runtime: {error}"))?;
    clients::possible(usize::MAX);
    let mut rows = Vec::new();
    for (name, kind, count) in CASES {
        let measured = runtime.block_on(measure(plan, &program, kind, count))?;
        rows.push([vec![name.to_owned(), grouped(count as f64)], measured].concat());
        println!("bench: {}", rows.last().map(|row| row.join(" | ")).unwrap_or_default());
    }
    let head = "connections | number | what happens to them | MiB idle | MiB at most | \
                p99 ms before, HTTP/1.1 | during | p99 ms before, HTTP/2 | during";
    println!("\n{}", table(head, rows.into_iter()));
    Ok(())
}

async fn measure(plan: &Plan<'_>, program: &Path, kind: Kind, count: usize) -> Result<Vec<String>, String> {
    let service = Service::start(plan, program, kind == Kind::HalfHandshake)?;
    service.add_page().await?;
    let seconds = Duration::from_secs(plan.options.seconds);
    let for_seconds = || {
        let start = Instant::now();
        move || start.elapsed() < seconds
    };
    // These connections stay open when there are too many others. The first requests fill caches.
    let mut good = [service.client(false).await?, service.client(true).await?];
    p99(&mut good, for_seconds()).await?;
    let idle = memory(service.running.id(), "VmRSS")?;
    let before = p99(&mut good, for_seconds()).await?;
    let refused = service.metric("connections_refused_total")?;
    // The good clients go on, because a connection without a request may have to make room.
    let connected = Cell::new(false);
    let connect = async {
        let hostile = service.connect(kind, count).await;
        connected.set(true);
        hostile
    };
    let (hostile, good_clients) = tokio::join!(connect, p99(&mut good, || !connected.get()));
    good_clients?;
    let start = Instant::now();
    let during = p99(&mut good, for_seconds()).await?;
    drop(good);
    while service.metric("connections_open")? > 0 {
        if start.elapsed() > LIMIT {
            return Err(format!("{kind:?}: connections stay open"));
        }
        sleep(POLL).await;
    }
    let closed = format!("closed, the last after {:.1} s", start.elapsed().as_secs_f64());
    drop(hostile);
    let end = match service.metric("connections_refused_total")? - refused {
        0 => closed,
        refused => format!("{} refused, the others {closed}", grouped(refused as f64)),
    };
    let resident = [idle, memory(service.running.id(), "VmHWM")?].map(grouped);
    let p99s = [before[0], during[0], before[1], during[1]].map(|time| format!("{time:.1}"));
    Ok([&[end][..], &resident, &p99s].concat())
}

/// A running service.
struct Service {
    running: Running,
    address: SocketAddr,
    ops: String,
    key: String,
    trust: Option<Trust>,
}

impl Service {
    fn start(plan: &Plan<'_>, program: &Path, tls: bool) -> Result<Self, String> {
        let directory = &plan.directory;
        super::empty_directory(directory)?;
        let database = format!("sqlite:{}", directory.join("animals.db").display());
        let key = serve::create_key(program, "bench", &database)?;
        let mut command = serve::command(program, &[], "127.0.0.1:0", &database);
        let ops = format!("127.0.0.1:{}", free_port());
        command.args(["--ops-bind", &ops]);
        let trust = if tls { Some(certificate(directory, &mut command)?) } else { None };
        let (running, url) = Running::serve(&mut command, &directory.join("service.log"))?;
        let address = url.split("//").nth(1).and_then(|rest| rest.strip_suffix("/v1")?.parse().ok());
        let address = address.ok_or_else(|| format!("unexpected URL: {url}"))?;
        Ok(Self { running, address, ops, key, trust })
    }

    async fn client(&self, http2: bool) -> Result<Client, String> {
        let protocol = Protocol { http2, tls: self.trust.clone() };
        Client::connect(&protocol, self.address, &self.key).await.map_err(|error| error.to_string())
    }

    /// Adds a page of animals with the longest names.
    async fn add_page(&self) -> Result<(), String> {
        let mut client = self.client(true).await?;
        let name = "🦊".repeat(255);
        for category in 0..ANIMALS {
            let body = format!(r#"{{"name":"{name}","categoryId":{category}}}"#);
            let (status, _) = client.post("/v1/pets", body).await.map_err(|error| error.to_string())?;
            if status != 201 {
                return Err(format!("an animal was not added: {status}"));
            }
        }
        Ok(())
    }

    /// Opens connections. A task holds each until the service closes it.
    async fn connect(&self, kind: Kind, count: usize) -> JoinSet<()> {
        let mut held = JoinSet::new();
        for number in 0..count {
            // Fails if the service refuses it.
            let Ok(stream) = kind.connect(number, self.address, &self.key).await else { continue };
            match kind {
                Kind::UnreadHttp1(_) | Kind::UnreadHttp2(_) | Kind::UnreadErrors(_) => {
                    held.spawn(async move {
                        let _unread = stream;
                        std::future::pending().await
                    })
                }
                _ => held.spawn(closed(stream)),
            };
        }
        held
    }

    /// Returns the value of a metric without labels.
    fn metric(&self, name: &str) -> Result<u64, String> {
        let url = format!("http://{}/metrics", self.ops);
        let page = ureq::get(&url).call().and_then(|mut response| response.body_mut().read_to_string());
        let page = page.map_err(|error| format!("{url}: {error}"))?;
        let value = page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok());
        value.ok_or_else(|| format!("{url}: no metric {name}"))
    }
}

/// While `goes_on`, requests a page of 20 with each client at the same time. Returns the 99th percentiles of their
/// response times in milliseconds.
async fn p99(clients: &mut [Client; 2], goes_on: impl Fn() -> bool) -> Result<[f64; 2], String> {
    let times = async |client: &mut Client| {
        let mut times = Vec::new();
        loop {
            let sent = Instant::now();
            let response = client.get("/v1/pets?limit=20").await;
            let (status, _) = response.map_err(|error| format!("a good client: {error}"))?;
            if status != 200 {
                return Err(format!("a good client got {status}"));
            }
            times.push(sent.elapsed().as_secs_f64() * 1e3);
            if !goes_on() {
                break;
            }
        }
        times.sort_by(f64::total_cmp);
        Ok(times[times.len() * 99 / 100])
    };
    let [http1, http2] = clients;
    let (http1, http2) = tokio::join!(times(http1), times(http2));
    Ok([http1?, http2?])
}

/// Writes a certificate, and makes the command use it.
fn certificate(directory: &Path, command: &mut Command) -> Result<Trust, String> {
    let made =
        rcgen::generate_simple_self_signed(["localhost".to_owned()]).map_err(|error| error.to_string())?;
    for (setting, pem) in
        [("CERTIFICATE", made.cert.pem()), ("PRIVATE_KEY", made.signing_key.serialize_pem())]
    {
        let file = directory.join(setting);
        fs::write(&file, pem).map_err(in_file(&file))?;
        command.env(format!("ANIMAL_STORE_TLS__{setting}"), file);
    }
    Trust::only(made.cert.der().clone()).map_err(|error| error.to_string())
}
