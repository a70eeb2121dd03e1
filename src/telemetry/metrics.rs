//! What operators can count, in Prometheus' text format, under OpenTelemetry's names where it has one.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;

use http::{Method, StatusCode};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use crate::keys::KeyId;
use crate::storage::StoreMetrics;

/// OpenTelemetry's advice for `http.server.request.duration`, in seconds, with three finer steps below it:
/// most answers take less than a millisecond.
const DURATIONS: [f64; 17] = [
    0.0002, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 10.0,
];

/// Everything that is counted.
#[derive(Debug)]
pub struct Metrics {
    registry: Mutex<Registry>,
    requests: Family<RequestLabels, Histogram>,
    authentication_failures: Family<FailureLabels, Counter>,
    deprecated_calls: Family<DeprecatedLabels, Counter>,
    store: StoreMetrics,
}

// Labels that OpenTelemetry requires of an HTTP server's requests.
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

/// Why a caller was not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthenticationFailure {
    /// No bearer key was sent.
    Missing,
    /// One that is unknown, expired or revoked.
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
            store: StoreMetrics::default(),
        };
        metrics.register(|registry| {
            registry.register_with_unit(
                "http_server_request_duration",
                "Time from request to answer",
                Unit::Seconds,
                metrics.requests.clone(),
            );
            registry.register(
                "authentication_failures",
                "Calls without a key, or with one that is not good",
                metrics.authentication_failures.clone(),
            );
            registry.register(
                "deprecated_operation_calls",
                "Calls of deprecated operations, by the key that made them",
                metrics.deprecated_calls.clone(),
            );
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

    /// For the store to count in.
    pub fn store(&self) -> &StoreMetrics {
        &self.store
    }

    /// The whole page (OpenMetrics text format, version 1.0.0).
    pub fn page(&self) -> String {
        let mut page = String::new();
        let registry = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        // Writing to a string does not fail.
        let _ = encode(&mut page, &registry);
        page
    }

    pub(crate) fn answered(&self, method: &Method, route: &str, status: StatusCode, took: Duration) {
        let labels = RequestLabels {
            http_request_method: method_label(method),
            http_route: route.to_owned(),
            http_response_status_code: status.as_u16(),
        };
        self.requests.get_or_create(&labels).observe(took.as_secs_f64());
    }

    pub(crate) fn not_let_in(&self, reason: AuthenticationFailure) {
        let reason = match reason {
            AuthenticationFailure::Missing => "missing",
            AuthenticationFailure::Invalid => "invalid",
        };
        self.authentication_failures.get_or_create(&FailureLabels { reason }).inc();
    }

    pub(crate) fn deprecated_call(&self, operation: &str, key: &KeyId) {
        let labels = DeprecatedLabels { operation: operation.to_owned(), key_id: key.to_string() };
        self.deprecated_calls.get_or_create(&labels).inc();
    }
}

/// The method, if it is one that HTTP knows, so that clients cannot make up label values.
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
