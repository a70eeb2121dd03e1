//! JSON pointers (RFC 6901), also as URI fragments (section 6).

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

/// The tokens of a pointer, unescaped. `None` if the text is not a pointer.
pub fn tokens(pointer: &str) -> Option<impl Iterator<Item = Cow<'_, str>>> {
    let rest = if pointer.is_empty() { None } else { Some(pointer.strip_prefix('/')?) };
    Some(rest.into_iter().flat_map(|rest| rest.split('/')).map(unescaped))
}

/// Appends a token to a pointer, escaped.
pub fn push(pointer: &mut String, token: &str) {
    pointer.push('/');
    if token.contains(['~', '/']) {
        pointer.push_str(&token.replace('~', "~0").replace('/', "~1"));
    } else {
        pointer.push_str(token);
    }
}

/// Returns the pointer of what is under a token.
pub fn below(pointer: impl Into<String>, token: &str) -> String {
    let mut pointer = pointer.into();
    push(&mut pointer, token);
    pointer
}

/// Returns the index of a token in a list: decimal digits without leading zeros (section 4).
pub fn index(token: &str) -> Option<usize> {
    let canonical = token == "0" || !token.starts_with(['0', '+']);
    token.parse().ok().filter(|_| canonical)
}

/// The pointer in a reference to the same document, such as `#/components/schemas/Pet`. `None` if the
/// reference leads to another document or its percent-encoding (RFC 3986, section 2.1) is not UTF-8.
pub fn in_reference(reference: &str) -> Option<Cow<'_, str>> {
    percent_decode_str(reference.strip_prefix('#')?).decode_utf8().ok()
}

pub(super) fn unescaped(token: &str) -> Cow<'_, str> {
    if token.contains('~') { token.replace("~1", "/").replace("~0", "~").into() } else { token.into() }
}
