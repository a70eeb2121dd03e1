//! The effective configuration with the source of each setting.

use std::fmt::Write as _;

use super::source::Source;
use super::terminal::changes_terminal;
use super::{Config, Loaded, names_and_values};
use crate::storage::without_password;

impl Loaded {
    /// Returns all settings as TOML, each with its source as a comment, without passwords. Settings without a value are
    /// comments with an example.
    pub fn to_toml(&self) -> String {
        let shown = Config { database: without_password(&self.config.database), ..self.config.clone() };
        let mut values = names_and_values(&shown);
        if shown.database_file.is_some() {
            // Both settings together would not be valid.
            values.remove("database");
        }
        let mut page = String::new();
        for (name, example) in names_and_values(&Config::example()) {
            // JSON's texts, numbers and lists are TOML's, too.
            let line = match values.get(&name) {
                Some(value) => format!("{:<49} # {}", format!("{name} = {value}"), self.origin(&name)),
                None => format!("{:<49} # not set; an example", format!("# {name} = {example}")),
            };
            for character in line.chars() {
                if changes_terminal(character) {
                    // They occur only in texts and in the path, and none needs more digits. JSON leaves some as they are.
                    let _ = write!(page, "\\u{:04x}", u32::from(character));
                } else {
                    page.push(character);
                }
            }
            page.push('\n');
        }
        page
    }

    fn origin(&self, setting: &str) -> String {
        match (self.kind_of_source(setting), &self.file) {
            (Source::File, Some(file)) => file.path.display().to_string(),
            (source, _) => source.to_string(),
        }
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
        assert!(line("# tls.private_key = \"key.pem\"").ends_with("# not set; an example"));

        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &page).unwrap();
        let flags = Flags { config: Some(file.path().to_owned()), ..Flags::default() };
        let again = Config::load(&flags).unwrap();
        assert_eq!(again.config.database, "sqlite:flag.db");
        assert!(again.to_toml().contains(&format!("# {}", file.path().display())));

        // The examples are valid, too.
        let all: String = page.lines().map(|line| line.trim_start_matches("# ").to_owned() + "\n").collect();
        let without_url: String =
            all.lines().filter(|line| !line.starts_with("database_file")).collect::<Vec<_>>().join("\n");
        std::fs::write(file.path(), without_url).unwrap();
        let mut expected = Config { database: "sqlite:flag.db".to_owned(), ..Config::example() };
        expected.database_file = None;
        expected.ops_hosts = Vec::new();
        assert_eq!(Config::load(&flags).unwrap().config, expected);
    }
}
