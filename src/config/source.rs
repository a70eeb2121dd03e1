//! Where the value of a setting comes from.

use std::path::{Path, PathBuf};

use figment::Metadata;
use toml_edit::ImDocument;

use super::limited_file;

/// The maximum size of a configuration file in bytes.
const MAX_BYTES: u64 = 1024 * 1024;

/// The prefix of the variables of the environment.
pub(super) const PREFIX: &str = "ANIMAL_STORE_";

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
        match metadata {
            None => Self::Default,
            // The three that are merged in `Config::load`.
            Some(metadata) if metadata.name.starts_with("TOML") => Self::File,
            Some(Metadata { source: Some(figment::Source::Code(_)), .. }) => Self::Flag,
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

/// Returns where a setting was given, for messages: a line of the file, a variable, a flag or the default.
pub(super) fn location(metadata: Option<&Metadata>, key: &[&str], file: Option<&File>) -> String {
    // A quoted key may be anything, for example a URL.
    let is_name =
        |part: &&str| part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    let dotted = if key.iter().all(is_name) { key.join(".") } else { "[redacted]".to_owned() };
    let flag = format!("--{}", dotted.replace('_', "-"));
    match Source::of(metadata) {
        Source::File => {
            let (path, line) = file.map(|file| (file.path.display(), file.line(key))).unzip();
            let path = path.map(|path| path.to_string()).unwrap_or_default();
            let line = line.flatten().map(|line| format!(", line {line}")).unwrap_or_default();
            format!("`{dotted}` in {path}{line}")
        }
        Source::Flag => flag,
        Source::Environment => format!("{PREFIX}{}", dotted.replace('.', "__").to_uppercase()),
        Source::Default => match &*dotted {
            "bind" | "database" => format!("default; the flag is {flag}"),
            _ => format!("default; the setting is `{dotted}`"),
        },
    }
}
