//! The request header `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header-07).

use dropshot::{ApiEndpointBodyContentType, Body, ExtractorMetadata, Header, SharedExtractor};
use http::HeaderName;
use schemars::JsonSchema;
use serde::Deserialize;
use sfv::{Item, Parser};

use super::error::ApiError;
use super::error_code::ErrorCode;
use super::input::Input;
use super::request::AuthenticatedRequest;
use crate::storage::IdempotencyKey;

const MAX_CHARACTERS: usize = 64;
const NAME: HeaderName = HeaderName::from_static("idempotency-key");

/// The header in the document.
#[derive(Deserialize, JsonSchema)]
struct IdempotencyHeader {
    /// A string (RFC 9651, section 3.3.3) of 1 to [`MAX_CHARACTERS`] characters without parameters.
    #[schemars(
        with = "String",
        length(min = 3, max = 130),
        regex(pattern = r#"^"([ !#-\[\]-~]|\\["\\]){1,64}"$"#)
    )]
    #[serde(rename = "Idempotency-Key", default)]
    _field: Option<String>,
}

/// The idempotency key of a request; `None` if it has none. One that is invalid or repeated is 400.
impl Input for Option<IdempotencyKey> {
    const CODES: &'static [ErrorCode] = &[ErrorCode::InvalidParameter];

    fn describe() -> ExtractorMetadata {
        <Header<IdempotencyHeader> as SharedExtractor>::metadata(ApiEndpointBodyContentType::Json)
    }

    async fn read(request: &AuthenticatedRequest, _: &mut Body) -> Result<Self, ApiError> {
        let mut fields = request.head.headers().get_all(NAME).iter();
        let Some(field) = fields.next() else { return Ok(None) };
        if fields.next().is_some() {
            return Err(ApiError::new(
                ErrorCode::InvalidParameter,
                "Idempotency-Key must be given only once",
            ));
        }
        let value = field.to_str().ok().and_then(string).ok_or_else(|| {
            let expected = format!("1 to {MAX_CHARACTERS} printable ASCII characters in double quotes");
            ApiError::new(ErrorCode::InvalidParameter, format!("Idempotency-Key must be {expected}"))
        })?;
        Ok(Some(IdempotencyKey { client: request.client.as_str().to_owned(), value }))
    }
}

/// Returns the value of a string (RFC 9651, section 3.3.3) without parameters; `None` for anything else.
pub fn string(field: &str) -> Option<String> {
    let item: Item = Parser::new(field).parse().ok()?;
    let string = item.bare_item.as_string().filter(|_| item.params.is_empty())?.as_str();
    (1..=MAX_CHARACTERS).contains(&string.len()).then(|| string.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regress::Regex;

    use super::*;

    fn pattern() -> Regex {
        let schema = serde_json::to_value(schemars::schema_for!(IdempotencyHeader)).unwrap();
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
            (r#""a";p=1"#, None),
            (r#""a", "b""#, None),
            (r#""\a""#, None),
            ("\"\t\"", None),
            ("\"\u{e9}\"", None),
        ] {
            assert_eq!(string(field).as_deref(), expected, "{field}");
            assert_eq!(pattern().find(field).is_some(), expected.is_some(), "{field}");
        }
    }

    proptest! {
        #[test]
        fn a_key_is_valid_exactly_if_it_matches_the_pattern(field in r#""?[ -~\\"é]{0,70}"?"#) {
            // HTTP removes the spaces around a value.
            let field = field.trim();
            prop_assert_eq!(string(field).is_some(), pattern().find(field).is_some());
        }
    }
}
