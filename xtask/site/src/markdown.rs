//! Descriptions in CommonMark with tables, as HTML. HTML in a description is shown as text. Links lead to `http`, `https`
//! and `mailto` only, and an image becomes a link to it, so a description cannot run a script or make a request.

use maud::{Markup, PreEscaped, html};
use pulldown_cmark::html::push_html;
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::code::highlighted;
use crate::spec::anchor;

/// A part of a text that begins with a heading of level 2, or with a row of a table that begins with a code.
pub(crate) struct Section {
    pub(crate) is_heading: bool,
    pub(crate) title: String,
    /// The identifier of the heading or the code.
    pub(crate) id: String,
    /// The words below it.
    pub(crate) words: String,
}

/// Returns the link to a heading, for readers who pass it on.
pub(crate) fn permalink(id: &str, title: &str) -> Markup {
    html! { " " a.permalink href={ "#" (id) } aria-label={ "Link to " (title) } { "#" } }
}

/// Returns the links to the headings of a text.
pub(crate) fn headings(sections: &[Section]) -> Markup {
    let headings = sections.iter().filter(|section| section.is_heading);
    html! { @for Section { title, id, .. } in headings { li { a href={ "#" (id) } { (title) } } } }
}

/// Returns the HTML of a text. Headings become paragraphs, since the text is deep in the outline of its page.
pub(crate) fn block(text: &str) -> Markup {
    let events = events(text, &|_| None).into_iter().map(|event| match event {
        Event::Start(Tag::Heading { .. }) => Event::Start(Tag::Paragraph),
        Event::End(TagEnd::Heading(_)) => Event::End(TagEnd::Paragraph),
        other => other,
    });
    written(events)
}

/// Returns the HTML of a text and its sections. Headings get identifiers, and so do the rows of tables that begin with a
/// code, such as that of an error. `highest` is the highest level that a heading may have. `link` returns the targets of
/// relative links; without one, only the words of the link are shown.
pub(crate) fn render(
    text: &str,
    highest: HeadingLevel,
    link: &dyn Fn(&str) -> Option<String>,
) -> (Markup, Vec<Section>) {
    let mut output: Vec<Event<'_>> = Vec::new();
    let mut sections: Vec<Section> = Vec::new();
    let mut ids: Vec<String> = Vec::new();
    let section = |is_heading, title, id| Section { is_heading, title, id, words: String::new() };
    let mut heading = None;
    let (mut is_first_cell, mut in_row) = (false, false);
    for event in events(text, link) {
        let begins_row = is_first_cell && highest > HeadingLevel::H1 && matches!(event, Event::Code(_));
        in_row = begins_row || in_row && !matches!(event, Event::End(TagEnd::Table));
        let about = sections.iter_mut().rfind(|it| in_row || it.is_heading);
        if let (Some(about), None, false, Some(word)) = (about, heading, begins_row, word(&event)) {
            about.words += word;
        }
        let event = match event {
            Event::Start(Tag::Heading { .. }) => {
                heading = Some(output.len());
                Event::Html("".into())
            }
            Event::End(TagEnd::Heading(level)) => {
                let begun = heading.take().unwrap_or_default();
                let title: String = output[begun..].iter().filter_map(word).collect();
                let level = level.max(highest);
                let mut id = anchor("section", &title.to_lowercase().replace(' ', "-"));
                if ids.contains(&id) {
                    id += &format!("-{}", ids.len());
                }
                ids.push(id.clone());
                output[begun] = Event::Html(format!("<{level} id=\"{id}\">").into());
                if level > HeadingLevel::H1 {
                    output.push(Event::Html(permalink(&id, &title).into_string().into()));
                }
                if level <= HeadingLevel::H2 {
                    sections.push(section(true, title, id));
                }
                Event::End(TagEnd::Heading(level))
            }
            Event::Code(code) if begins_row && !ids.contains(&anchor("code", &code)) => {
                let id = anchor("code", &code);
                ids.push(id.clone());
                let shown = html! { code id=(id) { (code) } }.into_string();
                sections.push(section(false, code.to_string(), id));
                Event::InlineHtml(shown.into())
            }
            other => other,
        };
        is_first_cell = match event {
            Event::Start(Tag::TableRow) => true,
            Event::Start(Tag::TableCell) => is_first_cell,
            _ => false,
        };
        output.push(event);
    }
    (written(output.into_iter()), sections)
}

/// Returns the words of a text.
pub(crate) fn words(text: &str) -> String {
    events(text, &|_| None).iter().filter_map(word).collect()
}

/// Returns the words of an event, and a space where a word ends.
fn word<'e>(event: &'e Event<'_>) -> Option<&'e str> {
    match event {
        Event::Text(text) | Event::Code(text) => Some(text),
        Event::SoftBreak | Event::HardBreak => Some(" "),
        Event::End(TagEnd::Paragraph | TagEnd::Item | TagEnd::TableCell) => Some(" "),
        _ => None,
    }
}

/// Returns the events of a text, with safe ones in place of those that are not.
fn events<'t>(text: &'t str, link: &dyn Fn(&str) -> Option<String>) -> Vec<Event<'t>> {
    let mut links = Vec::new();
    let mut language = None;
    let safe = |event| {
        Some(match event {
            Event::Html(html) | Event::InlineHtml(html) => Event::Text(html),
            Event::Start(Tag::HtmlBlock) => Event::Start(Tag::Paragraph),
            Event::End(TagEnd::HtmlBlock) => Event::End(TagEnd::Paragraph),
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                let target = if is_outside(&dest_url) { Some(dest_url.to_string()) } else { link(&dest_url) };
                links.push(target.is_some());
                Event::InlineHtml(format!("<a href=\"{}\">", escaped(&target?)).into())
            }
            Event::End(TagEnd::Link | TagEnd::Image) => {
                links.pop().filter(|is_shown| *is_shown).map(|_| Event::InlineHtml("</a>".into()))?
            }
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(name))) => {
                let begin = format!("<pre><code class=\"language-{}\">", escaped(&name));
                language = Some(name);
                Event::Html(begin.into())
            }
            Event::End(TagEnd::CodeBlock) if language.take().is_some() => {
                Event::Html("</code></pre>\n".into())
            }
            Event::Text(text) => match &language {
                Some(language) => Event::Html(highlighted(&text, language).into_string().into()),
                None => Event::Text(text),
            },
            other => other,
        })
    };
    Parser::new_ext(text, Options::ENABLE_TABLES).filter_map(safe).collect()
}

fn written<'e>(events: impl Iterator<Item = Event<'e>>) -> Markup {
    let mut output = String::new();
    push_html(&mut output, events);
    PreEscaped(output)
}

/// Returns a sentence with the words in backticks as code, and everything else as it is.
pub(crate) fn code(text: &str) -> Markup {
    // A backtick without a partner is one itself.
    let is_paired = text.matches('`').count().is_multiple_of(2);
    html! {
        @if !is_paired { (text) }
        @for (position, part) in text.split('`').enumerate().filter(|_| is_paired) {
            @if position % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

fn escaped(text: &str) -> String {
    html! { (text) }.into_string()
}

/// Whether a target is a URL of a scheme that cannot run a script.
pub(crate) fn is_outside(target: &str) -> bool {
    let target = target.to_ascii_lowercase();
    ["http://", "https://", "mailto:"].iter().any(|scheme| target.starts_with(scheme))
}
