//! The metrics of the process, with the names of Prometheus ("Writing client libraries", "Process metrics").

use std::fmt;
use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Unit;
use rustix::process::{Resource, getrlimit};
use rustix::time::{ClockId, clock_gettime};

/// Reads the metrics when they are requested. Those that the system does not have are left out.
#[derive(Debug)]
pub(super) struct Process {
    /// Seconds since the Unix epoch.
    start: f64,
}

impl Process {
    /// Must be called when the process starts, because that time is one of the metrics.
    pub(super) fn new() -> Self {
        let start = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { start: start.as_secs_f64() }
    }
}

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        // Linux reports sizes in KiB.
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let bytes = |name: &str| field(&status, name).map(|kib| kib * 1024.0);
        // Far below 2^53, unless there is no limit.
        let limit = getrlimit(Resource::Nofile).current.map(|limit| limit as f64);
        for (name, help, unit, value) in [
            ("process_resident_memory", "Resident memory", Some(&Unit::Bytes), bytes("VmRSS")),
            ("process_virtual_memory", "Virtual memory", Some(&Unit::Bytes), bytes("VmSize")),
            ("process_open_fds", "Open file descriptors", None, open_descriptors()),
            ("process_max_fds", "Maximum number of open file descriptors", None, limit),
            ("process_start_time", "Start of the process since 1970", Some(&Unit::Seconds), Some(self.start)),
        ] {
            let Some(gauge) = value.map(ConstGauge::new) else { continue };
            gauge.encode(encoder.encode_descriptor(name, help, unit, gauge.metric_type())?)?;
        }
        let used = clock_gettime(ClockId::ProcessCPUTime);
        let used = ConstCounter::new(used.tv_sec as f64 + used.tv_nsec as f64 / 1e9);
        let (name, help, unit) = ("process_cpu", "User and system time", Some(&Unit::Seconds));
        used.encode(encoder.encode_descriptor(name, help, unit, used.metric_type())?)
    }
}

/// Returns a number of `/proc/self/status`.
fn field(status: &str, name: &str) -> Option<f64> {
    let value = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    value.split_whitespace().next()?.parse().ok()
}

/// Returns the number of open descriptors, without the one that reads their list.
fn open_descriptors() -> Option<f64> {
    let count = fs::read_dir("/proc/self/fd").ok()?.count();
    u32::try_from(count.saturating_sub(1)).ok().map(f64::from)
}
