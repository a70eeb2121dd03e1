//! The source of a setting and its valid values, for messages.

use std::path::{Path, PathBuf};

use figment::{Figment, Metadata, Source};
use toml_edit::ImDocument;

use super::limited_file;

/// The maximum size of a configuration file in bytes.
const MAX_BYTES: u64 = 1024 * 1024;

/// The prefix of the variables of the environment.
pub(super) const PREFIX: &str = "ANIMAL_STORE_";

/// The kinds of sources. A later one overrides an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Origin {
    Default,
    File,
    Environment,
    Flag,
}

impl Origin {
    pub(super) fn of(metadata: Option<&Metadata>) -> Self {
        match metadata.map(|metadata| (&metadata.source, &metadata.name)) {
            // The three that are made in `Config::load`.
            Some((None, name)) if name == "TOML source string" => Self::File,
            Some((Some(Source::Code(_)), name)) if name.ends_with("Flags") => Self::Flag,
            Some((Some(Source::Code(_)), _)) | None => Self::Default,
            Some(_) => Self::Environment,
        }
    }
}

/// A configuration file that is valid TOML.
pub(super) struct File {
    path: PathBuf,
    document: ImDocument<String>,
}

impl File {
    /// Reads a file.
    ///
    /// # Errors
    /// One line, when the file cannot be read or is not TOML.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let shown = path.display();
        let text = limited_file::read(path, MAX_BYTES).map_err(|problem| {
            format!("{shown} {problem}; expected a file such as `animal-store config` prints")
        })?;
        let document = ImDocument::parse(text.clone()).map_err(|error| {
            let line = error.span().map_or(1, |span| line(&text, span.start));
            let problem = error.message().replace('\n', ", ");
            format!("{shown}, line {line}: not TOML: {problem}; expected a line such as `bind = \"127.0.0.1:8080\"`")
        })?;
        Ok(Self { path: path.to_owned(), document })
    }

    /// Returns the content of the file.
    pub(super) fn text(&self) -> &str {
        self.document.raw()
    }

    /// Returns the path of the file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the line of a setting, or of the table that it is missing from.
    fn line(&self, key: &[&str]) -> Option<usize> {
        let (mut item, mut at) = (self.document.as_item(), None);
        for name in key {
            let Some((key, next)) = item.as_table_like().and_then(|table| table.get_key_value(name)) else {
                break;
            };
            at = key.span().or_else(|| next.span());
            item = next;
        }
        at.map(|span| line(self.document.raw(), span.start))
    }
}

/// Returns the line of a byte of a text, from 1.
fn line(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

/// Returns the source of a setting: a line of the file, a variable, a flag or the default.
pub(super) fn place(metadata: Option<&Metadata>, key: &[&str], file: Option<&File>) -> String {
    // A quoted key may be anything, for example a URL.
    let is_name =
        |part: &&str| part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    let dotted = if key.iter().all(is_name) { key.join(".") } else { "[redacted]".to_owned() };
    let flag = format!("--{}", dotted.replace('_', "-"));
    match Origin::of(metadata) {
        Origin::File => {
            let (path, line) = file.map(|file| (file.path.display(), file.line(key))).unzip();
            let path = path.map(|path| path.to_string()).unwrap_or_default();
            let line = line.flatten().map(|line| format!(", line {line}")).unwrap_or_default();
            format!("`{dotted}` in {path}{line}")
        }
        Origin::Flag => flag,
        Origin::Environment => format!("{PREFIX}{}", dotted.replace('.', "__").to_uppercase()),
        Origin::Default => match &*dotted {
            "bind" | "database" => format!("default; the flag is {flag}"),
            _ => format!("default; the setting is `{dotted}`"),
        },
    }
}

/// Whether a text may contain a password: it may be a database URL, or a mistyped one.
pub fn may_be_secret(text: &str) -> bool {
    text.contains('@') || text.contains("//") || text.to_ascii_lowercase().contains("postgres")
}

/// Returns the source of a setting of a configuration.
pub(super) fn place_in(figment: &Figment, key: &str, file: Option<&File>) -> String {
    place(figment.find_metadata(key), &key.split('.').collect::<Vec<_>>(), file)
}

/// Returns the valid values of a setting, with an example.
pub(super) fn expected(key: &str) -> &'static str {
    match key {
        "bind" => "an address such as \"127.0.0.1:8080\", or a port such as 8080",
        "ops_bind" => "an address such as \"127.0.0.1:9090\", or a port such as 9090",
        "ops_hosts" => "a list of host names such as [\"store.internal\"]",
        "database" => {
            "sqlite:PATH, such as \"sqlite:animal-store.db\", or postgres://USER:PASSWORD@HOST:PORT/DATABASE, \
             with %40 for an @ in the password"
        }
        "database_file" => "the path of a file with a database URL, such as \"/run/secrets/database-url\"",
        "request_timeout" => "a duration longer than zero, such as \"10s\"",
        "shutdown_delay" => "a duration such as \"5s\"",
        "shutdown_grace" => "a duration such as \"8s\"",
        "lock_timeout" => "a duration such as \"2s\"",
        "write_queue" => "a number from 1 to 1000000, such as 4096",
        "trusted_proxies" => "a list of networks such as [\"10.0.0.0/8\", \"2001:db8::/32\"]",
        "client_address_header" => "\"X-Forwarded-For\" or \"Forwarded\"",
        "postgres" => "a table such as `[postgres]` with `readers = 8`",
        "postgres.readers" => "a number from 1 to 100, such as 8",
        "postgres.writers" => "a number from 1 to 100, such as 4",
        "postgres.connect_timeout" => "a duration from 100ms to 1h, such as \"2s\"",
        "postgres.statement_timeout" => "a duration from 100ms to 1h, such as \"3500ms\"",
        "log" => "a table such as `[log]` with `level = \"info\"`",
        "log.level" => "\"error\", \"warning\", \"info\", \"debug\" or \"trace\"",
        "log.format" => "\"text\" or \"json\"",
        "log.one_in" => "a number such as 1 for every response, 100 for one in a hundred, 0 for none",
        "authentication_failures" => "a number such as 100, or 0 for no limit",
        "connections" => "a table such as `[connections]` with `max = 10000`",
        "connections.max" => "a number from 1, such as 10000",
        "connections.memory_mib" => {
            "a number of MiB, at least that of `connections.memory_without_key_mib`, such as 192"
        }
        "connections.memory_without_key_mib" => "a number of MiB from 8, such as 96",
        "connections.handshake_timeout" | "connections.header_timeout" => {
            "a duration longer than zero, such as \"10s\""
        }
        "connections.idle_timeout" => "a duration longer than zero, such as \"60s\"",
        "connections.send_timeout" => "a duration longer than zero, such as \"30s\"",
        "rate_limit" => "a table such as `[rate_limit]` with `requests = 100` and `period = \"1s\"`",
        "rate_limit.requests" => "a number from 1, such as 100",
        "rate_limit.period" => "whole seconds, at least one, such as \"1s\"",
        "tls" => "a table such as `[tls]` with `certificate = \"cert.pem\"` and `private_key = \"key.pem\"`",
        "tls.certificate" => "a certificate chain in PEM, such as \"cert.pem\"",
        "tls.private_key" => "a private key in PEM, such as \"key.pem\"",
        _ => "a setting that `animal-store config` prints, such as `bind = \"127.0.0.1:8080\"`",
    }
}

#[cfg(test)]
mod tests {
    use super::may_be_secret;

    #[test]
    fn a_mistyped_url_may_be_secret_and_other_values_are_not() {
        for text in ["postgress://u:secret", "postgres:u:secret", "//u:secret", "u:secret@h", "Postgres:x"] {
            assert!(may_be_secret(text), "{text}");
        }
        for text in ["localhost:8080", "5", "soon", "sqlite:a.db", "/etc/key.pem", "[::1]:80"] {
            assert!(!may_be_secret(text), "{text}");
        }
    }
}
