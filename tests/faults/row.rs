//! The table: a row for each fault, with what was measured.

use std::env;
use std::fs;
use std::time::Duration;

use rustix::process::Pid;
use tokio::sync::{Mutex, MutexGuard};

/// Whether this is the long run.
pub fn long() -> bool {
    env::var_os("STORE_TESTS_LONG").is_some_and(|value| value == "1")
}

/// Whether somebody wants the table, and so has given the machine to nothing else.
pub fn measured() -> bool {
    env::var_os("STORE_TESTS_FAULTS").is_some()
}

/// One fault at a time: they would be in each other's way, and in each other's figures.
pub async fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::const_new(());
    TURN.lock().await
}

/// Writes a row down, if anybody asked for the table: in the directory that `STORE_TESTS_FAULTS` names.
/// `place` orders the rows.
pub fn row(place: u8, fault: &str, client: &str, afterwards: &str) {
    let row = format!("| {fault} | {client} | {afterwards} |\n");
    if let Some(directory) = env::var_os("STORE_TESTS_FAULTS") {
        let file = std::path::Path::new(&directory).join(format!("{place:02}.md"));
        fs::write(file, &row).expect("a row of the table");
    }
    print!("{row}");
}

/// The `percent` percentile of `times`, which must not be empty.
pub fn percentile(times: &mut [Duration], percent: usize) -> Duration {
    times.sort_unstable();
    times[(times.len() * percent / 100).min(times.len() - 1)]
}

/// Milliseconds with one decimal.
pub fn milliseconds(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1000.0)
}

/// Whole units of thousands as people read them: 12,345.
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join(",")
}

/// Memory of a process that is resident, in KiB.
pub fn resident(process: Pid) -> usize {
    let status = fs::read_to_string(format!("/proc/{}/status", process.as_raw_nonzero())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}
