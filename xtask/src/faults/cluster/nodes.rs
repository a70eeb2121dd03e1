//! Three nodes with PostgreSQL under Patroni, and three members of etcd.

use std::fs;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use launcher::workspace::in_file;
use serde_json::Value;

use super::NODES;
use super::home::Home;
use super::links::{Links, local};
use super::packages::Programs;

/// How long a cluster may take to start or to recover.
const LIMIT: Duration = Duration::from_secs(120);
const PAUSE: Duration = Duration::from_millis(50);

/// The nodes of a cluster. Their directories are in `directory`, which is one of the run's.
pub(super) struct Nodes<'a> {
    pub(super) home: &'a Home,
    pub(super) programs: &'a Programs,
    pub(super) links: &'a Links,
    pub(super) directory: String,
    http: ureq::Agent,
}

impl<'a> Nodes<'a> {
    /// Starts a cluster, and waits until the primary has a synchronous standby. With `disk`, the data of each node is on
    /// a disk of this many bytes.
    pub(super) fn start(
        home: &'a Home,
        programs: &'a Programs,
        links: &'a Links,
        directory: &str,
        disk: Option<usize>,
    ) -> Result<Self, String> {
        let http = ureq::Agent::config_builder().timeout_global(Some(Duration::from_secs(2))).build().into();
        let nodes = Self { home, programs, links, directory: directory.to_owned(), http };
        for member in 0..NODES {
            nodes.start_etcd(member)?;
        }
        // An agent that starts earlier fails.
        nodes.wait("etcd", || {
            let versions = links.ports.etcd.iter().map(|port| nodes.get(*port, "version"));
            versions
                .into_iter()
                .all(|version| version.is_some_and(|it| it["etcdcluster"] != "not_decided"))
                .then_some(())
        })?;
        for node in 0..NODES {
            nodes.configure(node)?;
            nodes.start_node(node, disk)?;
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
        format!("{}/node{node}", self.directory)
    }

    /// The directory of a member of etcd.
    pub(super) fn etcd(&self, member: usize) -> String {
        format!("{}/etcd{member}", self.directory)
    }

    fn start_etcd(&self, member: usize) -> Result<(), String> {
        let (ports, name) = (&self.links.ports, |member: usize| format!("etcd{member}"));
        let url = |port: u16| format!("http://{}", local(port));
        let all: Vec<_> = ports
            .peers
            .iter()
            .enumerate()
            .map(|(other, port)| format!("{}={}", name(other), url(*port)))
            .collect();
        let (peers, clients) = (url(ports.peers[member]), url(ports.etcd[member]));
        let mut command = self.programs.etcd();
        command.args(["--data-dir", "data", "--name", &name(member), "--initial-cluster-state", "new"]);
        command.args(["--listen-peer-urls", &peers, "--initial-advertise-peer-urls", &peers]);
        command.args(["--listen-client-urls", &clients, "--advertise-client-urls", &clients]);
        command.args(["--initial-cluster", &all.join(",")]);
        self.home.create(&self.etcd(member))?;
        self.home.start(&self.etcd(member), &mut command)
    }

    /// Writes the configuration of a node.
    fn configure(&self, node: usize) -> Result<(), String> {
        let directory = self.home.create(&self.node(node))?;
        self.home.create(&format!("{}/disk", self.node(node)))?;
        let links = self.links;
        let etcd: Vec<_> = links.etcd[node].iter().map(|link| &*link.address).collect();
        let configuration = format!(
            r#"scope: animals
name: node{node}
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
  data_dir: "{data}"
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
            rest = local(links.ports.agents[node]),
            rest_link = links.agents[node].address,
            etcd = etcd.join(","),
            listen = local(links.ports.postgres[node]),
            link = links.postgres[node].address,
            data = self.data(node),
            programs = self.programs.postgres.display(),
            home = directory.display(),
        );
        let file = directory.join("patroni.yml");
        fs::write(&file, configuration).map_err(in_file(&file))
    }

    fn data(&self, node: usize) -> String {
        self.home.path.join(self.node(node)).join("disk/data").display().to_string()
    }

    fn start_node(&self, node: usize, disk: Option<usize>) -> Result<(), String> {
        let (directory, mut patroni) = (self.node(node), self.programs.patroni());
        let Some(bytes) = disk else { return self.home.start(&directory, &mut patroni) };
        self.home.start_privileged(&directory, |user, group| {
            let mut command = Command::new("unshare");
            let mount = format!(
                "mount -t tmpfs -o size={bytes},uid={user},gid={group} tmpfs disk && exec \"$0\" \"$@\""
            );
            command.args(["--mount", "--propagation", "private", "sh", "-c", &mount, "setpriv"]);
            command.args(["--reuid", &user.to_string(), "--regid", &group.to_string(), "--clear-groups"]);
            command.arg(patroni.get_program()).args(patroni.get_args());
            command.envs(patroni.get_envs().filter_map(|(name, value)| Some((name, value?))));
            command
        })
    }

    /// Starts PostgreSQL of a node without its agent, as after the end of both.
    pub(super) fn start_alone(&self, node: usize) -> Result<(), String> {
        let mut server = Command::new(self.programs.postgres.join("postgres"));
        server.args(["-D", &self.data(node)]);
        self.home.start(&self.node(node), &mut server)
    }

    /// Returns what a server responds.
    fn get(&self, port: u16, path: &str) -> Option<Value> {
        let mut response = self.http.get(format!("http://{}/{path}", local(port))).call().ok()?;
        serde_json::from_str(&response.body_mut().read_to_string().ok()?).ok()
    }

    /// Returns the members of the cluster as an agent reports them. Empty while no agent responds.
    fn members(&self) -> Vec<Value> {
        let mut reports = self
            .links
            .ports
            .agents
            .iter()
            .filter_map(|port| Some(self.get(*port, "cluster")?["members"].as_array()?.clone()));
        reports.next().unwrap_or_default()
    }

    /// Returns the node with this role in Patroni's words: `leader`, or `sync_standby`.
    pub(super) fn with_role(&self, role: &str) -> Result<usize, String> {
        self.wait(role, || {
            let members = self.members();
            let name = members.iter().find(|member| member["role"] == role)?["name"].as_str()?.to_owned();
            name.strip_prefix("node")?.parse().ok()
        })
    }

    /// Returns the member of etcd that leads the others.
    pub(super) fn etcd_leader(&self) -> Result<usize, String> {
        self.wait("the leader of etcd", || {
            self.links.ports.etcd.iter().position(|port| {
                let status =
                    self.http.post(format!("http://{}/v3/maintenance/status", local(*port))).send("{}");
                let text = status.ok().and_then(|mut status| status.body_mut().read_to_string().ok());
                let status: Option<Value> = text.and_then(|text| serde_json::from_str(&text).ok());
                status.is_some_and(|status| {
                    status["leader"].is_string() && status["leader"] == status["header"]["member_id"]
                })
            })
        })
    }

    /// Repeats `attempt` until it has a result.
    pub(super) fn wait<T>(&self, what: &str, attempt: impl Fn() -> Option<T>) -> Result<T, String> {
        let start = Instant::now();
        loop {
            if let Some(found) = attempt() {
                return Ok(found);
            }
            if start.elapsed() > LIMIT {
                let log = self.home.path.join(self.node(0)).join("log");
                let log = fs::read_to_string(log).unwrap_or_default();
                let last: Vec<_> = log.lines().rev().take(20).collect();
                return Err(format!(
                    "waited in vain for {what}; the log of an agent, newest line first:\n{}",
                    last.join("\n")
                ));
            }
            sleep(PAUSE);
        }
    }
}
