//! `cargo xtask faults --cluster`: faults of a distributed store, on one machine.
//!
//! Three nodes with PostgreSQL under Patroni in strict synchronous mode, three members of etcd, and three replicas of
//! the service with clients that write and read all the time. They name all three nodes in their URL, or reach the primary
//! through HAProxy. Each fault is
//! injected into a cluster of its own. The command prints a table of what the clients saw, and fails if an acknowledged
//! animal was lost or stored twice, or if a read lacked an animal that had been acknowledged before.

mod clients;
mod home;
mod nodes;
mod plan;
mod programs;
mod proxy;
mod record;
mod scene;

use std::collections::BTreeMap;
use std::thread::sleep;
use std::time::{Duration, Instant};

use xtask::process::seconds;
use xtask::serve;
use xtask::workspace::target;

use self::home::Home;
use self::plan::{FAULTS, Inject, THROUGH_PROXY};
use self::programs::Programs;
use self::record::lock;
use self::scene::Scene;

/// The directory of a cluster, in that of the run.
const CLUSTER: &str = "cluster";
/// The number of nodes, and that of members of etcd.
const NODES: usize = 3;
/// The number of replicas with clients from the start.
const REPLICAS: usize = 3;
/// How long clients are served before the fault, and after it.
const BEFORE: Duration = Duration::from_secs(3);
const AFTER: Duration = Duration::from_secs(5);
/// How long the service may take to recover after the end of the fault, before that is an error.
const RECOVERY: Duration = Duration::from_secs(300);

const HEAD: &str = "| fault | promotion after | writes again, after the promotion | without writes | without reads | \
     responses to writes | responses to reads | acknowledged | wrong |\n\
     | --- | --- | --- | --- | --- | --- | --- | --- | --- |";

/// Injects the faults whose name contains `only`, and prints the table. Returns the exit status, which is 1 also if there
/// is no such fault.
pub(super) fn run(only: Option<&str>) -> Result<u8, String> {
    let begin = Instant::now();
    let service = serve::build(false)?;
    let home = Home::new()?;
    let programs = Programs::install(&home, &service, &target(&service)?)?;
    let (mut rows, mut failed) = (Vec::new(), false);
    for (name, inject) in FAULTS.iter().filter(|(name, _)| only.is_none_or(|only| name.contains(only))) {
        println!("faults: {name}");
        let observed = observe(*inject, name.ends_with(THROUGH_PROXY), &home, &programs);
        match observed {
            Ok((cells, is_right)) => {
                rows.push(format!("| {name} | {} |", cells.join(" | ")));
                println!("{}", rows[rows.len() - 1]);
                failed |= !is_right;
            }
            Err(why) => {
                eprintln!("faults: {name}: {why}");
                failed = true;
            }
        }
        // The servers must not disturb the next fault.
        home.remove(CLUSTER)?;
    }
    println!("\nfaults: {} rows after {}\n", rows.len(), seconds(begin.elapsed()));
    println!("{HEAD}\n{}", rows.join("\n"));
    Ok(u8::from(failed || rows.is_empty()))
}

/// Injects a fault into a new cluster. Returns the cells of the table, and whether nothing was wrong.
fn observe(
    inject: Inject,
    through_proxy: bool,
    home: &Home,
    programs: &Programs,
) -> Result<(Vec<String>, bool), String> {
    let scene = Scene::start(home, programs, through_proxy)?;
    let is_served = |since| scene.is_served(true, since) && scene.is_served(false, since);
    let start = Instant::now();
    while !is_served(start) || start.elapsed() < BEFORE {
        sleep(BEFORE / 10);
    }
    let injected = Instant::now();
    inject(&scene)?;
    let ended = Instant::now();
    // The first success may have been sent before the fault took effect.
    let mut is_recovered = true;
    while is_recovered && !is_served(ended + AFTER) {
        is_recovered = ended.elapsed() <= RECOVERY + AFTER;
        sleep(BEFORE / 10);
    }
    let record = &scene.clients.record;
    let promoted = scene.promoted(injected);
    let written = promoted.and_then(|promoted| {
        let written = (0..REPLICAS).map(|replica| record.first_success(true, replica, promoted));
        Some(written.collect::<Option<Vec<_>>>()?.into_iter().max()? - promoted)
    });
    let (end, stored) = (Instant::now(), scene.end()?);
    let mut summary = record.summary(REPLICAS, (injected, end), &stored);
    if !is_recovered {
        summary.wrong.push(format!("not served again {} s after the fault", RECOVERY.as_secs()));
    }
    let is_right = summary.wrong.is_empty();
    let mut notes = std::mem::take(&mut *lock(&scene.remarks));
    notes.extend(summary.wrong);
    if is_right {
        notes.insert(0, "nothing".to_owned());
    }
    let times = [promoted.map(|promoted| promoted - injected), written];
    let mut cells: Vec<_> = times.into_iter().chain(summary.without.map(Some)).map(or_dash).collect();
    cells.extend(summary.failures.iter().map(shown));
    cells.extend([summary.acknowledged.to_string(), notes.join("; ")]);
    Ok((cells, is_right))
}

fn or_dash(time: Option<Duration>) -> String {
    time.map_or("–".to_owned(), seconds)
}

/// Returns the number of responses with each status.
fn shown(failures: &BTreeMap<u16, usize>) -> String {
    let each = failures.iter().map(|(status, count)| match status {
        0 => format!("no response: {count}"),
        status => format!("{status}: {count}"),
    });
    let all: Vec<_> = each.collect();
    if all.is_empty() { "no failure".to_owned() } else { all.join(", ") }
}
