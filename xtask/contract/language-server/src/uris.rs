//! URIs of files (RFC 8089).

use std::path::{Path, PathBuf};

use lsp_types::Uri;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// The characters of a path that are written as they are: those of `pchar` (RFC 3986, section 3.3) without the ones
/// that editors encode.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Returns the path of a file; `None` if the URI has another scheme or host.
pub(crate) fn to_path(uri: &Uri) -> Option<PathBuf> {
    let text = uri.as_str();
    let rest = text.get(..7).filter(|scheme| scheme.eq_ignore_ascii_case("file://")).map(|_| &text[7..])?;
    let rest = rest.strip_prefix("localhost").unwrap_or(rest);
    let encoded = rest.split(['?', '#']).next().filter(|path| path.starts_with('/'))?;
    let decoded = percent_decode_str(encoded).decode_utf8().ok()?;
    (!decoded.contains('\0')).then(|| real(Path::new(decoded.as_ref())))
}

/// Returns a path without symbolic links, as `--document` has it. The last name need not exist.
fn real(path: &Path) -> PathBuf {
    let beside = || Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?));
    path.canonicalize().ok().or_else(beside).unwrap_or_else(|| path.to_owned())
}

/// Returns the URI of an absolute path.
pub(crate) fn of_path(path: &Path) -> Option<Uri> {
    let text = path.to_str().filter(|text| text.starts_with('/'))?;
    format!("file://{}", utf8_percent_encode(text, ENCODED)).parse().ok()
}

/// Returns a URI in the form that [`of_path`] writes, so that URIs of one file are equal.
pub(crate) fn normal(uri: &Uri) -> Uri {
    to_path(uri).and_then(|path| of_path(&path)).unwrap_or_else(|| uri.clone())
}
