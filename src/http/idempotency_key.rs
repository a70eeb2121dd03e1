//! The request header `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header-07).

use dropshot::{ApiEndpointBodyContentType, ExtractorMetadata, Header, SharedExtractor};
use http::{HeaderMap, HeaderName};
use schemars::JsonSchema;
use serde::Deserialize;

use super::call::{Parameters, Received};
use super::error::ApiError;
use super::error_code::ErrorCode;
use crate::storage::IdempotencyKey;

const NAME: HeaderName = HeaderName::from_static("idempotency-key");
const MAX_CHARACTERS: usize = 64;

/// The idempotency key of a request; `None` if it has none. One that is invalid or repeated is 400.
#[derive(Debug)]
pub struct Idempotency(pub Option<IdempotencyKey>);

/// The header as the document describes it.
#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Declared {
    /// A string (RFC 9651, section 3.3.3) of 1 to [`MAX_CHARACTERS`] characters without parameters.
    #[schemars(
        with = "String",
        length(min = 3, max = 130),
        regex(pattern = r#"^"([ !#-\[\]-~]|\\["\\]){1,64}"$"#)
    )]
    #[serde(rename = "Idempotency-Key", default)]
    idempotency_key: Option<String>,
}

impl Parameters for Idempotency {
    fn codes() -> Vec<ErrorCode> {
        Vec::from([ErrorCode::InvalidParameter])
    }

    fn metadata(content_type: ApiEndpointBodyContentType) -> ExtractorMetadata {
        <Header<Declared> as SharedExtractor>::metadata(content_type)
    }

    fn read(received: &Received<'_>) -> Result<Self, ApiError> {
        let invalid = || {
            ApiError::InvalidParameter(format!(
                "Idempotency-Key must be given once, as 1 to {MAX_CHARACTERS} printable ASCII characters in double quotes"
            ))
        };
        let value = value(&received.request.headers).map_err(|Invalid| invalid())?;
        let client = || received.client.as_str().to_owned();
        Ok(Self(value.map(|value| IdempotencyKey { client: client(), value })))
    }
}

struct Invalid;

fn value(headers: &HeaderMap) -> Result<Option<String>, Invalid> {
    let mut fields = headers.get_all(NAME).iter();
    match (fields.next(), fields.next()) {
        (None, _) => Ok(None),
        (Some(field), None) => string(field.as_bytes()).map(Some).ok_or(Invalid),
        (Some(_), Some(_)) => Err(Invalid),
    }
}

/// Parses a string of 1 to [`MAX_CHARACTERS`] characters (RFC 9651, section 4.2.5).
fn string(field: &[u8]) -> Option<String> {
    let quoted = field.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    // Without a branch for each byte, so that several bytes are tested at once.
    let is_plain = quoted
        .iter()
        .fold(true, |plain, byte| plain & matches!(byte, b' '..=b'~') & (*byte != b'"') & (*byte != b'\\'));
    let string = if is_plain { quoted.to_vec() } else { unescape(quoted)? };
    let is_short = (1..=MAX_CHARACTERS).contains(&string.len());
    String::from_utf8(string).ok().filter(|_| is_short)
}

/// Returns the content of a string; `None` if it is invalid.
fn unescape(quoted: &[u8]) -> Option<Vec<u8>> {
    let mut string = Vec::with_capacity(quoted.len());
    let mut bytes = quoted.iter().copied();
    while let Some(byte) = bytes.next() {
        string.push(match byte {
            b'"' => return None,
            b'\\' => bytes.next().filter(|escaped| matches!(escaped, b'"' | b'\\'))?,
            b' '..=b'~' => byte,
            _ => return None,
        });
    }
    Some(string)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regress::Regex;

    use super::*;

    fn pattern() -> Regex {
        let schema = serde_json::to_value(schemars::schema_for!(Declared)).unwrap();
        Regex::new(schema["properties"]["Idempotency-Key"]["pattern"].as_str().unwrap()).unwrap()
    }

    #[test]
    fn a_key_is_a_string_of_1_to_64_characters() {
        let (longest, too_long) = ("x".repeat(64), "x".repeat(65));
        let backslashes = r"\\".repeat(64);
        for (field, expected) in [
            (r#""8e03978e-40d5-43dd-bc93-6894a57f9324""#, Some("8e03978e-40d5-43dd-bc93-6894a57f9324")),
            (r#"" ""#, Some(" ")),
            (r#""a \"b\" \\""#, Some(r#"a "b" \"#)),
            (&format!("\"{longest}\""), Some(&*longest)),
            (&format!("\"{backslashes}\""), Some(&*"\\".repeat(64))),
            (&format!("\"{too_long}\""), None),
            (&format!("\"\\\\{backslashes}\""), None),
            (r#""""#, None),
            (r#"""#, None),
            ("", None),
            ("a", None),
            (r#""a"#, None),
            (r#"a""#, None),
            (r#""a";p=1"#, None),
            (r#""a", "b""#, None),
            (r#""a"b""#, None),
            (r#""a\""#, None),
            (r#""\a""#, None),
            ("\"\t\"", None),
            ("\"\u{7f}\"", None),
            ("\"\u{e9}\"", None),
            ("'a'", None),
            (":YQ==:", None),
        ] {
            assert_eq!(string(field.as_bytes()).as_deref(), expected, "{field}");
            assert_eq!(pattern().find(field).is_some(), expected.is_some(), "{field}");
        }
    }

    proptest! {
        #[test]
        fn a_key_is_valid_exactly_if_it_matches_the_pattern(field in r#""?[ -~\\"é]{0,70}"?"#) {
            prop_assert_eq!(string(field.as_bytes()).is_some(), pattern().find(&field).is_some());
        }
    }
}
