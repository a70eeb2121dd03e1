//! What is shown on a terminal: the page of all settings, warnings, and text that may come from anybody, such as names,
//! paths and arguments.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::Config;
use super::source::{SETTINGS, Source};
use crate::storage::{DatabaseKind, has_password, without_password};

impl Config {
    /// Returns all settings as TOML, each with its source as a comment, without passwords. Settings without a value are
    /// comments with an example.
    pub fn to_toml(&self) -> String {
        // Both settings together would not be valid.
        let left_out = if self.database_file.is_some() { "database" } else { "database_file" };
        let lines = SETTINGS.lines().map(|example| {
            let example = example.trim_start_matches("# ");
            let name = example.split(' ').next().unwrap_or_default();
            let value = match name {
                _ if name == left_out => None,
                "database" => Some(without_password(&self.database).into()),
                _ => self.sources.find_value(name).ok(),
            };
            // JSON's texts, numbers and lists are TOML's, too.
            let (setting, source) = match value.and_then(|value| serde_json::to_string(&value).ok()) {
                Some(value) => (format!("{name} = {value}"), self.source(name).location(name)),
                None => (format!("# {example}"), "not set; an example".to_owned()),
            };
            escaped(&format!("{setting:<49} # {source}")) + "\n"
        });
        lines.collect()
    }

    /// Returns one line for each secret that other users of the machine can read.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let mut files = Vec::new();
        if let Some(tls) = &self.tls {
            files.push(("private key", tls.private_key.as_path()));
        }
        if let Some(DatabaseKind::Sqlite(path)) = DatabaseKind::of(&self.database) {
            files.push(("database", path));
        }
        if let Some(path) = &self.database_file {
            files.push(("database URL in", path.as_path()));
        } else if has_password(&self.database) {
            // The environment of a process can be read by its user alone.
            match self.source("database") {
                Source::Flag => warnings.push(password_in_flag("--database")),
                Source::File(file) => files.push(("password in", file)),
                _ => {}
            }
        }
        warnings.extend(files.into_iter().filter_map(|(what, path)| readable_by_others(what, path)));
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

/// Whether a character changes how a terminal shows other text: a control character, a line end, or a mark that changes
/// the direction of text (Unicode Standard Annex #9, "Directional Formatting Characters").
pub fn changes_terminal(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns a text in one line, with an escape such as `\u001b` for each of these characters, as in TOML and JSON.
pub fn escaped(text: &str) -> String {
    let escape = |character: char| match changes_terminal(character) {
        // None of them needs more digits.
        true => format!("\\u{:04x}", u32::from(character)),
        false => character.to_string(),
    };
    text.chars().map(escape).collect()
}

/// Whether a text may contain a secret: it may be an API key or a database URL, or a mistyped one.
pub fn may_be_secret(text: &str) -> bool {
    text.contains("ask_")
        || text.contains('@')
        || text.contains("//")
        || text.to_ascii_lowercase().contains("postgres")
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;

    use super::*;
    use crate::config::Flags;

    #[test]
    fn the_page_is_the_configuration_again_with_its_sources() {
        let flags = Flags { database: Some("sqlite:flag.db".to_owned()), ..Flags::default() };
        let page = Config::load(&flags).unwrap().to_toml();
        let line = |key: &str| page.lines().find(|line| line.starts_with(key)).unwrap().to_owned();
        assert!(line("database = \"sqlite:flag.db\"").ends_with("# --database"));
        assert!(line("log.level = \"info\"").ends_with("# the default of `log.level`"));
        assert!(line("# tls.private_key = \"key.pem\"").ends_with("# not set; an example"));

        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), &page).unwrap();
        let flags = Flags { config: Some(file.path().to_owned()), ..Flags::default() };
        let again = Config::load(&flags).unwrap();
        assert_eq!(again.database, "sqlite:flag.db");
        assert!(again.to_toml().contains(&format!("# `bind` in {}", file.path().display())));

        // The examples are valid, too, and no setting is without one.
        let all = page.lines().map(|line| line.trim_start_matches("# ").to_owned() + "\n");
        let without_url_file: String = all.filter(|line| !line.starts_with("database_file")).collect();
        fs::write(file.path(), without_url_file).unwrap();
        let config = Config::load(&flags).unwrap();
        let optional = (&config.ops_bind, &config.postgres.schema, &config.rate_limit, &config.tls);
        assert!(matches!(optional, (Some(_), Some(_), Some(_), Some(_))), "{config:?}");
    }

    #[test]
    fn only_a_file_that_every_user_can_read_is_reported() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let warning = |mode: u32| {
            fs::set_permissions(file.path(), Permissions::from_mode(mode)).unwrap();
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

    #[test]
    fn only_what_changes_a_terminal_is_escaped() {
        assert_eq!(escaped("a b\u{200d}\u{5d0}\u{1f994}\\"), "a b\u{200d}\u{5d0}\u{1f994}\\");
        assert_eq!(escaped("a\n\u{1b}[2K\u{9b}\u{202e}"), "a\\u000a\\u001b[2K\\u009b\\u202e");
    }

    #[test]
    fn a_mistyped_url_may_be_secret_and_other_values_are_not() {
        for text in
            ["ask_x", "postgress://u:secret", "postgres:u:secret", "//u:secret", "u:secret@h", "Postgres:x"]
        {
            assert!(may_be_secret(text), "{text}");
        }
        for text in ["localhost:8080", "5", "soon", "sqlite:a.db", "/etc/key.pem", "[::1]:80"] {
            assert!(!may_be_secret(text), "{text}");
        }
    }
}
