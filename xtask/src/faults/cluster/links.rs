//! The network of a cluster: every connection between two processes goes through a forwarder that can be cut.
//!
//! While a link is cut, connections stay open and new ones are accepted, but no byte arrives, as if packets were lost.

use std::sync::Mutex;

use tokio::runtime::Runtime;

use super::record::lock;
use crate::bench::seed::cluster::network::Network;

/// The links of a cluster, each with the names of its two ends.
pub(super) struct Links {
    pub(super) runtime: Runtime,
    open: Mutex<Vec<(String, String, Network)>>,
}

impl Links {
    pub(super) fn new() -> Result<Self, String> {
        let runtime = Runtime::new().map_err(|error| format!("cannot start the tokio runtime: {error}"))?;
        Ok(Self { runtime, open: Mutex::default() })
    }

    /// Opens a link to the port of a server. Returns its address.
    pub(super) fn open(&self, from: String, to: String, port: u16) -> String {
        let network = self.runtime.block_on(Network::to(local(port)));
        let address = network.address.clone();
        lock(&self.open).push((from, to, network));
        address
    }

    /// Cuts or restores the links with ends whose names begin with these.
    pub(super) fn set(&self, from: &str, to: &str, is_cut: bool) {
        let links = lock(&self.open);
        let meant = links.iter().filter(|(one, other, _)| one.starts_with(from) && other.starts_with(to));
        for (_, _, network) in meant {
            network.is_broken.send_replace(is_cut);
        }
    }
}

/// Returns an address on the loopback interface.
pub(super) fn local(port: u16) -> String {
    format!("127.0.0.1:{port}")
}
