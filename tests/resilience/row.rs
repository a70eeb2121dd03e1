//! The table of faults: one row per fault, with its measurements.

use std::env;
use std::fs;
use std::time::Duration;

use rustix::process::Pid;
use tokio::sync::{Mutex, MutexGuard};

/// Whether the rows are collected. Then tests run one at a time (`cargo xtask faults`), so that time limits can be checked.
pub fn measured() -> bool {
    env::var_os("STORE_TESTS_FAULTS").is_some()
}

/// Waits until no other test has hundreds of connections open.
pub async fn exclusive() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::const_new(());
    TURN.lock().await
}

/// Prints a row, and writes it to the directory that `STORE_TESTS_FAULTS` names, if set. `order` sorts the rows.
pub fn row(order: u8, fault: &str, client: &str, afterwards: &str) {
    let row = format!("| {fault} | {client} | {afterwards} |\n");
    if let Some(directory) = env::var_os("STORE_TESTS_FAULTS") {
        let file = std::path::Path::new(&directory).join(format!("{order:02}.md"));
        fs::write(file, &row).expect("a row of the table");
    }
    print!("{row}");
}

/// Returns a percentile of `times`, which must not be empty.
pub fn percentile(times: &mut [Duration], percent: usize) -> Duration {
    times.sort_unstable();
    times[(times.len() * percent / 100).min(times.len() - 1)]
}

/// Formats a duration in milliseconds with one decimal.
pub fn milliseconds(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1000.0)
}

/// Formats a number with thousands separators: `12,345`.
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join(",")
}

/// Returns the resident memory of a process in KiB.
pub fn resident(process: Pid) -> usize {
    let status = fs::read_to_string(format!("/proc/{}/status", process.as_raw_nonzero())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}
