//! Where the value of a setting comes from.

use std::env;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use figment::Metadata;
use toml_edit::ImDocument;

/// No more of a configuration file is read, because `/dev/zero` has no end.
const MAX_BYTES: u64 = 1024 * 1024;

/// The prefix of the variables of the environment.
pub(super) const PREFIX: &str = "ANIMAL_STORE_";

/// Whether Kubernetes injects a variable for a Service such as `animal-store` or `animal-store-ops` (Kubernetes
/// documentation, "Service", "Environment variables"), by its name without the prefix. `ANIMAL_STORE_PORT=8080` is a
/// mistake of an operator.
pub(super) fn is_of_kubernetes(name: &str) -> bool {
    let name = name.to_uppercase();
    let is_url = || env::var(format!("{PREFIX}{name}")).is_ok_and(|value| value.contains("://"));
    name.split('_').any(|word| word == "SERVICE")
        || name.contains("PORT_")
        || name.ends_with("PORT") && is_url()
}

/// The kinds of sources. A later one overrides an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::Display)]
#[strum(serialize_all = "lowercase")]
pub(super) enum Source {
    Default,
    File,
    Environment,
    Flag,
}

impl Source {
    pub(super) fn of(metadata: Option<&Metadata>) -> Self {
        match metadata.map(|metadata| &*metadata.name) {
            None => Self::Default,
            // The names that figment gives to the sources in `Config::load`.
            Some(name) if name.starts_with("TOML") => Self::File,
            Some(name) if name.contains("environment") => Self::Environment,
            Some(_) => Self::Flag,
        }
    }

    /// Returns the spelling of a setting in this source.
    pub(super) fn spelling(self, setting: &str) -> String {
        match self {
            Self::Default | Self::File => format!("`{setting}`"),
            Self::Environment => format!("{PREFIX}{}", setting.replace('.', "__").to_uppercase()),
            Self::Flag => format!("--{}", setting.replace('_', "-")),
        }
    }
}

/// A configuration file that is valid TOML.
pub(super) struct File {
    pub(super) path: PathBuf,
    document: ImDocument<String>,
}

impl File {
    /// Reads a file.
    ///
    /// # Errors
    /// One line, when the file cannot be read or is not TOML.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let shown = path.display();
        let mut text = String::new();
        let read = fs::File::open(path).and_then(|file| file.take(MAX_BYTES).read_to_string(&mut text));
        read.map_err(|error| {
            format!("{shown} cannot be read: {error}; expected a file such as `animal-store config` prints")
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

    /// Returns the line of a setting, or of the table that it is missing from.
    fn line(&self, setting: &str) -> Option<usize> {
        let (mut item, mut at) = (self.document.as_item(), None);
        for name in setting.split('.') {
            let Some((key, next)) = item.as_table_like().and_then(|table| table.get_key_value(name)) else {
                break;
            };
            at = key.span().or_else(|| next.span());
            item = next;
        }
        at.map(|span| line(self.text(), span.start))
    }
}

/// Returns the line of a byte of a text, from 1.
fn line(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

/// Returns where a setting was given, for messages: a line of the file, a variable, a flag or the default.
pub(super) fn location(metadata: Option<&Metadata>, setting: &str, file: Option<&File>) -> String {
    let source = Source::of(metadata);
    // A key may be anything, for example a URL.
    let is_name = setting.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    let spelling = source.spelling(if is_name { setting } else { "[redacted]" });
    match (source, file) {
        (Source::Default, _) => format!("the default of {spelling}"),
        (Source::File, Some(file)) => {
            let line = file.line(setting).map(|line| format!(", line {line}")).unwrap_or_default();
            format!("{spelling} in {}{line}", file.path.display())
        }
        _ => spelling,
    }
}
