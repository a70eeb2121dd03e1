//! Metrics in the OpenMetrics text format, with the names of OpenTelemetry where it has one.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::{Method, StatusCode};
use jiff::Timestamp;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

use super::Label;
use super::connections::ConnectionMetrics;
use super::logging::LogMetrics;
use super::process::Process;
use crate::storage::StoreMetrics;

/// The buckets that OpenTelemetry recommends for `http.server.request.duration`, in seconds, and three
/// smaller ones: most responses take less than a millisecond.
const DURATIONS: [f64; 17] = [
    0.0002, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 10.0,
];

/// The metrics of a service and of its store.
#[derive(Debug)]
pub struct Metrics {
    registry: Mutex<Registry>,
    requests: Family<RequestLabels, Histogram>,
    authentication_failures: Family<Label, Counter>,
    deprecated_calls: Family<DeprecatedLabels, Counter>,
    connections: ConnectionMetrics,
    /// Without labels, so that it is absent until it is set.
    certificate_expiry: Family<NoLabels, Gauge>,
    store: StoreMetrics,
    log: LogMetrics,
}

type NoLabels = [(&'static str, &'static str); 0];

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
    fn default() -> Self {
        let metrics = Self {
            registry: Mutex::default(),
            requests: Family::new_with_constructor(|| Histogram::new(DURATIONS)),
            authentication_failures: Family::default(),
            deprecated_calls: Family::default(),
            connections: ConnectionMetrics::default(),
            certificate_expiry: Family::default(),
            store: StoreMetrics::default(),
            log: LogMetrics::default(),
        };
        let mut registry = metrics.registry();
        registry.register_with_unit(
            "http_server_request_duration",
            "Time from request to response",
            Unit::Seconds,
            metrics.requests.clone(),
        );
        registry.register(
            "authentication_failures",
            "Requests without an API key, or with an invalid one",
            metrics.authentication_failures.clone(),
        );
        registry.register(
            "deprecated_operation_calls",
            "Requests to deprecated operations, by API key",
            metrics.deprecated_calls.clone(),
        );
        metrics.connections.register(&mut registry);
        registry.register_with_unit(
            "tls_certificate_not_after",
            "End of the validity of the certificate in use, since 1970",
            Unit::Seconds,
            metrics.certificate_expiry.clone(),
        );
        metrics.store.register(&mut registry);
        metrics.log.register(&mut registry);
        registry.register_collector(Box::new(Process::new()));
        drop(registry);
        metrics
    }
}

impl Metrics {
    fn registry(&self) -> MutexGuard<'_, Registry> {
        self.registry.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the metrics of the connections to the public listener.
    pub fn connections(&self) -> &ConnectionMetrics {
        &self.connections
    }

    /// Returns the metrics of the store.
    pub fn store(&self) -> &StoreMetrics {
        &self.store
    }

    /// Returns the metrics of the log.
    pub fn log(&self) -> &LogMetrics {
        &self.log
    }

    /// Adds `build_info` with the versions of the program and of the API. Must be called at most once.
    pub fn add_build_info(&self, version: &str, api_version: &str) {
        let labels = vec![("version", version.to_owned()), ("api_version", api_version.to_owned())];
        let help = "The versions of the program and of the API";
        self.registry().register("build", help, Info::new(labels));
    }

    /// Sets the end of the validity of the certificate in use.
    pub fn certificate_expires(&self, at: Timestamp) {
        self.certificate_expiry.get_or_create(&[]).set(at.as_second());
    }

    /// Returns all metrics (OpenMetrics text format, version 1.0.0).
    pub fn encode(&self) -> String {
        let mut text = String::new();
        // Writing to a String does not fail.
        let _ = encode(&mut text, &self.registry());
        text
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

/// Returns a method of RFC 9110 or `PATCH`, else `_OTHER`: clients must not create label values, and a method may be an
/// API key that was sent in the wrong place.
pub(crate) fn method_label(method: &Method) -> &'static str {
    let standard = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"];
    standard.into_iter().find(|name| *name == method.as_str()).unwrap_or("_OTHER")
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
}
