//! Metrics in the OpenMetrics text format, with the names of OpenTelemetry where it has one.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use http::{Method, StatusCode};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use super::connections::ConnectionMetrics;
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
    authentication_failures: Family<FailureLabels, Counter>,
    deprecated_calls: Family<DeprecatedLabels, Counter>,
    connections: ConnectionMetrics,
    store: StoreMetrics,
}

// The attributes that OpenTelemetry requires for the requests of an HTTP server.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    http_request_method: &'static str,
    http_route: String,
    http_response_status_code: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct FailureLabels {
    reason: &'static str,
}

/// Why authentication failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthenticationFailure {
    /// The request has no bearer token.
    Missing,
    /// The bearer token is not an API key, or the key is unknown, expired or revoked.
    Invalid,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct DeprecatedLabels {
    operation: String,
    key_id: String,
}

impl Default for Metrics {
    fn default() -> Self {
        let requests = Family::new_with_constructor(histogram as fn() -> Histogram);
        let metrics = Self {
            registry: Mutex::default(),
            requests,
            authentication_failures: Family::default(),
            deprecated_calls: Family::default(),
            connections: ConnectionMetrics::default(),
            store: StoreMetrics::default(),
        };
        metrics.register(|registry| {
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
            metrics.connections.register(registry);
            metrics.store.register(registry);
        });
        metrics
    }
}

fn histogram() -> Histogram {
    Histogram::new(DURATIONS)
}

impl Metrics {
    fn register(&self, add: impl FnOnce(&mut Registry)) {
        add(&mut self.registry.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Returns the metrics of the connections to the public listener.
    pub fn connections(&self) -> &ConnectionMetrics {
        &self.connections
    }

    /// Returns the metrics of the store.
    pub fn store(&self) -> &StoreMetrics {
        &self.store
    }

    /// Returns all metrics (OpenMetrics text format, version 1.0.0).
    pub fn encode(&self) -> String {
        let mut text = String::new();
        let registry = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        // Writing to a String does not fail.
        let _ = encode(&mut text, &registry);
        text
    }

    pub(crate) fn observe_response(&self, method: &Method, route: &str, status: StatusCode, took: Duration) {
        let labels = RequestLabels {
            http_request_method: method_label(method),
            http_route: route.to_owned(),
            http_response_status_code: status.as_u16(),
        };
        self.requests.get_or_create(&labels).observe(took.as_secs_f64());
    }

    pub(crate) fn authentication_failed(&self, failure: AuthenticationFailure) {
        let reason = match failure {
            AuthenticationFailure::Missing => "missing",
            AuthenticationFailure::Invalid => "invalid",
        };
        self.authentication_failures.get_or_create(&FailureLabels { reason }).inc();
    }

    pub(crate) fn deprecated_call(&self, operation: &str, key_id: &str) {
        let labels = DeprecatedLabels { operation: operation.to_owned(), key_id: key_id.to_owned() };
        self.deprecated_calls.get_or_create(&labels).inc();
    }
}

/// Returns a standard method, or `_OTHER`: clients must not create label values.
fn method_label(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        Method::TRACE => "TRACE",
        _ => "_OTHER",
    }
}
