//! Reads a file that may be the wrong one, such as `/dev/zero`.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// Reads a text of at most `max` bytes.
///
/// # Errors
/// The end of a sentence that begins with the path.
pub(super) fn read(path: &Path, max: u64) -> Result<String, String> {
    let mut text = String::new();
    File::open(path)
        .and_then(|file| file.take(max + 1).read_to_string(&mut text))
        .map_err(|error| format!("cannot be read: {error}"))?;
    if text.len() as u64 > max {
        let size = if max >= 1 << 20 { format!("{} MiB", max >> 20) } else { format!("{} KiB", max >> 10) };
        return Err(format!("is larger than {size}"));
    }
    Ok(text)
}
