//! The access log and its metrics: one record for each answer.
//!
//! A record has neither path nor query, since either may hold what should not be in a log. It is written by
//! a thread of its own; a request never waits for it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http::{HeaderMap, Method, StatusCode};
use slog::{Logger, error, info, warn};

use crate::keys::KeyId;
use crate::telemetry::metrics::Metrics;

/// Which answers are logged.
#[derive(Debug)]
pub struct AccessLog {
    log: Logger,
    /// Of the answers that are no server errors, one in this many; 0 for none.
    one_in: u64,
    answers: AtomicU64,
}

/// An answer, and what it was given to.
pub(crate) struct Answered<'a> {
    pub(crate) request_id: &'a str,
    pub(crate) method: &'a Method,
    /// The path template of the operation, if there is one.
    pub(crate) route: Option<&'a str>,
    pub(crate) key: Option<&'a KeyId>,
    /// The client's trace (W3C Trace Context, section 3.2), kept as it came.
    pub(crate) traceparent: Option<&'a str>,
    pub(crate) status: StatusCode,
    pub(crate) took: Duration,
}

impl AccessLog {
    /// Logs server errors always, and one in `one_in` of the other answers; none of them for 0.
    pub fn new(log: Logger, one_in: u64) -> Self {
        Self { log, one_in, answers: AtomicU64::new(0) }
    }

    pub(crate) fn record(&self, metrics: &Metrics, answered: &Answered<'_>) {
        metrics.answered(answered.method, answered.route.unwrap_or_default(), answered.status, answered.took);
        let latency_us = u64::try_from(answered.took.as_micros()).unwrap_or(u64::MAX);
        // slog wants its level as a constant.
        macro_rules! record {
            ($level:ident) => {
                $level!(self.log, "answered";
                    "request_id" => answered.request_id,
                    "method" => answered.method.as_str(),
                    "route" => answered.route,
                    "key" => answered.key.map(KeyId::as_str),
                    "status" => answered.status.as_u16(),
                    "latency_us" => latency_us,
                    "traceparent" => answered.traceparent)
            };
        }
        if answered.status.is_server_error() {
            record!(error);
        } else if self.samples() {
            if answered.status.is_client_error() { record!(warn) } else { record!(info) }
        }
    }

    fn samples(&self) -> bool {
        match self.one_in {
            0 => false,
            1 => true,
            one_in => self.answers.fetch_add(1, Ordering::Relaxed).is_multiple_of(one_in),
        }
    }
}

/// The `traceparent` header, if it is one: `00-<32 hex>-<16 hex>-<2 hex>`, neither identifier all zeros.
pub(crate) fn traceparent(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get("traceparent")?.to_str().ok()?;
    let mut parts = value.split('-');
    let mut hex = |length: usize| {
        let part = parts.next()?;
        let lower_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        (part.len() == length && part.bytes().all(lower_hex)).then_some(part)
    };
    let (version, trace, parent, _flags) = (hex(2)?, hex(32)?, hex(16)?, hex(2)?);
    let some = |identifier: &str| identifier.bytes().any(|byte| byte != b'0');
    (version == "00" && some(trace) && some(parent) && parts.next().is_none()).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_a_traceparent_is_kept() {
        let kept = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert("traceparent", value.parse().unwrap());
            traceparent(&headers).is_some()
        };
        let good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        assert!(kept(good));
        assert!(!kept(&good.to_uppercase()));
        assert!(!kept(&good.replace("b7ad6b7169203331", "0000000000000000")));
        assert!(!kept(&good.replace("00-", "ff-")));
        assert!(!kept(&format!("{good}-extra")));
        assert!(!kept("ask_secret"));
        assert!(!kept(""));
    }
}
