//! A cluster under load: nodes, replicas of the service, and their clients.

use std::fs;
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tokio::time::timeout;
use tokio_postgres::{Client, NoTls};
use xtask::process::printed;
use xtask::workspace::in_file;

use super::clients::{Clients, Replica, all};
use super::home::Home;
use super::nodes::{Nodes, local};
use super::programs::Programs;
use super::proxy;
use super::record::{Animal, lock};
use super::{CLUSTER, NODES, REPLICAS};

/// How often each node is asked whether it is a primary.
const POLL: Duration = Duration::from_millis(50);
/// How long a node may take to respond.
const TIMEOUT: Duration = Duration::from_secs(1);
/// How long a replica may take to start, or a node to execute a statement.
const START: Duration = Duration::from_secs(120);

/// When nodes became primaries, in the order of time.
type Promotions = Arc<Mutex<Vec<(Instant, usize)>>>;

/// A cluster with replicas and clients.
pub(super) struct Scene<'a> {
    pub(super) nodes: Nodes<'a>,
    /// The primary and the synchronous standby before the fault.
    pub(super) primary: usize,
    pub(super) standby: usize,
    pub(super) clients: Clients,
    replicas: Vec<Replica>,
    promotions: Promotions,
    /// What must be reported besides the figures.
    pub(super) remarks: Mutex<Vec<String>>,
}

impl<'a> Scene<'a> {
    /// Starts everything and waits until all clients have been served.
    pub(super) fn start(home: &'a Home, programs: &'a Programs, through_proxy: bool) -> Result<Self, String> {
        let nodes = Nodes::start(home, programs)?;
        let (primary, standby) = (nodes.with_role("leader")?, nodes.with_role("sync_standby")?);
        let (clients, promotions, remarks) = (Clients::default(), Arc::default(), Mutex::default());
        let mut scene = Self { nodes, primary, standby, clients, replicas: Vec::new(), promotions, remarks };
        for statement in ["CREATE ROLE animals LOGIN", "CREATE DATABASE animals OWNER animals"] {
            scene.execute(primary, statement).map_err(|error| format!("{statement}: {error}"))?;
        }
        for (node, port) in scene.nodes.ports.postgres.iter().enumerate() {
            scene.nodes.runtime.spawn(watch(node, *port, scene.promotions.clone()));
        }
        let databases: Vec<_> = if through_proxy {
            let address = proxy::start(&scene.nodes, "haproxy")?;
            vec![format!("postgres://animals@{address}/animals"); REPLICAS]
        } else {
            (0..REPLICAS).map(|number| scene.database(number)).collect()
        };
        let mut create = home.command(&programs.service);
        for limit in ["CONNECT_TIMEOUT", "STATEMENT_TIMEOUT"] {
            create.env(format!("ANIMAL_STORE_POSTGRES__{limit}"), "1m");
        }
        let key = printed(create.args(["key", "create", "xtask", "--database", &databases[0]]))?;
        for (number, database) in databases.iter().enumerate() {
            let replica = scene.start_replica(number, database, key.trim())?;
            scene.clients.add(&replica);
            scene.replicas.push(replica);
        }
        Ok(scene)
    }

    /// Opens links from a replica to all nodes. Returns the URL of the database.
    fn database(&self, replica: usize) -> String {
        let (nodes, replica) = (&self.nodes, format!("replica{replica}"));
        let host = |node| nodes.link(&replica, "postgres", node, &nodes.ports.postgres);
        format!("postgres://animals@{}/animals", (0..NODES).map(host).collect::<Vec<_>>().join(","))
    }

    fn start_replica(&self, number: usize, database: &str, key: &str) -> Result<Replica, String> {
        let (directory, home) = (format!("{CLUSTER}/replica{number}"), self.nodes.home);
        let mut command = home.command(&self.nodes.programs.service);
        command.args(["serve", "--bind", "127.0.0.1:0", "--ops-bind", "127.0.0.1:0"]);
        command.args(["--database", database]).env("ANIMAL_STORE_LOG__LEVEL", "warning");
        home.start(&directory, &mut command)?;
        let (log, start) = (home.path.join(&directory).join("log"), Instant::now());
        loop {
            let text = fs::read_to_string(&log).map_err(in_file(&log))?;
            let ready = text.lines().find_map(|line| line.strip_prefix("ready: ")?.strip_suffix("/v1"));
            if let Some(address) = ready {
                return Ok(Replica { number, address: address.to_owned(), key: key.to_owned() });
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
        let database = self.database(number);
        match self.start_replica(number, &database, &self.replicas[0].key) {
            Ok(replica) => self.clients.add(&replica),
            Err(why) => {
                eprintln!("faults: {why}");
                self.remark(format!("replica {number} does not start"));
            }
        }
    }

    pub(super) fn remark(&self, remark: String) {
        lock(&self.remarks).push(remark);
    }

    /// Whether writes, or reads, have succeeded at each replica since `since`.
    pub(super) fn is_served(&self, is_write: bool, since: Instant) -> bool {
        let record = &self.clients.record;
        (0..REPLICAS).all(|replica| record.first_success(is_write, replica, since).is_some())
    }

    /// Executes a statement on a node as superuser of PostgreSQL, on a new connection.
    pub(super) fn execute(&self, node: usize, statement: &str) -> Result<(), String> {
        let executed =
            async { connect(self.nodes.ports.postgres[node]).await?.batch_execute(statement).await };
        let executed = self.nodes.runtime.block_on(async { timeout(START, executed).await });
        executed.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
    }

    /// When a node other than the primary of before became the primary after `since`.
    pub(super) fn promoted(&self, since: Instant) -> Option<Instant> {
        let promotions = lock(&self.promotions);
        promotions.iter().find(|(at, node)| *at > since && *node != self.primary).map(|(at, _)| *at)
    }

    /// Ends the clients. Returns all animals that are stored.
    pub(super) fn end(&self) -> Result<Vec<Animal>, String> {
        self.clients.end()?;
        self.nodes.wait("a complete list", || self.replicas.iter().find_map(all))
    }
}

/// Connects to a node as superuser of PostgreSQL. The connection ends when the client is dropped.
async fn connect(port: u16) -> Result<Client, tokio_postgres::Error> {
    let url = format!("postgres://postgres@{}/postgres", local(port));
    let (client, connection) = tokio_postgres::connect(&url, NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

/// Records when a node becomes a primary.
async fn watch(node: usize, port: u16, promotions: Promotions) {
    let mut was_primary = false;
    loop {
        if let Ok(Ok(client)) = timeout(TIMEOUT, connect(port)).await {
            let ask = || timeout(TIMEOUT, client.query_one("SELECT NOT pg_is_in_recovery()", &[]));
            while let Ok(Ok(row)) = ask().await {
                let is_primary = row.get(0);
                if is_primary && !was_primary {
                    lock(&promotions).push((Instant::now(), node));
                }
                was_primary = is_primary;
                tokio::time::sleep(POLL).await;
            }
        }
        tokio::time::sleep(POLL).await;
    }
}
