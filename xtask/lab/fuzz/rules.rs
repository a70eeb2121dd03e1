//! What must be true of any text that a parser of untrusted text gets.
//!
//! Each target is a function that panics if its input breaks a rule. `cargo xtask fuzz` looks for such inputs; the tests
//! run those in `corpus`. An input that was found belongs there.

use animal_store::cursor::Cursors;
use animal_store::http::{check_head, idempotency_key, parameters};
use animal_store::schemas::PetStatus;
use animal_store::storage::{DatabaseKind, check_url, has_password, without_password};
use http::header::{HOST, TRANSFER_ENCODING};
use http::{HeaderValue, Request, Version};
use serde::Deserialize;

/// Panics if the input breaks a rule.
pub(crate) type Target = fn(&[u8]);

/// All targets, by the names of their directories in `corpus`.
pub(crate) const TARGETS: [(&str, Target); 4] =
    [("cursor", cursor), ("database_url", database_url), ("head", head), ("idempotency_key", key)];

/// The first byte is the filter, the rest is the cursor.
fn cursor(input: &[u8]) {
    let Some((first, text)) = input.split_first() else { return };
    let Ok(text) = str::from_utf8(text) else { return };
    let filters = [None, Some(PetStatus::Available), Some(PetStatus::Pending), Some(PetStatus::Sold)];
    let status = filters[usize::from(first % 4)];
    let cursors = Cursors::new(&[7; 32]);
    if let Some(after) = cursors.verify(text, status) {
        assert_eq!(cursors.sign(after, status), text, "a cursor has one spelling");
        assert!(filters.iter().all(|other| *other == status || cursors.verify(text, *other).is_none()));
    }
    if let Some(after) = text.as_bytes().first_chunk().map(|bytes| i64::from_be_bytes(*bytes)) {
        assert_eq!(cursors.verify(&cursors.sign(after, status), status), Some(after));
    }
}

/// Either a URL, or two lines, user and address, around a password.
fn database_url(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else { return };
    let (_, query) = text.split_once('?').unwrap_or_default();
    // It names a file, which would be read.
    if form_urlencoded::parse(query.as_bytes()).any(|(name, _)| name == "sslrootcert") {
        return;
    }
    let shown = without_password(text);
    match DatabaseKind::of(text) {
        Some(DatabaseKind::Sqlite(_)) => assert_eq!(shown, text),
        Some(DatabaseKind::Postgres) => assert_eq!(DatabaseKind::of(&shown), Some(DatabaseKind::Postgres)),
        None => assert_eq!(shown, without_password(""), "a mistyped URL is not shown"),
    }
    if let Err(error) = check_url(text) {
        assert!(!error.to_string().contains('\n'), "one line");
    }
    if let Some((user, address)) = text.split_once('\n') {
        let [one, other] =
            ["secret", "%40other%2F"].map(|password| format!("postgres://{user}:{password}@{address}"));
        let is_user = !user.contains(['/', '?', '@']);
        assert!(!is_user || has_password(&one) || DatabaseKind::of(&one).is_none());
        assert_eq!(without_password(&one), without_password(&other), "a password is not shown");
        let [one, other] = [one, other].map(|url| check_url(&url).map_err(|error| error.to_string()));
        assert_eq!(one, other, "an error does not depend on the password");
    }
}

/// The head of a request over HTTP/1.1.
fn head(input: &[u8]) {
    let mut fields = [httparse::EMPTY_HEADER; 64];
    let mut parsed = httparse::Request::new(&mut fields);
    let Ok(httparse::Status::Complete(_)) = parsed.parse(input) else { return };
    let version = if parsed.version == Some(1) { Version::HTTP_11 } else { Version::HTTP_10 };
    let mut request = Request::builder().version(version).uri(parsed.path.unwrap_or_default());
    for field in &*parsed.headers {
        request = request.header(field.name, field.value);
    }
    let Ok(request) = request.body(()) else { return };
    if check_head(&request).is_ok() {
        let all =
            |name| request.headers().get_all(name).iter().map(HeaderValue::as_bytes).collect::<Vec<_>>();
        let (hosts, codings) = (all(HOST), all(TRANSFER_ENCODING));
        assert!(version == Version::HTTP_10 || hosts.len() == 1 && !hosts[0].contains(&b'@'));
        assert!(codings.is_empty() || codings.len() == 1 && codings[0].eq_ignore_ascii_case(b"chunked"));
    }
    target(request.uri());
}

/// Checks the parameters in the path and the query.
fn target(uri: &http::Uri) {
    #[derive(Deserialize)]
    struct Path {
        id: i64,
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Query {
        cursor: Option<String>,
        limit: Option<i64>,
    }
    let segment = uri.path().rsplit('/').next().unwrap_or_default();
    if let Ok(Path { id }) = parameters([("id".into(), segment.into())].into_iter()) {
        assert_eq!(id.to_string(), segment, "a number has one spelling");
    }
    let read = |query: &str| parameters::<Query>(form_urlencoded::parse(query.as_bytes()));
    let query = uri.query().unwrap_or_default();
    if let Ok(Query { cursor, limit }) = read(query) {
        let mut written = form_urlencoded::Serializer::new(String::new());
        written.extend_pairs(cursor.iter().map(|cursor| ("cursor", cursor)));
        written.extend_pairs(limit.iter().map(|limit| ("limit", limit.to_string())));
        let again = read(&written.finish());
        assert!(again.is_ok_and(|again| (again.cursor, again.limit) == (cursor, limit)));
        assert!(
            form_urlencoded::parse(query.as_bytes()).all(|(name, _)| name == "cursor" || name == "limit")
        );
    }
}

/// The value of a header.
fn key(input: &[u8]) {
    // HTTP removes the white space around a value, and a value with a control character is refused.
    let input = input.trim_ascii();
    let (Ok(text), Ok(_)) = (str::from_utf8(input), HeaderValue::from_bytes(input)) else { return };
    let found = idempotency_key(text);
    let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).filter(|_| text.len() > 1);
    assert_eq!(found, inner.and_then(unescaped), "what the pattern of the document says");
    if let Some(key) = found {
        let written = format!("\"{}\"", key.replace('\\', r"\\").replace('"', "\\\""));
        assert_eq!(written, text, "a key has one spelling");
    }
}

/// Returns the characters of a string of a structured field (RFC 9651, section 3.3.3), if they are 1 to 64.
fn unescaped(inner: &str) -> Option<String> {
    let (mut key, mut characters) = (String::new(), inner.chars());
    while let Some(next) = characters.next() {
        key.push(match next {
            '\\' => characters.next().filter(|it| matches!(it, '"' | '\\'))?,
            ' '..='~' if next != '"' => next,
            _ => return None,
        });
    }
    (1..=64).contains(&key.len()).then_some(key)
}
