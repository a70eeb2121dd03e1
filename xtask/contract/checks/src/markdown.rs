//! Markdown in which the text of a document is shown as it is written.
//!
//! The text comes from documents that anyone may have written. It must not end a table cell, become a link, a picture
//! or HTML, mention a person (`@name`) or refer to an issue (`#1`). GitHub looks for these after it has read the
//! Markdown, so an escaped `@` still mentions; a zero-width space after it prevents that.

/// The limit of bytes of a table. GitHub accepts comments of up to 65,536 characters, and one may have two tables.
const MAX_TABLE: usize = 30_000;
/// The limit of bytes of a text in a cell.
const MAX_TEXT: usize = 1_000;

/// Returns a text on one line. Its parts between backticks become code; a backtick without a partner belongs to the text.
pub fn text(text: &str) -> String {
    let text = shortened(text);
    let paired = text.matches('`').count() / 2 * 2;
    let parts = text.split('`').enumerate().map(|(position, part)| match position {
        _ if position > paired => format!("&#96;{}", escaped(part)),
        _ if position % 2 == 1 => code(part),
        _ => escaped(part),
    });
    parts.collect()
}

/// Returns a text as code on one line.
pub fn code(text: &str) -> String {
    let text: String = plain(shortened(text)).collect();
    match text.contains(['`', '|', '\\']) {
        _ if text.trim().is_empty() => text,
        // In a table, a code span cannot have a backslash before a `|`.
        true => format!("<code>{}</code>", escaped(&text)),
        false => format!("`{text}`"),
    }
}

/// Returns a table. The rows have as many cells as the head. Rows that would make it too long are counted in a line
/// below.
pub fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let head: Vec<String> = head.iter().map(|&cell| cell.to_owned()).collect();
    let mut table = line(&head) + &line(&vec!["---".to_owned(); head.len()]);
    for (position, row) in rows.iter().enumerate() {
        let row = line(row);
        if table.len() + row.len() > MAX_TABLE {
            return format!("{table}\n… and {} more.\n", rows.len() - position);
        }
        table.push_str(&row);
    }
    table
}

/// A zero-width space.
const SPACE: &str = "&#8203;";

fn shortened(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_TEXT)]
}

/// Replaces each character that has a meaning in Markdown, HTML or on GitHub.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    let text: String = plain(text).collect();
    for character in text.chars() {
        match character {
            '@' | '#' => escaped.extend([&character.to_string(), SPACE]),
            '&' | '<' | '>' | '|' | '\\' | '`' | '*' | '_' | '~' | '[' | ']' | '$' => {
                escaped.push_str(&format!("&#{};", u32::from(character)));
            }
            _ => escaped.push(character),
        }
    }
    // GitHub links these without any markup.
    escaped.replace("://", &format!(":{SPACE}//")).replace("www.", &format!("www{SPACE}."))
}

/// Replaces control characters by spaces, and drops those that change the direction of the text after them.
pub(crate) fn plain(text: &str) -> impl Iterator<Item = char> + '_ {
    let is_direction =
        |it: &char| matches!(it, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let characters = text.chars().filter(move |it| !is_direction(it));
    characters.map(|it| if it.is_control() || matches!(it, '\u{2028}' | '\u{2029}') { ' ' } else { it })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use pulldown_cmark::{Event, Options, Parser, Tag};

    use super::*;

    #[test]
    fn text_has_no_meaning_except_for_code_between_backticks() {
        for (given, expected) in [
            ("`maximum` of `a|b` is *5*", "`maximum` of <code>a&#124;b</code> is &#42;5&#42;"),
            (
                "thanks @octocat, see #12 or a@b.example",
                "thanks @&#8203;octocat, see #&#8203;12 or a@&#8203;b.example",
            ),
            ("in `@team` code", "in `@team` code"),
            ("one ` alone @a", "one &#96; alone @&#8203;a"),
            ("`a` and ` alone", "`a` and &#96; alone"),
            (
                "<img src=x> [a](b) ![c](d) \\| &amp;",
                "&#60;img src=x&#62; &#91;a&#93;(b) !&#91;c&#93;(d) &#92;&#124; &#38;amp;",
            ),
            ("two\r\nlines\u{202e}", "two  lines"),
            ("https://www.example.com", "https:&#8203;//www&#8203;.example.com"),
            ("``", ""),
        ] {
            assert_eq!(text(given), expected, "{given}");
        }
    }

    #[test]
    fn code_stays_in_its_cell() {
        assert_eq!(code("a\\|`b\n"), "<code>a&#92;&#124;&#96;b </code>");
        assert_eq!(code("/paths/~1pets"), "`/paths/~1pets`");
    }

    #[test]
    fn a_table_has_a_limit() {
        let rows = vec![vec!["x".repeat(900)]; 100];
        let table = table(&["a"], &rows);
        assert!(table.len() < MAX_TABLE + 100);
        let shown = table.matches("| x").count();
        assert!(table.ends_with(&format!("\n… and {} more.\n", 100 - shown)), "{shown}");
    }

    /// Returns the text of each cell of each row, as a reader sees it.
    fn cells(markdown: &str) -> Vec<Vec<String>> {
        let mut rows = Vec::new();
        for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
            match event {
                Event::Start(Tag::TableRow) => rows.push(Vec::new()),
                Event::Start(Tag::TableCell) if !rows.is_empty() => {
                    rows.last_mut().unwrap().push(String::new())
                }
                Event::Text(text) | Event::Code(text) if !rows.is_empty() => {
                    rows.last_mut().unwrap().last_mut().unwrap().push_str(&text);
                }
                Event::InlineHtml(html) => assert!(["<code>", "</code>"].contains(&html.as_ref()), "{html}"),
                Event::Start(Tag::Table(_) | Tag::TableHead | Tag::TableCell)
                | Event::Text(_)
                | Event::End(_) => {}
                other => panic!("{other:?} in {markdown}"),
            }
        }
        rows
    }

    proptest! {
        /// A cell shows the text of a document, whatever it contains.
        #[test]
        fn a_reader_sees_what_was_written(given in "([a-z ]|[`|@#<>&*_~$!-]|[\\\\\\[\\](){}:/]|\n|https://a\\.b|www\\.a){0,24}") {
            let page = table(&["a", "b", "c"], &[vec![text(&given), code(&given), "end".to_owned()]]);
            let shown = cells(&page);
            prop_assert_eq!(shown.len(), 1, "{}", page);
            // Backticks in pairs are markup, and spaces at the ends of a cell or of code are not shown.
            let same = |text: &str| text.replace(['`', '\n', ' ', '\u{200b}'], "");
            prop_assert_eq!(same(&shown[0][0]), same(&given), "{}", page);
            prop_assert_eq!(same(&shown[0][1]), same(&given), "{}", page);
            prop_assert_eq!(&shown[0][2], "end");
        }
    }
}
