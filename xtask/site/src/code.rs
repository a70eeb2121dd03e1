//! Code with its comments, strings, keywords and numbers marked, for the colours of the style sheet.

use maud::{Markup, html};

/// What a language has in common with no other.
struct Language {
    names: &'static [&'static str],
    comment: &'static str,
    /// The characters that begin and end a string.
    quotes: &'static str,
    keywords: &'static str,
}

const LANGUAGES: [Language; 6] = [
    Language {
        names: &["sh", "curl"],
        comment: "#",
        quotes: "'\"",
        keywords: "cargo cat curl echo export go node npm npx pip python3 sha256sum",
    },
    Language {
        names: &["py", "python"],
        comment: "#",
        quotes: "'\"",
        keywords: "and as class def else except False for from if import in is None not or raise return True try while with \
                   yield",
    },
    Language {
        names: &["ts", "typescript"],
        comment: "//",
        quotes: "'\"`",
        keywords: "async await catch class const do else export extends false for function if import let new null of return \
                   this throw true try type while",
    },
    Language {
        names: &["rs", "rust"],
        comment: "//",
        quotes: "\"",
        keywords: "as async await const else enum false fn for if impl in let loop match mod move mut pub ref return struct \
                   true type use where while",
    },
    Language {
        names: &["go"],
        comment: "//",
        quotes: "\"`",
        keywords: "break case const continue defer else false for func go if import nil package range return select struct \
                   switch true type var",
    },
    Language { names: &["json"], comment: "//", quotes: "\"", keywords: "false null true" },
];

/// The long strings of Python and Rust.
const LONG: [(&str, &str); 2] = [("\"\"\"", "\"\"\""), ("r#\"", "\"#")];

/// Returns code in a language, or as it is if the language is unknown.
pub(crate) fn highlighted(text: &str, language: &str) -> Markup {
    let Some(language) = LANGUAGES.iter().find(|known| known.names.contains(&language)) else {
        return html! { (text) };
    };
    html! {
        @for (class, part) in parts(text, language) {
            @if class.is_empty() { (part) } @else { span class=(class) { (part) } }
        }
    }
}

/// Returns the parts of a text, each with the class of its element, or none.
fn parts<'t>(mut rest: &'t str, language: &Language) -> impl Iterator<Item = (&'static str, &'t str)> {
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let (class, length) = part(rest, first, language);
        let (part, after) = rest.split_at(length);
        rest = after;
        Some((class, part))
    })
}

/// Returns the class and the length of the part at the beginning of a text.
fn part(text: &str, first: char, language: &Language) -> (&'static str, usize) {
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    let up_to = |end: Option<usize>| end.unwrap_or(text.len());
    let long = LONG.iter().find_map(|(begin, end)| Some((begin, end, text.strip_prefix(begin)?)));
    if text.starts_with(language.comment) {
        ("comment", up_to(text.find('\n')))
    } else if let Some((begin, end, content)) = long {
        ("string", up_to(content.find(end).map(|at| begin.len() + at + end.len())))
    } else if language.quotes.contains(first) {
        ("string", string(text, first))
    } else if is_word(first) {
        let length = up_to(text.find(|character| !is_word(character)));
        let class = match &text[..length] {
            _ if first.is_ascii_digit() => "number",
            word if language.keywords.split_whitespace().any(|keyword| keyword == word) => "keyword",
            _ => "",
        };
        (class, length)
    } else {
        // A sign within a word, such as that of a shell's variable or option, begins no comment.
        let is_plain = |character: char| {
            !is_word(character)
                && !language.quotes.contains(character)
                && !language.comment.starts_with(character)
        };
        ("", up_to(text.find(|character| !is_plain(character))).max(first.len_utf8()))
    }
}

/// Returns the length of the string at the beginning of a text.
fn string(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            _ if is_escaped => is_escaped = false,
            // A string in single quotes of a shell may have one too, but not in these pages.
            '\\' => is_escaped = true,
            end if end == quote => return at + quote.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(text: &str, language: &str) -> String {
        let language = LANGUAGES.iter().find(|known| known.names.contains(&language)).unwrap();
        let parts = parts(text, language).filter(|(class, _)| !class.is_empty());
        parts.map(|(class, part)| format!("{class} {part}\n")).collect()
    }

    #[test]
    fn parts_of_code_are_found() {
        for (language, text, expected) in [
            ("sh", "curl -i \"a\\\"b\" # 1", "keyword curl\nstring \"a\\\"b\"\ncomment # 1\n"),
            (
                "py",
                "if x1 == 20: f'a' \"\"\"b\"c\"\"\"",
                "keyword if\nnumber 20\nstring 'a'\nstring \"\"\"b\"c\"\"\"\n",
            ),
            ("rs", "&'a str r#\"{\"a\":1}\"# // x", "string r#\"{\"a\":1}\"#\ncomment // x\n"),
            ("ts", "const a = `b\nc` / 2;", "keyword const\nstring `b\nc`\nnumber 2\n"),
            ("json", "{\"a\": [1, null]}", "string \"a\"\nnumber 1\nkeyword null\n"),
            ("py", "\"never closed é", "string \"never closed é\n"),
        ] {
            assert_eq!(marked(text, language), expected);
        }
    }

    #[test]
    fn nothing_is_lost_and_nothing_becomes_markup() {
        assert_eq!(
            highlighted("<b> & 'c'", "sh").into_string(),
            "&lt;b&gt; &amp; <span class=\"string\">'c'</span>"
        );
        assert_eq!(highlighted("<b>", "cobol").into_string(), "&lt;b&gt;");
    }
}
