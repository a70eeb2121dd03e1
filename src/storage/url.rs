//! Database URLs: their kinds, how they are shown, and files with one. A URL that cannot be read may be a mistyped one with
//! a password, so no part of it is shown.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::options::OpenError;

/// What the URL of a database must be.
pub const EXPECTED_URL: &str = "sqlite:PATH, such as \"sqlite:animal-store.db\", or \
     postgres://USER:PASSWORD@HOST:PORT/DATABASE, with %40 for an @ in the password";
/// Shown instead of a part that may be a password.
const REDACTED: &str = "[redacted]";
/// The maximum size of a file with a URL in bytes. Larger than any URL, and small enough to read a wrong file.
const MAX_BYTES: u64 = 64 * 1024;

/// The kind of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatabaseKind<'a> {
    /// The file of an SQLite database.
    Sqlite(&'a Path),
    /// A PostgreSQL database.
    Postgres,
}

impl<'a> DatabaseKind<'a> {
    /// Returns the kind of the database at `sqlite:PATH` or `postgres://...`; `None` for any other text.
    pub fn of(url: &'a str) -> Option<Self> {
        // Messages and logs show it in one line.
        if url.contains(char::is_control) {
            return None;
        }
        match url.split_once(':')? {
            // Otherwise an error would show the URL as a path.
            ("sqlite", path) if path.contains("://") || (path.starts_with("//") && path.contains('@')) => {
                None
            }
            // For other programs `sqlite://a.db` is a path in the working directory; for this one it would be /a.db.
            ("sqlite", path) if path.starts_with("//") && !path.starts_with("///") => None,
            ("sqlite", path) if !path.is_empty() => Some(Self::Sqlite(path.as_ref())),
            // With a second `@`, a part of the password would be read and shown as the host.
            ("postgres" | "postgresql", rest) if without_parameters(rest).matches('@').count() > 1 => None,
            ("postgres" | "postgresql", _) => Some(Self::Postgres),
            _ => None,
        }
    }
}

/// Returns the error of a text that has no [`DatabaseKind`].
pub(super) fn unknown_kind() -> OpenError {
    OpenError::Unsuitable(format!("the database must be given as {EXPECTED_URL}, without control characters"))
}

/// Returns the absolute path of the SQLite file that opening `url` would create, because it does not exist or is empty.
pub fn missing_file(url: &str) -> Option<PathBuf> {
    let DatabaseKind::Sqlite(path) = DatabaseKind::of(url)? else { return None };
    let path = std::path::absolute(path).ok()?;
    let is_missing = match std::fs::metadata(&path) {
        Ok(found) => found.is_file() && found.len() == 0,
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    };
    is_missing.then_some(path)
}

/// Returns a database URL without its password and parameters, for logs.
pub fn without_password(url: &str) -> String {
    match DatabaseKind::of(url) {
        Some(DatabaseKind::Sqlite(_)) => url.to_owned(),
        Some(DatabaseKind::Postgres) => {
            let shown = url.split_once("://").and_then(|(scheme, rest)| {
                let (user, address) = user_and_address(rest)?;
                let at = if user.is_empty() { "" } else { "@" };
                Some(format!("{scheme}://{user}{at}{address}"))
            });
            shown.unwrap_or_else(|| format!("postgres://{REDACTED}"))
        }
        None => REDACTED.to_owned(),
    }
}

/// Whether a database URL contains a password.
pub fn has_password(url: &str) -> bool {
    if DatabaseKind::of(url) != Some(DatabaseKind::Postgres) {
        return false;
    }
    let (base, parameters) = url.split_once('?').unwrap_or((url, ""));
    let user = base.split_once('@').map_or("", |(user, _)| user);
    let user = user.split_once("://").map_or(user, |(_, user)| user);
    user.contains(':') || form_urlencoded::parse(parameters.as_bytes()).any(|(name, _)| name == "password")
}

/// Returns the user, and the hosts with the database; `None` if a part may be a misplaced password.
fn user_and_address(rest: &str) -> Option<(&str, &str)> {
    let rest = without_parameters(rest);
    let (user, address) = match rest.split_once('@') {
        Some((user, address)) => (user.split(':').next().unwrap_or_default(), address),
        None => ("", rest),
    };
    let hosts = address.split('/').next().unwrap_or_default();
    let is_port = |host: &str| match host.rsplit_once(':') {
        Some((_, port)) => port.ends_with(']') || port.bytes().all(|byte| byte.is_ascii_digit()),
        None => true,
    };
    (!user.contains('/') && hosts.split(',').all(is_port)).then_some((user, address))
}

/// Returns a URL up to its parameters, which may contain a password.
fn without_parameters(url: &str) -> &str {
    url.split('?').next().unwrap_or_default()
}

/// Reads a file whose only line is a database URL. White space at its end is not part of the URL.
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
    // Editors of Windows begin a file with a byte order mark.
    let line = text.trim_start_matches('\u{feff}').trim_end();
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

    #[test]
    fn no_password_is_shown() {
        for (url, shown) in [
            ("sqlite:a@b:c?password=x", "sqlite:a@b:c?password=x"),
            ("sqlite:///var/lib/a.db", "sqlite:///var/lib/a.db"),
            ("postgres://u:secret@h:1,i:2/d", "postgres://u@h:1,i:2/d"),
            ("postgres://u@h/d?password=secret&sslmode=require", "postgres://u@h/d"),
            ("postgres://u@h/d?password=secret@1", "postgres://u@h/d"),
            ("postgres:///d?host=/tmp&user=u", "postgres:///d"),
            ("postgres://u@[::1]:5,[::2]/d", "postgres://u@[::1]:5,[::2]/d"),
        ] {
            assert_eq!(without_password(url), shown);
        }
    }

    #[test]
    fn a_password_is_found_before_the_host_and_in_a_parameter() {
        for (url, expected) in [
            ("postgres://u:secret@h:1/d", true),
            ("postgresql://u@h/d?sslmode=require&password=secret", true),
            ("postgres://u@h:1,i:2/d?sslmode=require", false),
            ("postgres://h:1/d", false),
            ("sqlite:a:b@c?password=x", false),
        ] {
            assert_eq!(has_password(url), expected, "{url}");
        }
    }

    #[test]
    fn no_part_of_a_mistyped_url_is_shown() {
        for url in [
            "postgress://u:secret@h/d",
            "postgres//u:secret@h/d",
            "postgres:u:secret@h/d",
            "postgres:/u:secret@h/d",
            "postgres://u:secret/h/d",
            "postgres://u:secret",
            "postgres://u:secret@secret@h/d",
            "postgres://u:secret?secret/@h/d",
            "Postgres://u:secret@h/d",
            " postgres://u:secret@h/d",
            "sqlite:postgres://u:secret@h/d",
            "sqlite://u:secret@h/d",
            "u:secret@h/d",
            "sqlite:no/such\nsecret",
            "postgres://u:secret@h/d\n",
            "secret",
            "",
        ] {
            let shown = without_password(url);
            assert!(shown.ends_with(REDACTED) && !shown.contains("secret"), "{url}: {shown}");
        }
    }

    #[test]
    fn only_the_file_of_an_sqlite_database_can_be_missing() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.db");
        assert_eq!(missing_file(&format!("sqlite:{}", path.display())), Some(path.clone()));
        std::fs::write(&path, "").unwrap();
        assert_eq!(missing_file(&format!("sqlite:{}", path.display())), Some(path.clone()));
        std::fs::write(&path, "x").unwrap();
        assert_eq!(missing_file(&format!("sqlite:{}", path.display())), None);
        for url in ["sqlite:", "sqlite:no/such://u@h", "postgres://u@h/no-such", "no-such"] {
            assert_eq!(missing_file(url), None);
        }
    }

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
    fn white_space_at_the_end_and_a_byte_order_mark_are_removed() {
        let url = "postgres://u:secret@h/d";
        for content in
            [url.to_owned(), format!("{url}\r\n"), format!("{url} \n\n"), format!("\u{feff}{url}\n")]
        {
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
