//! A configuration with the source of each setting: the page that `animal-store config` prints, and the warnings.

use std::cmp::Ordering;
use std::fmt::Display;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use figment::Figment;

use super::error::{ConfigError, Source, invalid, location};
use super::terminal::escaped;
use super::{Config, examples, names_and_values};
use crate::storage::{DatabaseKind, has_password, read_url_file, without_password};

/// A configuration and the source of each setting.
pub struct Loaded {
    /// The settings.
    pub config: Config,
    pub(super) figment: Figment,
    pub(super) file: Option<PathBuf>,
}

impl Loaded {
    /// Returns the source of a setting for messages: a flag, an environment variable, or the
    /// configuration file.
    pub fn source(&self, setting: &str) -> String {
        let is_url_in_file = setting == "database" && self.config.database_file.is_some();
        self.location(if is_url_in_file { "database_file" } else { setting })
    }

    /// Adds the source of the setting that caused an error, if one did.
    pub fn with_source<'a>(&self, setting: impl Into<Option<&'a str>>, error: impl Display) -> ConfigError {
        let source = setting.into().map(|setting| format!(" (set by {})", self.source(setting)));
        ConfigError(format!("{error}{}", source.unwrap_or_default()))
    }

    fn location(&self, setting: &str) -> String {
        location(self.figment.find_metadata(setting), setting, self.file.as_deref())
    }

    fn kind_of_source(&self, setting: &str) -> Source {
        Source::of(self.figment.find_metadata(setting))
    }

    /// Reads the URL of the database from its file, unless a stronger source has the URL itself.
    pub(super) fn read_database_file(&mut self) -> Result<(), ConfigError> {
        let Some(path) = &self.config.database_file else { return Ok(()) };
        match self.kind_of_source("database").cmp(&self.kind_of_source("database_file")) {
            Ordering::Greater => self.config.database_file = None,
            Ordering::Less => {
                let url = read_url_file(path).map_err(|error| self.with_source("database", error))?;
                self.config.database = url;
            }
            Ordering::Equal => {
                let [file, url] = ["database_file", "database"].map(|setting| self.location(setting));
                return Err(invalid(&format!("{file}: not allowed together with {url}; give one of them")));
            }
        }
        Ok(())
    }

    /// Returns all settings as TOML, each with its source as a comment, without passwords. Settings without a value are
    /// comments with an example.
    pub fn to_toml(&self) -> String {
        let shown = Config { database: without_password(&self.config.database), ..self.config.clone() };
        let mut values = names_and_values(&shown);
        if shown.database_file.is_some() {
            // Both settings together would not be valid.
            values.remove("database");
        }
        let lines = examples().into_iter().map(|(name, example)| {
            // JSON's texts, numbers and lists are TOML's, too.
            let (setting, source) = match values.get(&name) {
                Some(value) => (format!("{name} = {value}"), self.short_source(&name)),
                None => (format!("# {name} = {example}"), "not set; an example".to_owned()),
            };
            escaped(&format!("{setting:<49} # {source}")) + "\n"
        });
        lines.collect()
    }

    fn short_source(&self, setting: &str) -> String {
        match (self.kind_of_source(setting), &self.file) {
            (Source::File, Some(file)) => file.display().to_string(),
            (source, _) => source.to_string(),
        }
    }

    /// Returns one line for each secret that other users of the machine can read.
    pub fn warnings(&self) -> Vec<String> {
        let config = &self.config;
        let mut warnings = Vec::new();
        let mut files = Vec::new();
        if let Some(tls) = &config.tls {
            files.push(("private key", tls.private_key.as_path()));
        }
        if let Some(DatabaseKind::Sqlite(path)) = DatabaseKind::of(&config.database) {
            files.push(("database", path));
        }
        if let Some(path) = &config.database_file {
            files.push(("database URL in", path.as_path()));
        } else if has_password(&config.database) {
            // The environment of a process can be read by its user alone.
            match (self.kind_of_source("database"), &self.file) {
                (Source::Flag, _) => warnings.push(password_in_flag("--database")),
                (Source::File, Some(file)) => files.push(("password in", file.as_path())),
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
        assert!(line("database = \"sqlite:flag.db\"").ends_with("# flag"));
        assert!(line("log.level = \"info\"").ends_with("# default"));
        assert!(line("# tls.private_key = \"key.pem\"").ends_with("# not set; an example"));

        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), &page).unwrap();
        let flags = Flags { config: Some(file.path().to_owned()), ..Flags::default() };
        let again = Config::load(&flags).unwrap();
        assert_eq!(again.config.database, "sqlite:flag.db");
        assert!(again.to_toml().contains(&format!("# {}", file.path().display())));

        // The examples are valid, too, and no setting is without one.
        let all = page.lines().map(|line| line.trim_start_matches("# ").to_owned() + "\n");
        let without_url_file: String = all.filter(|line| !line.starts_with("database_file")).collect();
        fs::write(file.path(), without_url_file).unwrap();
        let config = Config::load(&flags).unwrap().config;
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
}
