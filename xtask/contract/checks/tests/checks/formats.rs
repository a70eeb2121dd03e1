//! Text of a document, which anyone may have written, in the formats of findings.

use checks::finding::{File, Finding};
use checks::report::{Format, Report, Sources, render};
use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag};

/// Formats findings of a rule in a file, by their messages.
fn rendered(format: Format, path: &str, rule: &str, messages: &[&str]) -> String {
    let finding = |message: &&str| Finding {
        rule: rule.to_owned(),
        message: (*message).to_owned(),
        ..Finding::default()
    };
    let findings = messages.iter().map(finding).collect();
    let file = File { path: path.to_owned(), text: String::new(), findings };
    let sources = Sources::new(&std::env::current_dir().unwrap());
    render(format, &Report { command: "lint", files: &[file], sources: &sources, summary: "" })
}

#[test]
fn what_has_a_meaning_for_the_runner_of_github_is_escaped() {
    let annotation = rendered(Format::Github, "a,b:c%", "r,1", &["100%:\r\na,b"]);
    assert!(annotation.starts_with("::error file=a%2Cb%3Ac%25,line="), "{annotation}");
    assert!(annotation.ends_with(",title=r%2C1::100%25:%0D%0Aa,b\n"), "{annotation}");
}

#[test]
fn text_in_markdown_has_no_meaning_except_for_code_between_backticks() {
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
        ("lines\rand\u{202e}", "lines and"),
        ("https://www.example.com", "https:&#8203;//www&#8203;.example.com"),
        ("``", ""),
    ] {
        let page = rendered(Format::Markdown, "x.yaml", "a\\|`b\n", &[given]);
        let row = format!("\n| **error** | {expected} (<code>a&#92;&#124;&#96;b </code>) | `x.yaml:0` |\n");
        assert!(page.ends_with(&row), "{row}: {page}");
    }
}

#[test]
fn a_table_in_markdown_has_a_limit() {
    let page = rendered(Format::Markdown, "x.yaml", "rule", &[&*"x".repeat(900); 100]);
    assert!(page.len() < 30_100);
    let shown = page.matches("| xx").count();
    assert!(page.ends_with(&format!("\n… and {} more.\n", 100 - shown)), "{shown}");
}

/// Returns the text of each cell of each row, as a reader sees it.
fn cells(markdown: &str) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES)
        .skip_while(|it| !matches!(it, Event::Start(Tag::Table(_))))
    {
        match event {
            Event::Start(Tag::TableRow) => rows.push(Vec::new()),
            Event::Start(Tag::TableCell) if !rows.is_empty() => rows.last_mut().unwrap().push(String::new()),
            Event::Text(text) | Event::Code(text) if !rows.is_empty() => {
                rows.last_mut().unwrap().last_mut().unwrap().push_str(&text);
            }
            Event::InlineHtml(html) => assert!(["<code>", "</code>"].contains(&html.as_ref()), "{html}"),
            Event::Start(Tag::Table(_) | Tag::TableHead | Tag::TableCell | Tag::Strong)
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
    fn a_reader_of_markdown_sees_what_was_written(given in "([a-z ]|[`|@#<>&*_~$!-]|[\\\\\\[\\](){}:/]|https://a\\.b|www\\.a){1,24}") {
        let page = rendered(Format::Markdown, "x.yaml", &given, &[&given]);
        let shown = cells(&page);
        prop_assert_eq!(shown.len(), 1, "{}", page);
        // Backticks in pairs are markup, and spaces at the ends of a cell or of code are not shown.
        let same = |text: &str| text.replace(['`', ' ', '\u{200b}'], "");
        prop_assert_eq!(same(&shown[0][1]), same(&format!("{given}({given})")), "{}", page);
        prop_assert_eq!(&shown[0][2], "x.yaml:0");
    }
}
