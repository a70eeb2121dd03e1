//! What an operator should know about a valid configuration.

use super::permissions::readable_by_others;
use super::source::Source;
use super::{Loaded, RENAMED};
use crate::storage::{DatabaseKind, has_password};

impl Loaded {
    /// Returns one line for each problem that does not prevent the start.
    pub fn warnings(&self) -> Vec<String> {
        let config = &self.config;
        let mut warnings = Vec::new();
        if !self.injected.is_empty() {
            warnings.push(format!(
                "ignored environment variables that Kubernetes injects for a Service: {}",
                self.injected.join(", ")
            ));
        }
        let (new, old) = RENAMED;
        if self.figment.contains(old) {
            warnings.push(format!("{}: the setting is called `{new}` now; rename it", self.source(new)));
        }
        warnings.extend(self.visible_password());
        let private_key = config.tls.as_ref().map(|tls| ("private key", tls.private_key.as_path()));
        let url = config.database_file.as_deref().map(|path| ("database URL in", path));
        let database = match DatabaseKind::of(&config.database) {
            Some(DatabaseKind::Sqlite(path)) => Some(("database", path)),
            _ => None,
        };
        let secrets = [private_key, url, database].into_iter().flatten();
        warnings.extend(secrets.filter_map(|(what, path)| readable_by_others(what, path)));
        warnings
    }

    /// Returns a warning if other users can read a password in the URL of the database. The environment of a process can
    /// be read by its user alone.
    fn visible_password(&self) -> Option<String> {
        if self.config.database_file.is_some() || !has_password(&self.config.database) {
            return None;
        }
        match Source::of(self.given("database").1) {
            Source::Flag => Some(password_in_flag("--database")),
            Source::File => readable_by_others("password in", self.file.as_ref()?.path()),
            Source::Default | Source::Environment => None,
        }
    }
}

/// Returns the warning about a password in the value of `flag`.
pub fn password_in_flag(flag: &str) -> String {
    format!(
        "{flag}: every user of this machine can read the password; put the URL into a file and use {flag}-file"
    )
}
