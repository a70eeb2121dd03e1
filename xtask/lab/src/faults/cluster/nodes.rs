//! Three nodes with PostgreSQL under Patroni, and three members of etcd.
//!
//! Every connection between two processes goes through a forwarder, a link, that can be cut. While it is, connections stay
//! open and new ones are accepted, but no byte arrives, as if packets were lost.

use std::array;
use std::fs;
use std::sync::Mutex;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::runtime::Runtime;
use xtask::workspace::in_file;

use super::home::Home;
use super::programs::Programs;
use super::record::lock;
use super::{CLUSTER, NODES};
use kit::postgres::free_port;
use kit::postgres::network::Network;

/// How long a cluster may take to start or to recover.
const LIMIT: Duration = Duration::from_secs(600);
const PAUSE: Duration = Duration::from_millis(50);

/// The nodes of a cluster.
pub(super) struct Nodes<'a> {
    pub(super) home: &'a Home,
    pub(super) programs: &'a Programs,
    pub(super) runtime: Runtime,
    /// The links, each with the names of its two ends.
    links: Mutex<Vec<(String, String, Network)>>,
    pub(super) ports: Ports,
    http: ureq::Agent,
}

/// The ports on which the servers listen, on the loopback address.
pub(super) struct Ports {
    pub(super) postgres: [u16; NODES],
    pub(super) agents: [u16; NODES],
    etcd: [u16; NODES],
    /// Between the members of etcd.
    peers: [u16; NODES],
}

impl<'a> Nodes<'a> {
    /// Starts a cluster, and waits until the primary has a synchronous standby.
    pub(super) fn start(home: &'a Home, programs: &'a Programs) -> Result<Self, String> {
        let http = ureq::Agent::config_builder().timeout_global(Some(Duration::from_secs(2))).build().into();
        let [postgres, agents, etcd, peers] = array::from_fn(|_| array::from_fn(|_| free_port()));
        let ports = Ports { postgres, agents, etcd, peers };
        let runtime = Runtime::new().map_err(|error| format!("cannot start the tokio runtime: {error}"))?;
        let nodes = Self { home, programs, runtime, links: Mutex::default(), ports, http };
        for member in 0..NODES {
            nodes.start_etcd(member)?;
        }
        // An agent that starts earlier fails.
        nodes.wait("etcd", || {
            let mut versions = etcd.iter().map(|port| nodes.get(*port, "version"));
            versions.all(|it| it.is_some_and(|it| it["etcdcluster"] != "not_decided")).then_some(())
        })?;
        for node in 0..NODES {
            nodes.start_agent(node)?;
        }
        nodes.wait("a synchronous standby", || {
            let members = nodes.members();
            let streaming = members.iter().filter(|member| member["state"] == "streaming").count();
            let is_ready =
                streaming == NODES - 1 && members.iter().any(|member| member["role"] == "sync_standby");
            is_ready.then_some(())
        })?;
        Ok(nodes)
    }

    /// The directory of the agent of a node. That of PostgreSQL is below it.
    pub(super) fn node(&self, node: usize) -> String {
        format!("{CLUSTER}/node{node}")
    }

    /// The directory of a member of etcd.
    pub(super) fn etcd(&self, member: usize) -> String {
        format!("{CLUSTER}/etcd{member}")
    }

    /// Opens a link to one of several equal servers. Returns its address.
    pub(super) fn link(&self, from: &str, to: &str, number: usize, ports: &[u16]) -> String {
        let network = self.runtime.block_on(Network::to(local(ports[number])));
        let address = network.address.clone();
        lock(&self.links).push((from.to_owned(), format!("{to}{number}"), network));
        address
    }

    /// Cuts or restores the links with ends whose names begin with these.
    pub(super) fn set_links(&self, from: &str, to: &str, is_cut: bool) {
        for (one, other, network) in lock(&self.links).iter() {
            if one.starts_with(from) && other.starts_with(to) {
                network.is_broken.send_replace(is_cut);
            }
        }
    }

    fn start_etcd(&self, member: usize) -> Result<(), String> {
        let (name, url) = (|member| format!("etcd{member}"), |port| format!("http://{}", local(port)));
        let peers = self.ports.peers.map(url);
        let all: Vec<_> = (0..NODES).map(|other| format!("{}={}", name(other), peers[other])).collect();
        let (peer, client) = (&peers[member], url(self.ports.etcd[member]));
        let mut command = self.home.command(&self.programs.etcd);
        command.args(["--data-dir", "data", "--name", &name(member), "--initial-cluster-state", "new"]);
        command.args(["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer]);
        command.args(["--listen-client-urls", &client, "--advertise-client-urls", &client]);
        command.args(["--initial-cluster", &all.join(",")]);
        self.home.start(&self.etcd(member), &mut command)
    }

    /// Starts the agent of a node, which starts PostgreSQL.
    fn start_agent(&self, node: usize) -> Result<(), String> {
        let (name, ports) = (format!("node{node}"), &self.ports);
        let directory = self.home.create(&self.node(node))?;
        let etcd: Vec<_> = (0..NODES).map(|member| self.link(&name, "etcd", member, &ports.etcd)).collect();
        let configuration = format!(
            r#"scope: animals
name: {name}
restapi: {{ listen: "{rest}", connect_address: "{rest_link}" }}
# Proxies, because each node has a link of its own to each member.
etcd3: {{ hosts: "{etcd}", use_proxies: true }}
bootstrap:
  dcs:
    ttl: 20
    loop_wait: 2
    retry_timeout: 5
    synchronous_mode: true
    synchronous_mode_strict: true
    postgresql:
      use_pg_rewind: true
      parameters: {{ max_connections: 100, wal_keep_size: 64MB, max_wal_size: 128MB }}
  initdb: [ encoding: UTF8, no-locale ]
postgresql:
  listen: "{listen}"
  connect_address: "{link}"
  data_dir: "{home}/data"
  bin_dir: "{programs}"
  use_unix_socket: true
  use_unix_socket_repl: true
  pgpass: "{home}/pgpass"
  authentication: {{ superuser: {{ username: postgres }}, replication: {{ username: replicator }} }}
  parameters:
    unix_socket_directories: "{home}"
    shared_buffers: 32MB
    # A standby that does not respond is replaced as the synchronous one sooner than after a minute.
    wal_sender_timeout: 5s
    wal_receiver_timeout: 5s
  pg_hba:
    - local all,replication all trust
    - host all,replication all 127.0.0.1/32 trust
"#,
            rest = local(ports.agents[node]),
            rest_link = self.link("nodes", "agent", node, &ports.agents),
            etcd = etcd.join(","),
            listen = local(ports.postgres[node]),
            link = self.link("nodes", "postgres", node, &ports.postgres),
            programs = self.programs.postgres.display(),
            home = directory.display(),
        );
        let file = directory.join("patroni.yml");
        fs::write(&file, configuration).map_err(in_file(&file))?;
        let mut agent = self.home.command(&self.programs.python);
        self.home.start(&self.node(node), agent.args(["-m", "patroni", "patroni.yml"]))
    }

    /// Starts PostgreSQL of a node without its agent, as after the end of both.
    pub(super) fn start_alone(&self, node: usize) -> Result<(), String> {
        let mut server = self.home.command(&self.programs.postgres.join("postgres"));
        self.home.start(&self.node(node), server.args(["-D", "data"]))
    }

    /// Returns what a server responds.
    fn get(&self, port: u16, path: &str) -> Option<Value> {
        let mut response = self.http.get(format!("http://{}/{path}", local(port))).call().ok()?;
        serde_json::from_str(&response.body_mut().read_to_string().ok()?).ok()
    }

    /// Returns the members of the cluster as an agent reports them. Empty while no agent responds.
    fn members(&self) -> Vec<Value> {
        let members = |port: &u16| Some(self.get(*port, "cluster")?["members"].as_array()?.clone());
        self.ports.agents.iter().find_map(members).unwrap_or_default()
    }

    /// Returns the node with this role in Patroni's words: `leader`, or `sync_standby`.
    pub(super) fn with_role(&self, role: &str) -> Result<usize, String> {
        self.wait(role, || {
            let members = self.members();
            let name = members.iter().find(|member| member["role"] == role)?["name"].as_str()?.to_owned();
            name.strip_prefix("node")?.parse().ok()
        })
    }

    /// Returns the directory of the member of etcd that leads the others.
    pub(super) fn etcd_leader(&self) -> Result<String, String> {
        let leads = |port: &u16| {
            let status = self.http.post(format!("http://{}/v3/maintenance/status", local(*port))).send("{}");
            let text = status.ok().and_then(|mut status| status.body_mut().read_to_string().ok());
            let status: Value = serde_json::from_str(&text.unwrap_or_default()).unwrap_or_default();
            status["leader"].is_string() && status["leader"] == status["header"]["member_id"]
        };
        let leader = self.wait("the leader of etcd", || self.ports.etcd.iter().position(leads))?;
        Ok(self.etcd(leader))
    }

    /// Repeats `attempt` until it has a result.
    pub(super) fn wait<T>(&self, what: &str, attempt: impl Fn() -> Option<T>) -> Result<T, String> {
        let start = Instant::now();
        while start.elapsed() < LIMIT {
            if let Some(found) = attempt() {
                return Ok(found);
            }
            sleep(PAUSE);
        }
        let log = fs::read_to_string(self.home.path.join(self.node(0)).join("log")).unwrap_or_default();
        let last: Vec<_> = log.lines().rev().take(20).collect();
        Err(format!(
            "waited in vain for {what}; the log of an agent, newest line first:\n{}",
            last.join("\n")
        ))
    }
}

/// Returns an address on the loopback interface.
pub(super) fn local(port: u16) -> String {
    format!("127.0.0.1:{port}")
}
