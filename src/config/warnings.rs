//! What an operator should know about a valid configuration: secrets that other users of the machine can read.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::Loaded;
use super::source::Source;
use crate::storage::{DatabaseKind, has_password};

impl Loaded {
    /// Returns one line for each problem that does not prevent the start.
    pub fn warnings(&self) -> Vec<String> {
        let config = &self.config;
        let mut secrets = Vec::new();
        if let Some(tls) = &config.tls {
            secrets.push(("private key", tls.private_key.as_path()));
        }
        if let Some(DatabaseKind::Sqlite(path)) = DatabaseKind::of(&config.database) {
            secrets.push(("database", path));
        }
        let mut warnings = Vec::new();
        if let Some(path) = &config.database_file {
            secrets.push(("database URL in", path.as_path()));
        } else if has_password(&config.database) {
            // The environment of a process can be read by its user alone.
            match (self.kind_of_source("database"), &self.file) {
                (Source::Flag, _) => warnings.push(password_in_flag("--database")),
                (Source::File, Some(file)) => secrets.push(("password in", file.path.as_path())),
                _ => {}
            }
        }
        warnings.extend(secrets.into_iter().filter_map(|(what, path)| readable_by_others(what, path)));
        warnings
    }
}

/// Returns the warning about a password in the value of `flag`.
pub fn password_in_flag(flag: &str) -> String {
    format!(
        "{flag}: every user of this machine can read the password; put the URL into a file and use {flag}-file"
    )
}

/// Returns a warning if users other than the owner and the group of a file can read it; `None` if there is
/// no such file.
fn readable_by_others(what: &str, path: &Path) -> Option<String> {
    let file = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    let path = path.display();
    (file.permissions().mode() & 0o004 != 0)
        .then(|| format!("every user of this machine can read the {what} {path}; run chmod o-rwx {path}"))
}
#[cfg(test)]
mod tests {
    use std::fs::Permissions;

    use super::*;

    #[test]
    fn only_a_file_that_every_user_can_read_is_reported() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let warning = |mode: u32| {
            std::fs::set_permissions(file.path(), Permissions::from_mode(mode)).unwrap();
            readable_by_others("private key", file.path())
        };
        for mode in [0o600, 0o640, 0o400, 0o750] {
            assert_eq!(warning(mode), None, "{mode:o}");
        }
        let line = warning(0o644).unwrap();
        assert!(line.contains("private key") && line.contains("chmod o-rwx"), "{line}");
        assert!(line.contains(&file.path().display().to_string()), "{line}");
        assert_eq!(readable_by_others("private key", Path::new("no/such/file")), None);
    }
}
