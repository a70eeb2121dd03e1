//! A cluster under load: nodes, replicas of the service, and their clients.

use std::fs;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use launcher::workspace::in_file;
use tokio::runtime::Runtime;
use tokio::time::timeout;
use tokio_postgres::NoTls;

use super::REPLICAS;
use super::clients::{Clients, Target, all};
use super::home::Home;
use super::links::{Links, local};
use super::nodes::Nodes;
use super::packages::Programs;
use super::record::{Record, Stored};

/// How often each node is asked whether it is a primary.
const POLL: Duration = Duration::from_millis(50);
/// A node that does not respond for this long is asked again on a new connection.
const TIMEOUT: Duration = Duration::from_secs(1);
/// How long a replica may take to start.
const START: Duration = Duration::from_secs(30);

/// When nodes became primaries, in the order of time.
type Promotions = Arc<Mutex<Vec<(Instant, usize)>>>;

/// A cluster with replicas and clients.
pub(super) struct Scene<'a> {
    pub(super) nodes: Nodes<'a>,
    clients: Mutex<Clients>,
    replicas: Vec<Target>,
    promotions: Promotions,
    /// What must be reported besides the figures.
    pub(super) remarks: Mutex<Vec<String>>,
    runtime: &'a Runtime,
}

impl<'a> Scene<'a> {
    /// Starts everything and waits until all clients have been served.
    pub(super) fn start(
        home: &'a Home,
        programs: &'a Programs,
        (runtime, links): (&'a Runtime, &'a Links),
        directory: &str,
        disk: Option<usize>,
    ) -> Result<Self, String> {
        let nodes = Nodes::start(home, programs, links, directory, disk)?;
        let primary = nodes.with_role("leader")?;
        let setup = "CREATE ROLE animals LOGIN; CREATE DATABASE animals OWNER animals";
        for statement in setup.split("; ") {
            runtime
                .block_on(execute(links.ports.postgres[primary], statement))
                .map_err(|error| format!("{statement}: {error}"))?;
        }
        let promotions = Promotions::default();
        for (node, port) in links.ports.postgres.iter().enumerate() {
            runtime.spawn(watch(node, *port, promotions.clone()));
        }
        let mut scene = Self {
            nodes,
            clients: Mutex::new(Clients::new()),
            replicas: Vec::new(),
            promotions,
            remarks: Mutex::default(),
            runtime,
        };
        let mut create = Command::new(&programs.service);
        let database = scene.database(0);
        create.args(["key", "create", "xtask", "--database", &database]).env_clear();
        let key = home.run(&mut create)?;
        for number in 0..REPLICAS {
            let replica = scene.start_replica(number, &key)?;
            scene.clients().add(&replica);
            scene.replicas.push(replica);
        }
        Ok(scene)
    }

    /// The URL of the database for a replica.
    fn database(&self, replica: usize) -> String {
        let hosts: Vec<_> = self.nodes.links.service[replica].iter().map(|link| &*link.address).collect();
        format!("postgres://animals@{}/animals", hosts.join(","))
    }

    fn start_replica(&self, number: usize, key: &str) -> Result<Target, String> {
        let (directory, home) = (format!("{}/replica{number}", self.nodes.directory), self.nodes.home);
        let log = home.create(&directory)?.join("log");
        let mut command = Command::new(&self.nodes.programs.service);
        command.args(["serve", "--bind", "127.0.0.1:0", "--ops-bind", "127.0.0.1:0"]);
        command.args(["--database", &self.database(number)]).env("ANIMAL_STORE_LOG__ONE_IN", "0");
        home.start(&directory, &mut command)?;
        let start = Instant::now();
        loop {
            let text = fs::read_to_string(&log).map_err(in_file(&log))?;
            let ready = text.lines().find_map(|line| line.strip_prefix("ready: ")?.strip_suffix("/v1"));
            if let Some(address) = ready {
                return Ok(Target { number, address: address.to_owned(), key: key.to_owned() });
            }
            let error = text.lines().find(|line| line.starts_with("error: "));
            if error.is_some() || start.elapsed() > START {
                return Err(format!("replica {number} does not start: {}", error.unwrap_or(&text)));
            }
            sleep(POLL);
        }
    }

    /// Starts a further replica with clients. If it does not start, that is a remark.
    pub(super) fn start_late(&self, number: usize) {
        let key = self.replicas.first().map(|replica| replica.key.clone()).unwrap_or_default();
        match self.start_replica(number, &key) {
            Ok(replica) => self.clients().add(&replica),
            Err(why) => {
                eprintln!("faults: {why}");
                self.remark(format!("replica {number} does not start"));
            }
        }
    }

    fn clients(&self) -> std::sync::MutexGuard<'_, Clients> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn record(&self) -> Arc<Record> {
        self.clients().record.clone()
    }

    pub(super) fn remark(&self, remark: String) {
        self.remarks.lock().unwrap_or_else(PoisonError::into_inner).push(remark);
    }

    /// Whether a node accepts connections.
    pub(super) fn responds(&self, node: usize) -> bool {
        let port = self.nodes.links.ports.postgres[node];
        let asked = self.runtime.block_on(async { timeout(TIMEOUT, execute(port, "SELECT")).await });
        asked.is_ok_and(|done| done.is_ok())
    }

    /// When a node other than `old` became the primary after `since`.
    pub(super) fn promoted(&self, old: usize, since: Instant) -> Option<Instant> {
        let promotions = self.promotions.lock().unwrap_or_else(PoisonError::into_inner);
        promotions.iter().find(|(at, node)| *at > since && *node != old).map(|(at, _)| *at)
    }

    /// Ends the clients. Returns what they recorded, and all animals that are stored.
    pub(super) fn end(self) -> Result<(Arc<Record>, Stored), String> {
        let clients = std::mem::replace(
            &mut *self.clients.lock().unwrap_or_else(PoisonError::into_inner),
            Clients::new(),
        );
        let record = clients.end()?;
        let stored = self.nodes.wait("a complete list", || self.replicas.iter().find_map(all))?;
        Ok((record, stored))
    }
}

/// Executes a statement as superuser of PostgreSQL, on a new connection.
async fn execute(port: u16, statement: &str) -> Result<(), tokio_postgres::Error> {
    let url = format!("postgres://postgres@{}/postgres", local(port));
    let (client, connection) = tokio_postgres::connect(&url, NoTls).await?;
    let connection = tokio::spawn(connection);
    let executed = client.batch_execute(statement).await;
    connection.abort();
    executed
}

/// Records when a node becomes a primary.
async fn watch(node: usize, port: u16, promotions: Promotions) {
    let url = format!("postgres://postgres@{}/postgres", local(port));
    let mut was_primary = false;
    loop {
        if let Ok(Ok((client, connection))) = timeout(TIMEOUT, tokio_postgres::connect(&url, NoTls)).await {
            let connection = tokio::spawn(connection);
            let ask = || timeout(TIMEOUT, client.query_one("SELECT NOT pg_is_in_recovery()", &[]));
            while let Ok(Ok(row)) = ask().await {
                let is_primary = row.get(0);
                if is_primary && !was_primary {
                    let mut promotions = promotions.lock().unwrap_or_else(PoisonError::into_inner);
                    promotions.push((Instant::now(), node));
                }
                was_primary = is_primary;
                tokio::time::sleep(POLL).await;
            }
            connection.abort();
        }
        tokio::time::sleep(POLL).await;
    }
}
