//! The faults, each as the steps that inject it and end it.

use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use launcher::process::output;
use launcher::workspace::in_file;

use super::record::Kind;
use super::scene::Scene;
use super::{LATE, REPLICAS};

/// How long a process is stopped or a link is cut: longer than Patroni's `ttl`, so that a standby is promoted.
const LONG: Duration = Duration::from_secs(30);
/// A shorter fault, during which the primary stays the same.
const SHORT: Duration = Duration::from_secs(10);
/// The disk of each node where a disk becomes full.
const DISK: usize = 400 << 20;

/// A fault.
pub(super) struct Fault {
    pub(super) name: &'static str,
    /// Whether it is in the short form.
    pub(super) is_short: bool,
    /// The size of the disk of each node in bytes; `None` for that of the machine.
    pub(super) disk: Option<usize>,
    /// Injects the fault and, if it passes, ends it. The arguments are the primary and the synchronous standby.
    pub(super) inject: fn(&Scene<'_>, usize, usize) -> Result<(), String>,
}

const fn fault(name: &'static str, inject: fn(&Scene<'_>, usize, usize) -> Result<(), String>) -> Fault {
    Fault { name, is_short: false, disk: None, inject }
}

/// All faults.
pub(super) const FAULTS: [Fault; 14] = [
    Fault {
        is_short: true,
        ..fault("primary and its agent killed", |scene, primary, _| {
            scene.nodes.home.signal_all(&scene.nodes.node(primary), "KILL")
        })
    },
    Fault {
        is_short: true,
        ..fault("primary and its agent stopped for 30 s", |scene, primary, _| {
            stopped(scene, &scene.nodes.node(primary), LONG)
        })
    },
    fault("synchronous standby and its agent killed", |scene, _, standby| {
        scene.nodes.home.signal_all(&scene.nodes.node(standby), "KILL")
    }),
    fault("synchronous standby and its agent stopped for 30 s", |scene, _, standby| {
        stopped(scene, &scene.nodes.node(standby), LONG)
    }),
    fault("leader of etcd killed", |scene, _, _| {
        scene.nodes.home.signal_all(&scene.nodes.etcd(scene.nodes.etcd_leader()?), "KILL")
    }),
    fault("leader of etcd stopped for 30 s", |scene, _, _| {
        stopped(scene, &scene.nodes.etcd(scene.nodes.etcd_leader()?), LONG)
    }),
    fault("agent of the primary killed, PostgreSQL runs on", |scene, primary, _| {
        scene.nodes.home.signal(&scene.nodes.node(primary), "KILL")?;
        sleep(LONG);
        Ok(())
    }),
    fault("primary cut off from the other nodes and from etcd for 30 s", |scene, primary, _| {
        cut(LONG, |is_cut| scene.nodes.links.cut_node(primary, is_cut))
    }),
    fault("primary cut off from everything for 30 s", |scene, primary, _| {
        cut(LONG, |is_cut| {
            scene.nodes.links.cut_node(primary, is_cut);
            scene.nodes.links.cut_service(0..REPLICAS, primary, is_cut);
        })
    }),
    fault("replication from the primary cut for 10 s", |scene, primary, _| {
        cut(SHORT, |is_cut| scene.nodes.links.cut_replication(primary, is_cut))
    }),
    fault("all replicas cut off from the primary for 10 s", |scene, primary, _| {
        cut(SHORT, |is_cut| scene.nodes.links.cut_service(0..REPLICAS, primary, is_cut))
    }),
    fault("one replica cut off from the primary for 10 s", |scene, primary, _| {
        cut(SHORT, |is_cut| scene.nodes.links.cut_service(0..1, primary, is_cut))
    }),
    Fault { disk: Some(DISK), ..fault("disk of the primary full for 30 s", full_disk) },
    fault("old primary comes back alone, two replicas start then", comes_back),
];

/// Stops the processes of a directory for some time.
fn stopped(scene: &Scene<'_>, directory: &str, time: Duration) -> Result<(), String> {
    let home = scene.nodes.home;
    home.signal_all(directory, "STOP")?;
    sleep(time);
    home.signal_all(directory, "CONT")
}

fn cut(time: Duration, set: impl Fn(bool)) -> Result<(), String> {
    set(true);
    sleep(time);
    set(false);
    Ok(())
}

/// Fills the disk of the primary, and empties it again.
fn full_disk(scene: &Scene<'_>, primary: usize, _: usize) -> Result<(), String> {
    let (home, node) = (scene.nodes.home, scene.nodes.node(primary));
    // The disk is in the namespace of the node's processes.
    let agent = home.agent(&node)?;
    let disk = home.path.join(&node).join("disk");
    let inside = disk.strip_prefix("/").map_err(|error| error.to_string())?;
    let filler = std::path::Path::new(&format!("/proc/{agent}/root")).join(inside).join("filler");
    let mut fill = std::process::Command::new("dd");
    fill.args(["if=/dev/zero", "bs=64k"]).arg(format!("of={}", filler.display()));
    // Ends with an error, when the disk is full.
    output(&mut fill)?;
    sleep(LONG);
    fs::remove_file(&filler).map_err(in_file(&filler))
}

/// Kills the primary, and starts it again without its agent while another node is the primary. Two replicas of the
/// service start after that: one reaches all nodes, the other one only the old primary.
fn comes_back(scene: &Scene<'_>, primary: usize, _: usize) -> Result<(), String> {
    let (nodes, killed) = (&scene.nodes, Instant::now());
    nodes.home.signal_all(&nodes.node(primary), "KILL")?;
    let record = scene.record();
    nodes.wait("writes to the new primary", || {
        let promoted = scene.promoted(primary, killed)?;
        record.has_succeeded(Kind::Write, REPLICAS, promoted).then_some(())
    })?;
    nodes.start_alone(primary)?;
    nodes.wait("the old primary", || scene.responds(primary).then_some(()))?;
    let (connected, isolated) = (REPLICAS, REPLICAS + 1);
    debug_assert_eq!(isolated + 1, REPLICAS + LATE);
    for node in (0..super::NODES).filter(|node| *node != primary) {
        nodes.links.cut_service(isolated..isolated + 1, node, true);
    }
    scene.start_late(connected);
    scene.start_late(isolated);
    sleep(LONG);
    Ok(())
}
