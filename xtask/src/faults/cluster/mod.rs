//! `cargo xtask faults --cluster`: faults of a distributed store, on one machine.
//!
//! Three nodes with PostgreSQL under Patroni in strict synchronous mode, three members of etcd, and three replicas of
//! the service, which name all three nodes in their URL and have clients that write and read all the time. Each fault is
//! injected into a cluster of its own. The command prints a table of what the clients saw, and fails if an acknowledged
//! animal was lost or stored twice, or if a read lacked an animal that had been acknowledged a second before.

mod clients;
mod home;
mod links;
mod nodes;
mod plan;
mod programs;
mod record;
mod scene;

use std::collections::BTreeMap;
use std::thread::sleep;
use std::time::{Duration, Instant};

use launcher::process::seconds;
use launcher::serve;
use launcher::workspace::target;

use self::home::Home;
use self::plan::{FAULTS, Fault};
use self::programs::Programs;
use self::record::{Summary, lock};
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
const RECOVERY: Duration = Duration::from_secs(90);

/// A row of the table.
struct Row {
    fault: &'static str,
    summary: Summary,
    /// From the fault to the promotion, and from there to the first write of the last replica.
    promoted: Option<(Duration, Option<Duration>)>,
    remarks: Vec<String>,
}

/// Injects the faults and prints the table. `short` selects two of them, `only` those whose name contains it. Returns the
/// exit status.
pub(super) fn run(short: bool, only: Option<&str>) -> Result<u8, String> {
    let begin = Instant::now();
    let service = serve::build(false)?;
    let home = Home::new()?;
    let programs = Programs::install(&home, &service, &target(&service)?)?;
    let faults = if short { &FAULTS[..2] } else { &FAULTS[..] };
    let (mut rows, mut failed) = (Vec::new(), false);
    for fault in faults.iter().filter(|fault| only.is_none_or(|only| fault.name.contains(only))) {
        println!("faults: {}", fault.name);
        if fault.disk.is_some() && !home.can_mount() {
            println!("faults: skipped, because this process may not mount a file system");
            continue;
        }
        // The servers must not disturb the next fault.
        match observe(fault, &home, &programs).and_then(|row| home.remove(CLUSTER).map(|()| row)) {
            Ok(row) => {
                println!("{}", row.markdown());
                failed |= !row.is_right();
                rows.push(row);
            }
            Err(why) => {
                eprintln!("faults: {}: {why}", fault.name);
                failed = true;
                home.remove(CLUSTER)?;
            }
        }
    }
    println!("\nfaults: {} rows after {}\n", rows.len(), seconds(begin.elapsed()));
    println!("{HEAD}");
    rows.iter().for_each(|row| println!("{}", row.markdown()));
    Ok(u8::from(failed))
}

/// Injects a fault into a new cluster.
fn observe(fault: &Fault, home: &Home, programs: &Programs) -> Result<Row, String> {
    let scene = Scene::start(home, programs, CLUSTER, fault.disk)?;
    let is_served = |since| scene.is_served(true, since) && scene.is_served(false, since);
    let start = Instant::now();
    while !is_served(start) || start.elapsed() < BEFORE {
        sleep(BEFORE / 10);
    }
    let injected = Instant::now();
    (fault.inject)(&scene)?;
    let ended = Instant::now();
    // The first success may have been sent before the fault took effect.
    let mut is_recovered = true;
    while is_recovered && !is_served(ended + AFTER) {
        is_recovered = ended.elapsed() <= RECOVERY + AFTER;
        sleep(BEFORE / 10);
    }
    let record = &scene.clients.record;
    let promoted = scene.promoted(injected).map(|promoted| {
        let written = (0..REPLICAS).map(|replica| record.first_success(true, replica, promoted));
        let last = written.collect::<Option<Vec<_>>>().and_then(|all| all.into_iter().max());
        (promoted - injected, last.map(|last| last - promoted))
    });
    let (end, stored) = (Instant::now(), scene.end()?);
    let mut summary = record.summary(REPLICAS, (injected, end), &stored);
    if !is_recovered {
        summary.wrong.push(format!("not served again {} s after the fault", RECOVERY.as_secs()));
    }
    let remarks = std::mem::take(&mut *lock(&scene.remarks));
    Ok(Row { fault: fault.name, summary, promoted, remarks })
}

const HEAD: &str = "| fault | promotion after | writes again, after the promotion | without writes | without reads | \
     responses to writes | responses to reads | acknowledged | lost | doubled | stale reads |\n\
     | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |";

impl Row {
    /// Whether nothing was lost, stored twice, stale or wrong.
    fn is_right(&self) -> bool {
        let Summary { lost, doubled, missed, stale, wrong, .. } = &self.summary;
        (*lost, *doubled, *missed) == (0, 0, 0) && stale.is_empty() && wrong.is_empty()
    }

    fn markdown(&self) -> String {
        let summary = &self.summary;
        let or_dash = |time: Option<Duration>| time.map_or("–".to_owned(), seconds);
        let stale: usize = summary.stale.values().sum();
        let mut notes = self.remarks.clone();
        notes.extend(summary.stale.iter().map(|(replica, count)| format!("{count} at replica {replica}")));
        if summary.missed > 0 {
            notes.push(format!("{} missed by clients that poll", summary.missed));
        }
        notes.extend(summary.wrong.iter().take(3).cloned());
        let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join("; ")) };
        format!(
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {stale}{notes} |",
            self.fault,
            or_dash(self.promoted.map(|(after, _)| after)),
            or_dash(self.promoted.and_then(|(_, again)| again)),
            seconds(summary.without_writes),
            seconds(summary.without_reads),
            failures(&summary.writes),
            failures(&summary.reads),
            summary.acknowledged,
            summary.lost,
            summary.doubled,
        )
    }
}

/// Returns the number of responses with each status, except for successes.
fn failures(counts: &BTreeMap<u16, usize>) -> String {
    let each = counts.iter().map(|(status, count)| match status {
        0 => format!("no response: {count}"),
        status => format!("{status}: {count}"),
    });
    let all: Vec<_> = each.collect();
    if all.is_empty() { "no failure".to_owned() } else { all.join(", ") }
}
