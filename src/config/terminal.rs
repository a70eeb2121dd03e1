//! Text that is shown on a terminal and may come from anybody: names, paths, arguments.

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
    use super::*;

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
