//! What an operator should know about a valid configuration.

use slog::{Logger, warn};

use super::Loaded;
use super::permissions::readable_by_others;
use crate::storage::DatabaseKind;

impl Loaded {
    /// Logs [`Self::warnings`].
    pub fn log_warnings(&self, log: &Logger) {
        for warning in self.warnings() {
            warn!(log, "{}", warning);
        }
    }

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
}
