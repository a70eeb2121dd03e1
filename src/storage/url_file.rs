//! A file with a database URL, so that no password is on a command line or in the environment.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use super::options::OpenError;

/// The maximum size of the file in bytes. Larger than any URL, and small enough to read a wrong file.
const MAX_BYTES: u64 = 64 * 1024;

/// Reads a file whose only line is a database URL. A line break at its end is not part of the URL.
///
/// # Errors
/// One line that names the file and does not repeat its content, when the file cannot be read or is empty,
/// not UTF-8, longer than one line or larger than 64 KiB.
pub fn read_url_file(path: &Path) -> Result<String, OpenError> {
    let wrong = |problem: &str| {
        OpenError::of_file(path, format!("{problem}; expected a file with the URL of a database in one line"))
    };
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_string(&mut text));
    read.map_err(|error| wrong(&format!("cannot be read: {error}")))?;
    let line = text.strip_suffix('\n').unwrap_or(&text);
    let line = line.strip_suffix('\r').unwrap_or(line);
    match line {
        _ if text.len() as u64 > MAX_BYTES => Err(wrong("is larger than 64 KiB")),
        _ if line.trim().is_empty() => Err(wrong("is empty")),
        _ if line.contains(char::is_control) => Err(wrong("has more than one line, or a control character")),
        _ => Ok(line.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn read_back(content: &[u8]) -> Result<String, String> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(content).unwrap();
        read_url_file(file.path()).map_err(|error| {
            let message = error.to_string();
            assert!(message.contains(&file.path().display().to_string()), "{message}");
            assert!(!message.contains("secret") && !message.contains('\n'), "{message}");
            message
        })
    }

    #[test]
    fn one_line_break_at_the_end_is_removed() {
        let url = "postgres://u:secret@h/d";
        for content in [url.to_owned(), format!("{url}\n"), format!("{url}\r\n")] {
            assert_eq!(read_back(content.as_bytes()).unwrap(), url);
        }
    }

    #[test]
    fn another_file_is_rejected_without_its_content() {
        for (content, words) in [
            (&b""[..], "is empty"),
            (b"\n", "is empty"),
            (b" \r\n", "is empty"),
            (b"secret\nsecret\n", "more than one line"),
            (b"secret\n\n", "more than one line"),
            (b"secret\0", "control character"),
            (b"secret\xff", "cannot be read"),
            (&b"secret".repeat(11_000), "is larger than 64 KiB"),
        ] {
            let message = read_back(content).unwrap_err();
            assert!(message.contains(words), "{words} is not in: {message}");
        }
        let missing = read_url_file(Path::new("no/such/file")).unwrap_err().to_string();
        assert!(missing.contains("no/such/file cannot be read: "), "{missing}");
    }
}
