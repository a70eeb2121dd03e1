//! Metrics in the OpenMetrics text format, with the names of OpenTelemetry where it has one. Those of the process have the
//! names of Prometheus ("Writing client libraries", "Process metrics").

use std::fmt::{self, Display};
use std::fs;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use http::{Method, StatusCode};
use jiff::Timestamp;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric};
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};
use rustix::process::{Resource, getrlimit};
use rustix::time::{ClockId, clock_gettime};
use slog::{Logger, info};
use strum::IntoStaticStr;
use x509_cert::Certificate;
use x509_cert::der::Decode;

use super::classic::classic;
use super::logging::LogMetrics;
use super::{Label, registered};
use crate::storage::StoreMetrics;

/// The buckets that OpenTelemetry recommends for `http.server.request.duration`, in seconds, and three
/// smaller ones: most responses take less than a millisecond.
const DURATIONS: [f64; 17] = [
    0.0002, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 10.0,
];

/// How often the log has a refusal: a flood of them must not fill it. The metrics count all.
const LOG_AGAIN: Duration = Duration::from_secs(1);

/// The metrics of a service and of its store.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Histogram>,
    authentication_failures: Family<Label, Counter>,
    deprecated_calls: Family<DeprecatedLabels, Counter>,
    /// Without labels, so that it is absent until it is set.
    certificate_expiry: Family<[(&'static str, &'static str); 0], Gauge>,
    /// The metrics of the connections to the public listener.
    pub connections: ConnectionMetrics,
    /// The metrics of the store.
    pub store: StoreMetrics,
    /// The metrics of the log.
    pub log: LogMetrics,
}

// The attributes that OpenTelemetry requires for the requests of an HTTP server.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    http_request_method: &'static str,
    http_route: String,
    http_response_status_code: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct DeprecatedLabels {
    operation: &'static str,
    key_id: Arc<str>,
}

impl Default for Metrics {
    /// Must be called when the process starts, because that time is one of the metrics.
    fn default() -> Self {
        let mut registry = Registry::default();
        let requests = Family::new_with_constructor((|| Histogram::new(DURATIONS)) as fn() -> Histogram);
        let (name, help) = ("http_server_request_duration", "Time from request to response");
        registry.register_with_unit(name, help, Unit::Seconds, requests.clone());
        let help = "Requests without an API key, or with an invalid one";
        let authentication_failures = registered(&mut registry, "authentication_failures", help);
        let help = "Requests to deprecated operations, by API key";
        let deprecated_calls = registered(&mut registry, "deprecated_operation_calls", help);
        let connections = ConnectionMetrics::new(&mut registry);
        let certificate_expiry = Family::default();
        let help = "End of the validity of the certificate in use, since 1970";
        let name = "tls_certificate_not_after";
        registry.register_with_unit(name, help, Unit::Seconds, certificate_expiry.clone());
        let store = StoreMetrics::default();
        store.register(&mut registry);
        let log = LogMetrics::new(&mut registry);
        let start = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let (name, help) = ("process_start_time", "Start of the process since 1970");
        registry.register_with_unit(name, help, Unit::Seconds, ConstGauge::new(start));
        registry.register_collector(Box::new(Process));
        Self {
            registry,
            requests,
            authentication_failures,
            deprecated_calls,
            certificate_expiry,
            connections,
            store,
            log,
        }
    }
}

impl Metrics {
    /// Adds `build_info` with the versions of the program and of the API. Must be called at most once.
    pub fn add_build_info(&mut self, version: &str, api_version: &str) {
        let labels = vec![("version", version.to_owned()), ("api_version", api_version.to_owned())];
        self.registry.register("build", "The versions of the program and of the API", Info::new(labels));
    }

    /// Sets the end of the validity of the certificate in use.
    pub fn certificate_expires(&self, at: Timestamp) {
        self.certificate_expiry.get_or_create(&[]).set(at.as_second());
    }

    /// Returns all metrics (OpenMetrics text format, version 1.0.0).
    pub fn encode(&self) -> String {
        let mut text = String::new();
        // Writing to a String does not fail.
        let _ = encode(&mut text, &self.registry);
        text
    }

    /// Returns all metrics (text format of Prometheus, version 0.0.4).
    pub fn encode_classic(&self) -> String {
        classic(&self.encode())
    }

    /// Returns the metric of the responses with these labels.
    pub(crate) fn response_durations(&self, method: &Method, route: &str, status: StatusCode) -> Histogram {
        let labels = RequestLabels {
            http_request_method: method_label(method),
            http_route: route.to_owned(),
            http_response_status_code: status.as_u16(),
        };
        self.requests.get_or_create_owned(&labels)
    }

    pub(crate) fn authentication_failed(&self, reason: &'static str) {
        self.authentication_failures.get_or_create(&[("reason", reason)]).inc();
    }

    /// Counts a call of a deprecated operation with an API key.
    pub(crate) fn deprecated_operation_called(&self, operation: &'static str, key_id: Arc<str>) {
        self.deprecated_calls.get_or_create(&DeprecatedLabels { operation, key_id }).inc();
    }
}

/// The metrics of the connections to the public listener. A clone shares them.
#[derive(Clone, Debug, Default)]
pub struct ConnectionMetrics {
    open: Gauge,
    max: Gauge,
    timed_out: Family<Label, Counter>,
    handshakes_failed: Counter,
    malformed: Counter,
    /// When the log had the last refusal.
    logged: Arc<Mutex<Option<Instant>>>,
}

/// The time limit that a connection exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Timeout {
    /// `header_timeout`
    Header,
    /// `idle_timeout`
    Idle,
    /// `send_timeout`
    Send,
    /// `max_age`
    Age,
}

impl ConnectionMetrics {
    /// Registers the metrics.
    pub(super) fn new(registry: &mut Registry) -> Self {
        let timed_out = "Connections that were closed because they exceeded a time limit";
        let malformed = "Connections that ended because of bytes that are not HTTP or exceed a limit of it";
        Self {
            open: registered(registry, "connections_open", "Connections that are open"),
            max: registered(registry, "connections_max", "Connections that may be open"),
            timed_out: registered(registry, "connections_timed_out", timed_out),
            handshakes_failed: registered(registry, "tls_handshakes_failed", "TLS handshakes that failed"),
            malformed: registered(registry, "connections_malformed", malformed),
            logged: Arc::default(),
        }
    }

    /// Sets the number of open connections.
    pub(crate) fn set_open(&self, open: usize) {
        self.open.set(i64::try_from(open).unwrap_or(i64::MAX));
    }

    /// Sets the maximum number of connections.
    pub(crate) fn set_max(&self, max: usize) {
        self.max.set(i64::try_from(max).unwrap_or(i64::MAX));
    }

    /// Counts a connection that ended because of this limit, if it was one.
    pub(crate) fn timed_out(&self, timeout: Option<Timeout>) {
        if let Some(timeout) = timeout {
            self.timed_out.get_or_create(&[("timeout", timeout.into())]).inc();
        }
    }

    /// Counts and logs a TLS handshake that failed.
    pub(crate) fn handshake_failed(&self, log: &Logger, peer: &str, error: impl Display) {
        self.handshakes_failed.inc();
        self.log(log, "a TLS handshake failed", peer, error);
    }

    /// Counts and logs a connection that ended before a request could be read from it.
    pub(crate) fn malformed(&self, log: &Logger, peer: &str, error: impl Display) {
        self.malformed.inc();
        self.log(log, "refused what is not a request", peer, error);
    }

    fn log(&self, log: &Logger, message: &'static str, peer: &str, error: impl Display) {
        let mut logged = self.logged.lock().unwrap_or_else(PoisonError::into_inner);
        if logged.is_none_or(|last| last.elapsed() >= LOG_AGAIN) {
            *logged = Some(Instant::now());
            // slog serializes the last pair first.
            info!(log, "{}", message; "network.peer.address" => peer, "error" => %error);
        }
    }
}

/// Returns a method of RFC 9110 or `PATCH`, else `_OTHER`: clients must not create label values, and a method may be an
/// API key that was sent in the wrong place.
pub(crate) fn method_label(method: &Method) -> &'static str {
    let standard = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"];
    standard.into_iter().find(|name| *name == method.as_str()).unwrap_or("_OTHER")
}

/// Returns the `notAfter` of a certificate in DER (RFC 5280, section 4.1.2.5); `None` if it is not a
/// certificate.
pub fn not_after(der: &[u8]) -> Option<Timestamp> {
    let certificate = Certificate::from_der(der).ok()?;
    Timestamp::try_from(certificate.tbs_certificate.validity.not_after.to_system_time()).ok()
}

/// Reads the metrics of the process when they are requested. Those that the system does not have are left out.
#[derive(Debug)]
struct Process;

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let bytes = |name: &str| {
            let value = status.lines().find_map(|line| line.strip_prefix(name)?.strip_suffix("kB"))?;
            value.trim().parse::<f64>().ok().map(|kib| kib * 1024.0)
        };
        // Without the one that reads the list.
        let open = fs::read_dir("/proc/self/fd").ok().map(|open| open.count().saturating_sub(1) as f64);
        // Far below 2^53, unless there is no limit.
        let limit = getrlimit(Resource::Nofile).current.map(|limit| limit as f64);
        for (name, help, unit, value) in [
            ("process_resident_memory", "Resident memory", Some(&Unit::Bytes), bytes("VmRSS:")),
            ("process_virtual_memory", "Virtual memory", Some(&Unit::Bytes), bytes("VmSize:")),
            ("process_open_fds", "Open file descriptors", None, open),
            ("process_max_fds", "Maximum number of open file descriptors", None, limit),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_the_certificate_is_absent_until_it_is_set() {
        let metrics = Metrics::default();
        assert!(!metrics.encode().contains("\ntls_certificate_not_after_seconds"));
        metrics.certificate_expires("2030-03-04T00:00:00Z".parse().unwrap());
        assert!(metrics.encode().contains("\ntls_certificate_not_after_seconds{} 1898812800\n"));
    }

    #[test]
    fn the_end_of_a_certificate_is_read_and_other_bytes_are_none() {
        let key = rcgen::KeyPair::generate().unwrap();
        let mut parameters = rcgen::CertificateParams::new(["localhost".to_owned()]).unwrap();
        for (year, expected) in [(2030, "2030-03-04T00:00:00Z"), (2075, "2075-03-04T00:00:00Z")] {
            parameters.not_after = rcgen::date_time_ymd(year, 3, 4);
            let der = parameters.self_signed(&key).unwrap().der().to_vec();
            assert_eq!(not_after(&der).unwrap(), expected.parse().unwrap());
            for end in 0..der.len() {
                assert_eq!(not_after(&der[..end]), None);
            }
        }
    }
}
