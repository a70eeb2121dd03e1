//! The source of a setting and its valid values, for messages.

use std::path::{Path, PathBuf};

use figment::{Figment, Metadata, Source};
use toml_edit::ImDocument;

/// The prefix of the variables of the environment.
pub(super) const PREFIX: &str = "ANIMAL_STORE_";

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
        let text = std::fs::read_to_string(path).map_err(|error| {
            format!("{shown} cannot be read: {error}; expected a file such as `animal-store config` prints")
        })?;
        let document = ImDocument::parse(text.clone()).map_err(|error| {
            let line = error.span().map_or(1, |span| line(&text, span.start));
            let problem = error.message().replace('\n', ", ");
            format!("{shown}, line {line}: not TOML: {problem}; expected a line such as `bind = \"127.0.0.1:8080\"`")
        })?;
        Ok(Self { path: path.to_owned(), document })
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
    let dotted = key.join(".");
    let flag = format!("--{}", dotted.replace('_', "-"));
    match metadata.map(|metadata| (&metadata.source, &metadata.name)) {
        Some((Some(Source::File(_)), _)) => {
            let (path, line) = file.map(|file| (file.path.display(), file.line(key))).unzip();
            let path = path.map(|path| path.to_string()).unwrap_or_default();
            let line = line.flatten().map(|line| format!(", line {line}")).unwrap_or_default();
            format!("`{dotted}` in {path}{line}")
        }
        Some((Some(Source::Code(_)), name)) if name.ends_with("Flags") => flag,
        Some((None, _)) | Some((Some(Source::Custom(_)), _)) => {
            format!("{PREFIX}{}", key.join("__").to_uppercase())
        }
        _ => match &*dotted {
            "bind" | "database" => format!("default; the flag is {flag}"),
            _ => format!("default; the setting is `{dotted}`"),
        },
    }
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
        "database" => "\"sqlite:animal-store.db\" or \"postgres://USER:PASSWORD@HOST:PORT/DATABASE\"",
        "request_timeout" => "a duration longer than zero, such as \"10s\"",
        "shutdown_grace" => "a duration such as \"8s\"",
        "lock_timeout" => "a duration such as \"2s\"",
        "write_queue" => "a number from 1 to 1000000, such as 4096",
        "postgres" => "a table such as `[postgres]` with `readers = 8`",
        "postgres.readers" => "a number from 1 to 100, such as 8",
        "postgres.writers" => "a number from 1 to 100, such as 4",
        "postgres.connect_timeout" => "a duration from 100ms to 1h, such as \"2s\"",
        "postgres.statement_timeout" => "a duration from 100ms to 1h, such as \"3500ms\"",
        "log" => "a table such as `[log]` with `level = \"info\"`",
        "log.level" => "\"error\", \"warning\", \"info\", \"debug\" or \"trace\"",
        "log.format" => "\"text\" or \"json\"",
        "log.one_in" => "a number such as 1 for every response, 100 for one in a hundred, 0 for none",
        "rate_limit" => "a table such as `[rate_limit]` with `requests = 100` and `period = \"1s\"`",
        "rate_limit.requests" => "a number from 1, such as 100",
        "rate_limit.period" => "whole seconds, at least one, such as \"1s\"",
        "tls" => "a table such as `[tls]` with `certificate = \"cert.pem\"` and `private_key = \"key.pem\"`",
        "tls.certificate" => "a certificate chain in PEM, such as \"cert.pem\"",
        "tls.private_key" => "a private key in PEM, such as \"key.pem\"",
        _ => "a setting that `animal-store config` prints, such as `bind = \"127.0.0.1:8080\"`",
    }
}
