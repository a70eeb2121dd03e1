//! Code with its comments, strings, keywords and numbers marked, for the colours of the style sheet.
//!
//! One pattern is enough for the languages of the pages. Programs in Rust here must not contain `'`, which is no quote there.

use std::sync::LazyLock;

use maud::{Markup, PreEscaped, html};
use regex_lite::Regex;

/// The languages in fenced code and of samples. Code in another one is shown as it is.
const LANGUAGES: [&str; 6] = ["curl", "json", "python", "rust", "sh", "typescript"];
/// What is marked, in groups with the names of the classes.
static MARKED: LazyLock<Regex> = LazyLock::new(|| {
    let comment = r"(?:#|//) [^\n]*";
    let string = r##"r#".*?"#|"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?|`(?:\\.|[^`\\])*`?"##;
    let keyword = "cargo|cat|curl|echo|export|go|node|npm|npx|pip|python3|sha256sum\
                   |as|async|await|const|else|except|False|false|fn|for|from|if|import|let|None|null|or|True|true|try|use";
    // In a shell, a word after `/` or `=` is a part of another one.
    let pattern = format!(
        r"(?s)[/=][A-Za-z]\w*|(?<comment>{comment})|(?<string>{string})|(?<keyword>\b(?:{keyword})\b)|(?<number>\b[0-9]\w*)"
    );
    Regex::new(&pattern).expect("a valid pattern")
});

/// Returns code in a language, or as it is if the language is unknown.
pub(crate) fn highlighted(text: &str, language: &str) -> Markup {
    if !LANGUAGES.contains(&language) {
        return html! { (text) };
    }
    let (mut shown, mut end) = (String::new(), 0);
    for found in MARKED.captures_iter(text) {
        let classes = ["comment", "string", "keyword", "number"];
        if let Some((class, part)) = classes.iter().find_map(|class| Some((class, found.name(class)?))) {
            shown +=
                &html! { (text[end..part.start()]) span class=(class) { (part.as_str()) } }.into_string();
            end = part.end();
        }
    }
    html! { (PreEscaped(shown)) (text[end..]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_marked_and_nothing_else_becomes_markup() {
        for (language, text, expected) in [
            (
                "sh",
                "curl -i \"a\\\"b\" $1#a # 2",
                "[keyword curl] -i [string \"a\\\"b\"] $[number 1]#a [comment # 2]",
            ),
            ("python", "if x1 == 20: f'a'", "[keyword if] x1 == [number 20]: f[string 'a']"),
            ("rust", "r#\"{\"a\":1}\"# // x", "[string r#\"{\"a\":1}\"#] [comment // x]"),
            ("typescript", "const a = `b\nc` / 2;", "[keyword const] a = [string `b\nc`] / [number 2];"),
            ("json", "{\"a\": [1, null]}", "{[string \"a\"]: [[number 1], [keyword null]]}"),
            ("python", "\"never closed é", "[string \"never closed é]"),
            ("sh", "https://a <b> & 'c'", "https://a <b> & [string 'c']"),
            ("cobol", "if \"<b>\"", "if \"<b>\""),
        ] {
            let shown = highlighted(text, language).into_string();
            let shown = shown.replace("</span>", "]").replace("<span class=\"", "[").replace("\">", " ");
            let escaped = html! { (expected) }.into_string();
            assert_eq!(shown, escaped, "{text}");
        }
    }
}
