//! The access log: one record for each response.
//!
//! A record has the path without the query, and without segments that may be an API key ([`safe_path`]), and the method
//! only if it is a standard one. The fields have the names of OpenTelemetry's semantic conventions: an error code is
//! `error.type`, and the identifier of the API key is `enduser.id`. The last address in `X-Forwarded-For` is logged as the
//! text that it is: a client that reaches the service without a proxy can send any.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use http::header::{HeaderMap, HeaderName};
use http::{Request, StatusCode};
use slog::{KV, Logger, Record, Serializer, error, info};
use uuid::Uuid;

use super::error::ApiError;
use crate::keys::KeyId;
use crate::telemetry::format::RESPONSE_TAG;
use crate::telemetry::metrics::method_label;

/// The status of a request whose client went away before the response. It is never sent, and has no name in HTTP; the
/// access logs of nginx made it known.
const CLIENT_CLOSED_REQUEST: u16 = 499;
/// The length of a UUID. API keys are longer, in any percent-encoding.
const MAX_SEGMENT: usize = 36;
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
/// The maximum number of characters of an address in the log. IPv6 with brackets and a port has 47.
const MAX_ADDRESS: usize = 64;
/// The maximum length of a path in the log.
const MAX_PATH: usize = 256;

/// A response, and the request that it belongs to.
pub(super) struct LoggedResponse<'a> {
    pub(super) request: Arc<Request<()>>,
    /// The IP address of the client.
    pub(super) peer: Arc<str>,
    pub(super) request_id: Uuid,
    /// The path template of the operation, if there is one.
    pub(super) route: Option<&'a str>,
    pub(super) key: Option<KeyId>,
    pub(super) status: StatusCode,
    pub(super) error: Option<ApiError>,
    pub(super) duration: Duration,
}

impl LoggedResponse<'_> {
    /// Records a request that has no response yet.
    pub(super) fn new(request: Arc<Request<()>>, peer: Arc<str>) -> Self {
        Self {
            peer,
            request_id: Uuid::new_v4(),
            request,
            route: None,
            key: None,
            status: StatusCode::from_u16(CLIENT_CLOSED_REQUEST).unwrap_or_default(),
            error: None,
            duration: Duration::ZERO,
        }
    }

    pub(super) fn record(&self, log: &Logger) {
        // A client error is not a warning: the service works as intended.
        if self.status.is_server_error() {
            error!(log, #RESPONSE_TAG, "response"; self);
        } else {
            info!(log, #RESPONSE_TAG, "response"; self);
        }
    }
}

// `slog::kv!` would serialize the fields in reverse order, and absent ones as well.
impl KV for LoggedResponse<'_> {
    fn serialize(&self, _: &Record<'_>, serializer: &mut dyn Serializer) -> slog::Result {
        serializer.emit_str("http.request.method".into(), method_label(self.request.method()))?;
        serializer.emit_str("url.path".into(), &safe_path(self.request.uri().path()))?;
        serializer.emit_u16("http.response.status_code".into(), self.status.as_u16())?;
        // In microseconds: a clock that is more precise would only add digits.
        let seconds = Duration::from_micros(u64::try_from(self.duration.as_micros()).unwrap_or(u64::MAX));
        serializer.emit_f64("http.server.request.duration".into(), seconds.as_secs_f64())?;
        if let Some(error) = &self.error {
            serializer.emit_str("error.type".into(), error.code.as_str())?;
            if let Some(cause) = error.cause() {
                serializer.emit_str("animal_store.cause".into(), cause)?;
            }
        }
        serializer.emit_str("network.peer.address".into(), &self.peer)?;
        if let Some(address) = forwarded_for(self.request.headers()) {
            serializer.emit_str("http.request.header.x-forwarded-for".into(), &address)?;
        }
        if let Some(key) = &self.key {
            serializer.emit_str("enduser.id".into(), key.as_str())?;
        }
        let (mut buffer, id) = (Uuid::encode_buffer(), self.request_id.hyphenated());
        serializer.emit_str("http.response.header.x-request-id".into(), id.encode_lower(&mut buffer))?;
        if let Some(route) = self.route {
            serializer.emit_str("http.route".into(), route)?;
        }
        if let Some([trace, span, flags]) = trace_context(self.request.headers()) {
            serializer.emit_str("trace_id".into(), trace)?;
            serializer.emit_str("span_id".into(), span)?;
            serializer.emit_str("trace_flags".into(), flags)?;
        }
        Ok(())
    }
}

/// Returns the path for the log. Segments that are longer than [`MAX_SEGMENT`] or contain the prefix of an API
/// key become `[redacted]`, and a path that is longer than [`MAX_PATH`] ends with `[truncated]`.
fn safe_path(path: &str) -> Cow<'_, str> {
    let suspect =
        |text: &str| text.len() > MAX_SEGMENT || text.as_bytes().windows(4).any(|window| window == b"ask_");
    // Most paths are shorter than a segment may be.
    if !suspect(path) {
        return path.into();
    }
    let mut safe = String::new();
    for (index, segment) in path.split('/').enumerate() {
        if index > 0 {
            safe.push('/');
        }
        if safe.len() + segment.len().min(MAX_SEGMENT) > MAX_PATH {
            safe.push_str("[truncated]");
            break;
        }
        safe.push_str(if suspect(segment) { "[redacted]" } else { segment });
    }
    safe.into()
}

/// Returns the last address in `X-Forwarded-For`, which the nearest proxy appended, without control characters.
fn forwarded_for(headers: &HeaderMap) -> Option<String> {
    let last = headers.get_all(X_FORWARDED_FOR).iter().next_back()?;
    let last = String::from_utf8_lossy(last.as_bytes());
    let address = last.rsplit(',').next()?.trim().chars().filter(|it| !it.is_control());
    let address: String = address.take(MAX_ADDRESS).collect();
    Some(if address.contains("ask_") { "[redacted]".to_owned() } else { address })
}

/// Returns the trace identifier, the span identifier and the flags in a valid `traceparent` header (W3C Trace Context,
/// section 3.2): `00-<32 hex>-<16 hex>-<2 hex>`, neither identifier all zeros.
fn trace_context(headers: &HeaderMap) -> Option<[&str; 3]> {
    let mut parts = headers.get(TRACEPARENT)?.to_str().ok()?.split('-');
    let mut hex = |length: usize| {
        let lower_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        parts.next().filter(|part| part.len() == length && part.bytes().all(lower_hex))
    };
    let (version, trace, span, flags) = (hex(2)?, hex(32)?, hex(16)?, hex(2)?);
    let is_set = |identifier: &str| identifier.bytes().any(|byte| byte != b'0');
    let is_valid = version == "00" && is_set(trace) && is_set(span) && parts.next().is_none();
    is_valid.then_some([trace, span, flags])
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn only_a_valid_traceparent_is_kept() {
        let kept = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert("traceparent", value.parse().unwrap());
            trace_context(&headers).map(|parts| parts.join(" "))
        };
        let good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        assert_eq!(kept(good).unwrap(), "0af7651916cd43dd8448eb211c80319c b7ad6b7169203331 01");
        assert!(kept(&good.to_uppercase()).is_none());
        assert!(kept(&good.replace("b7ad6b7169203331", "0000000000000000")).is_none());
        assert!(kept(&good.replace("00-", "ff-")).is_none());
        assert!(kept(&format!("{good}-extra")).is_none());
        assert!(kept("ask_secret").is_none());
        assert!(kept("").is_none());
    }

    #[test]
    fn the_last_forwarded_address_is_short_text() {
        let logged = |values: &[&[u8]]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append("x-forwarded-for", HeaderValue::from_bytes(value).unwrap());
            }
            forwarded_for(&headers)
        };
        assert_eq!(logged(&[]), None);
        let long = "a".repeat(1_000);
        for (values, expected) in [
            (&[&b"192.0.2.66, 198.51.100.7"[..]][..], "198.51.100.7"),
            (&[b"192.0.2.66", b"192.0.2.66, [2001:db8::7]:4711 "], "[2001:db8::7]:4711"),
            (&[b"unknown"], "unknown"),
            (&["198.51\t.100\u{85}.7".as_bytes()], "198.51.100.7"),
            (&[b"\xff"], "\u{fffd}"),
            (&[b""], ""),
            (&[long.as_bytes()], &long[..MAX_ADDRESS]),
            (&[b"ask_secret"], "[redacted]"),
        ] {
            assert_eq!(logged(values).as_deref(), Some(expected));
        }
    }

    #[test]
    fn a_path_in_the_log_has_no_key_and_an_end() {
        let key = format!("ask_{}", "aB3".repeat(14));
        let encoded: String = key.bytes().map(|byte| format!("%{byte:02x}")).collect();
        for (path, safe) in [
            ("/v1/pets/7", "/v1/pets/7"),
            ("/", "/"),
            (
                "/v1/pets/0af76519-16cd-43dd-8448-eb211c80319c",
                "/v1/pets/0af76519-16cd-43dd-8448-eb211c80319c",
            ),
            (&*format!("/v1/pets/{key}/a"), "/v1/pets/[redacted]/a"),
            (&*format!("/v1/{}", &key[4..]), "/v1/[redacted]"),
            (&*format!("/v1/%61{}", &key[1..]), "/v1/[redacted]"),
            (&*format!("/{encoded}"), "/[redacted]"),
            ("/ask_half", "/[redacted]"),
        ] {
            assert_eq!(safe_path(path), safe);
        }
        let long = safe_path(&"/a".repeat(30_000)).into_owned();
        assert!(long.starts_with("/a/a/") && long.ends_with("/[truncated]") && long.len() < 300, "{long}");
    }
}
