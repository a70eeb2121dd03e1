//! A slow link: a network namespace of its own, whose loopback interface has an Ethernet's packets and a queue.

use std::future::Future;
use std::process::Command;
use std::thread;

use kit::Need;
use nix::sched::{CloneFlags, unshare};
use tokio::runtime::Builder;

/// The rate of the link, and how long a packet may wait in its queue.
const RATE: &str = "400kbit";
const QUEUE: &str = "1250ms";

/// Runs a test whose processes and sockets use a link of 400 kbit/s. Skips it, if that is impossible here.
pub fn on_slow_link<F: Future<Output = ()>>(test: impl FnOnce() -> F + Send + 'static) {
    let run = move || {
        slow_down()?;
        // The processes that this thread starts are in its namespace.
        Builder::new_current_thread().enable_all().build().unwrap().block_on(test());
        Ok::<(), String>(())
    };
    if let Err(reason) = thread::spawn(run).join().expect("the test passes") {
        kit::skip(Need::Tool, &format!("no slow link: {reason}"));
    }
}

/// Moves this thread to a new network namespace.
fn slow_down() -> Result<(), String> {
    unshare(CloneFlags::CLONE_NEWNET).map_err(|error| format!("unshare: {error}"))?;
    for arguments in [
        &["ip", "link", "set", "lo", "mtu", "1500", "up"][..],
        &["tc", "qdisc", "add", "dev", "lo", "root", "tbf", "rate", RATE, "burst", "4kb", "latency", QUEUE],
    ] {
        let output = Command::new(arguments[0]).args(&arguments[1..]).output();
        let output = output.map_err(|error| format!("{}: {error}", arguments[0]))?;
        if !output.status.success() {
            return Err(format!(
                "{}: {}",
                arguments.join(" "),
                String::from_utf8_lossy(&output.stderr).trim()
            ));
        }
    }
    Ok(())
}
