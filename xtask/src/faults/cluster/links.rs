//! The network of a cluster: every connection between two processes goes through a forwarder that can be cut.
//!
//! While a link is cut, connections stay open and new ones are accepted, but no byte arrives, as if packets were lost.

use std::net::TcpListener;

use super::{LATE, NODES, REPLICAS};
use crate::bench::seed::cluster::network::Network;

/// The ports of servers. Not those that the system gives to connections, which could take one before its server starts.
const PORTS: std::ops::Range<u16> = 16_384..32_768;
/// How many ports are tried.
const ATTEMPTS: usize = 100;

/// A link per node.
type PerNode = Vec<Network>;

/// The links of a cluster, and the ports of its servers.
pub(super) struct Links {
    /// From each replica of the service to PostgreSQL on each node.
    pub(super) service: Vec<PerNode>,
    /// From each node to each member of etcd.
    pub(super) etcd: Vec<PerNode>,
    /// From the other nodes to PostgreSQL on each node.
    pub(super) postgres: PerNode,
    /// From the other nodes to the Patroni agent on each node.
    pub(super) agents: PerNode,
    pub(super) ports: Ports,
}

/// The ports on which the servers listen, on the loopback address.
pub(super) struct Ports {
    pub(super) postgres: Vec<u16>,
    pub(super) agents: Vec<u16>,
    pub(super) etcd: Vec<u16>,
    /// Between the members of etcd.
    pub(super) peers: Vec<u16>,
}

impl Ports {
    fn free() -> Result<Self, String> {
        let mut listeners = Vec::new();
        for _ in 0..ATTEMPTS {
            listeners.extend(TcpListener::bind(("127.0.0.1", fastrand::u16(PORTS))));
        }
        // All are bound at the same time, so that no port is returned twice.
        let ports: Vec<u16> =
            listeners.iter().filter_map(|one| Some(one.local_addr().ok()?.port())).collect();
        if ports.len() < 4 * NODES {
            return Err("too few free ports".to_owned());
        }
        let mut groups = ports.chunks(NODES).map(<[u16]>::to_vec);
        let mut next = || groups.next().unwrap_or_default();
        Ok(Self { postgres: next(), agents: next(), etcd: next(), peers: next() })
    }
}

impl Links {
    /// Opens all links. Must be called within a tokio runtime, which then forwards.
    pub(super) async fn open() -> Result<Self, String> {
        let ports = Ports::free()?;
        let (mut service, mut etcd) = (Vec::new(), Vec::new());
        for _ in 0..REPLICAS + LATE {
            service.push(to_each(&ports.postgres).await);
        }
        for _ in 0..NODES {
            etcd.push(to_each(&ports.etcd).await);
        }
        let (postgres, agents) = (to_each(&ports.postgres).await, to_each(&ports.agents).await);
        Ok(Self { service, etcd, postgres, agents, ports })
    }

    /// Cuts or restores what a node receives from the other nodes, and its way to etcd.
    pub(super) fn cut_node(&self, node: usize, is_cut: bool) {
        self.cut_replication(node, is_cut);
        set(&self.agents[node..=node], is_cut);
        set(&self.etcd[node], is_cut);
    }

    /// Cuts or restores the replication from a node.
    pub(super) fn cut_replication(&self, node: usize, is_cut: bool) {
        set(&self.postgres[node..=node], is_cut);
    }

    /// Cuts or restores the way from replicas of the service to a node.
    pub(super) fn cut_service(&self, replicas: std::ops::Range<usize>, node: usize, is_cut: bool) {
        self.service[replicas].iter().for_each(|links| set(&links[node..=node], is_cut));
    }
}

async fn to_each(ports: &[u16]) -> PerNode {
    let mut links = Vec::new();
    for port in ports {
        links.push(Network::to(local(*port)).await);
    }
    links
}

fn set(links: &[Network], is_cut: bool) {
    for link in links {
        link.is_broken.send_replace(is_cut);
    }
}

/// Returns an address on the loopback interface.
pub(super) fn local(port: u16) -> String {
    format!("127.0.0.1:{port}")
}
