//! The effective configuration with the source of each setting.

use std::fmt::Write;

use serde_json::Value;

use super::source::Source;
use super::terminal::changes_terminal;
use super::{Config, Loaded};
use crate::storage::without_password;

impl Loaded {
    /// Returns all settings as TOML, each with its source as a comment, without passwords.
    pub fn to_toml(&self) -> String {
        let shown = Config { database: without_password(&self.config.database), ..self.config.clone() };
        // Strings, numbers and tables of them always become JSON.
        let mut settings = serde_json::to_value(&shown).unwrap_or_default();
        if let (Some(_), Value::Object(settings)) = (&shown.database_file, &mut settings) {
            // Both settings together would not be valid.
            settings.remove("database");
        }
        let mut page = String::new();
        self.add(&mut page, String::new(), &settings);
        page
    }

    fn add(&self, page: &mut String, key: String, value: &Value) {
        if let Value::Object(settings) = value {
            for (name, value) in settings {
                let key = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
                self.add(page, key, value);
            }
            return;
        }
        let source = match (Source::of(self.given(&key).1), &self.file) {
            (Source::File, Some(file)) => file.path().display().to_string(),
            (source, _) => source.to_string(),
        };
        // JSON's strings and numbers are TOML's, too.
        let line = format!("{:<49} # {source}", format!("{key} = {value}"));
        for character in line.chars() {
            if changes_terminal(character) {
                // They occur only in strings and in the path, and none needs more digits. JSON leaves some as they are.
                let _ = write!(page, "\\u{:04x}", u32::from(character));
            } else {
                page.push(character);
            }
        }
        page.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Flags;

    #[test]
    fn the_page_is_the_configuration_again_with_its_sources() {
        let flags = Flags { database: Some("sqlite:flag.db".to_owned()), ..Flags::default() };
        let page = Config::load(&flags).unwrap().to_toml();
        let line = |key: &str| page.lines().find(|line| line.starts_with(key)).unwrap().to_owned();
        assert!(line("database = \"sqlite:flag.db\"").ends_with("# flag"));
        assert!(line("log.level = \"info\"").ends_with("# default"));

        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &page).unwrap();
        let flags = Flags { config: Some(file.path().to_owned()), ..Flags::default() };
        let again = Config::load(&flags).unwrap();
        assert_eq!(again.config.database, "sqlite:flag.db");
        assert!(again.to_toml().contains(&format!("# {}", file.path().display())));
    }
}
