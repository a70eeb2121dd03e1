//! The faults, each as the steps that inject it and end it.

use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::REPLICAS;
use super::home::ALL;
use super::scene::Scene;

/// How long a process is stopped or a link is cut: longer than Patroni's `ttl`, so that a standby is promoted.
const LONG: Duration = Duration::from_secs(45);
/// A shorter fault, during which the primary stays the same.
const SHORT: Duration = Duration::from_secs(10);

/// Injects a fault and, if it passes, ends it.
pub(super) type Inject = fn(&Scene<'_>) -> Result<(), String>;

/// The end of the names of faults whose replicas reach the primary through HAProxy. A replica that names the nodes would read
/// the old primary, which is documented, while another one already writes to the new one.
pub(super) const THROUGH_PROXY: &str = ", through HAProxy";

/// All faults.
pub(super) const FAULTS: [(&str, Inject); 15] = [
    ("primary and its agent killed", |it| it.kill(&it.nodes.node(it.primary))),
    ("primary and its agent stopped for 45 s", |it| it.stop(&it.nodes.node(it.primary))),
    ("synchronous standby and its agent killed", |it| it.kill(&it.nodes.node(it.standby))),
    ("synchronous standby and its agent stopped for 45 s", |it| it.stop(&it.nodes.node(it.standby))),
    ("leader of etcd killed", |it| it.kill(&it.nodes.etcd_leader()?)),
    ("leader of etcd stopped for 45 s", |it| it.stop(&it.nodes.etcd_leader()?)),
    ("agent of the primary killed, PostgreSQL runs on", |it| it.kill_agent()),
    ("primary and its agent killed, through HAProxy", |it| it.kill(&it.nodes.node(it.primary))),
    ("agent of the primary killed, PostgreSQL runs on, through HAProxy", |it| it.kill_agent()),
    ("primary cut off from the other nodes and from etcd for 45 s", |it| {
        it.cut(LONG, &[("nodes", "postgres"), ("nodes", "agent"), ("node", "etcd")])
    }),
    ("primary cut off from everything for 45 s", |it| {
        it.cut(LONG, &[("nodes", "postgres"), ("nodes", "agent"), ("node", "etcd"), ("replica", "postgres")])
    }),
    ("replication from the primary cut for 10 s", |it| it.cut(SHORT, &[("nodes", "postgres")])),
    ("all replicas cut off from the primary for 10 s", |it| it.cut(SHORT, &[("replica", "postgres")])),
    ("one replica cut off from the primary for 10 s", |it| it.cut(SHORT, &[("replica0", "postgres")])),
    ("old primary comes back alone, a replica starts then", comes_back),
];

impl Scene<'_> {
    /// Kills the processes of a directory.
    fn kill(&self, directory: &str) -> Result<(), String> {
        self.nodes.home.signal(directory, ALL, Signal::KILL);
        Ok(())
    }

    /// Kills the agent of the primary alone.
    fn kill_agent(&self) -> Result<(), String> {
        // PostgreSQL works in the directory of its data.
        self.nodes.home.signal(&self.nodes.node(self.primary), 0, Signal::KILL);
        sleep(LONG);
        Ok(())
    }

    /// Stops the processes of a directory for some time.
    fn stop(&self, directory: &str) -> Result<(), String> {
        self.nodes.home.signal(directory, ALL, Signal::STOP);
        sleep(LONG);
        self.nodes.home.signal(directory, ALL, Signal::CONT);
        Ok(())
    }

    /// Cuts links of the primary for some time. `ends` are those who connect to its servers; to a member of etcd it
    /// connects itself.
    fn cut(&self, time: Duration, ends: &[(&str, &str)]) -> Result<(), String> {
        let set = |is_cut| {
            for (from, to) in ends {
                match *to {
                    "etcd" => self.nodes.set_links(&format!("{from}{}", self.primary), to, is_cut),
                    _ => self.nodes.set_links(from, &format!("{to}{}", self.primary), is_cut),
                }
            }
        };
        set(true);
        sleep(time);
        set(false);
        Ok(())
    }
}

/// Kills the primary, and starts it again without its agent while another node is the primary. A further replica of the
/// service starts after that.
fn comes_back(scene: &Scene<'_>) -> Result<(), String> {
    let (nodes, primary, killed) = (&scene.nodes, scene.primary, Instant::now());
    scene.kill(&nodes.node(primary))?;
    nodes.wait("writes to the new primary", || {
        let promoted = scene.promoted(killed)?;
        scene.is_served(true, promoted).then_some(())
    })?;
    nodes.start_alone(primary)?;
    nodes.wait("the old primary", || scene.execute(primary, "SELECT").ok())?;
    scene.start_late(REPLICAS);
    sleep(LONG);
    Ok(())
}
