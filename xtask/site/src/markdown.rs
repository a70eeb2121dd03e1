//! Descriptions in CommonMark with tables, as HTML. HTML in a description is shown as text. Links lead to `http`, `https`
//! and `mailto` only, and an image becomes a link to it, so a description cannot run a script or make a request.

use maud::{Markup, PreEscaped, html};
use pulldown_cmark::html::push_html;
use pulldown_cmark::{CodeBlockKind, CowStr, Event, Options, Parser, Tag, TagEnd};

use crate::code::highlighted;
use crate::spec::anchor;

/// What happens with the headings of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Headings {
    /// They become headings with an identifier, of level 2 or below.
    Sections,
    /// They keep their levels, with an identifier.
    Page,
    /// They become bold paragraphs, since the text is deep in the outline of its page.
    Bold,
}

/// A heading of a text: its title and its identifier.
pub(crate) type Section = (String, String);

/// Returns the link to a heading, for readers who pass it on.
pub(crate) fn permalink(id: &str, title: &str) -> Markup {
    html! { " " a.permalink href={ "#" (id) } aria-label={ "Link to " (title) } { "#" } }
}

/// Returns the HTML of a text.
pub(crate) fn block(text: &str, headings: Headings) -> Markup {
    render(text, headings, &|_| None).0
}

/// Returns the HTML of a text and its headings of level 2. `link` returns the targets of relative links; without one, only
/// the words of the link are shown.
pub(crate) fn render(
    text: &str,
    headings: Headings,
    link: &dyn Fn(&str) -> Option<String>,
) -> (Markup, Vec<Section>) {
    let mut events: Vec<Event<'_>> = Vec::new();
    let mut sections = Vec::new();
    let mut links = Vec::new();
    let mut begun = 0;
    let mut language = None;
    let mut is_first_cell = false;
    let mut rows: Vec<String> = Vec::new();
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        let event = match event {
            Event::Html(html) | Event::InlineHtml(html) => Event::Text(html),
            Event::Start(Tag::HtmlBlock) => Event::Start(Tag::Paragraph),
            Event::End(TagEnd::HtmlBlock) => Event::End(TagEnd::Paragraph),
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                let target = if is_outside(&dest_url) { Some(dest_url.to_string()) } else { link(&dest_url) };
                links.push(target.is_some());
                match target {
                    Some(target) => Event::Start(plain_link(target)),
                    None => continue,
                }
            }
            Event::End(TagEnd::Link | TagEnd::Image) => match links.pop() {
                Some(true) => Event::End(TagEnd::Link),
                _ => continue,
            },
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(name))) => {
                events.push(Event::Html(format!("<pre><code class=\"language-{}\">", escaped(&name)).into()));
                language = Some(name);
                continue;
            }
            Event::End(TagEnd::CodeBlock) if language.take().is_some() => {
                Event::Html("</code></pre>\n".into())
            }
            Event::Text(text) if language.is_some() => {
                Event::Html(highlighted(&text, language.as_deref().unwrap_or_default()).into_string().into())
            }
            Event::Start(Tag::TableRow) => {
                is_first_cell = headings == Headings::Sections;
                event
            }
            // A row that begins with a code, such as that of an error, can be linked to.
            Event::Code(code)
                if std::mem::take(&mut is_first_cell) && !rows.contains(&anchor("code", &code)) =>
            {
                rows.push(anchor("code", &code));
                Event::Html(
                    format!("<code id=\"{}\">{}</code>", anchor("code", &code), escaped(&code)).into(),
                )
            }
            Event::End(TagEnd::TableCell) => {
                is_first_cell = false;
                event
            }
            Event::Start(Tag::Heading { level, .. }) => {
                begun = events.len();
                if headings == Headings::Bold {
                    events.push(Event::Start(Tag::Paragraph));
                    Event::Start(Tag::Strong)
                } else {
                    Event::Start(Tag::Heading { level, id: None, classes: Vec::new(), attrs: Vec::new() })
                }
            }
            Event::End(TagEnd::Heading(level)) => {
                let title = words(&events[begun..]);
                if headings == Headings::Bold {
                    events.push(Event::End(TagEnd::Strong));
                    Event::End(TagEnd::Paragraph)
                } else {
                    let level = level.max(smallest(headings));
                    let mut id = anchor("section", &title.to_lowercase().replace(' ', "-"));
                    if sections.iter().any(|(_, known)| *known == id) {
                        id += &format!("-{}", sections.len());
                    }
                    let known = CowStr::from(id.clone());
                    events[begun] = Event::Start(Tag::Heading {
                        level,
                        id: Some(known),
                        classes: Vec::new(),
                        attrs: Vec::new(),
                    });
                    if level > pulldown_cmark::HeadingLevel::H1 {
                        events.push(Event::Html(permalink(&id, &title).into_string().into()));
                    }
                    if level == pulldown_cmark::HeadingLevel::H2 {
                        sections.push((title, id));
                    }
                    Event::End(TagEnd::Heading(level))
                }
            }
            other => other,
        };
        events.push(event);
    }
    let mut output = String::new();
    push_html(&mut output, events.into_iter());
    (PreEscaped(output), sections)
}

/// Returns the first paragraph of a text without links, and whether that is the whole text.
pub(crate) fn first_paragraph(text: &str) -> (Markup, bool) {
    let mut depth = 0;
    let mut events = Vec::new();
    let mut whole = true;
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            _ if depth == 0 && !matches!(event, Event::Start(Tag::Paragraph)) => whole = false,
            Event::Start(Tag::Paragraph) if !events.is_empty() => whole = false,
            Event::Start(Tag::Paragraph) => depth = 1,
            Event::End(TagEnd::Paragraph) => depth = 0,
            Event::InlineHtml(html) => events.push(Event::Text(html)),
            Event::SoftBreak | Event::HardBreak => events.push(Event::SoftBreak),
            Event::Start(Tag::Strong | Tag::Emphasis) | Event::End(TagEnd::Strong | TagEnd::Emphasis) => {
                events.push(event);
            }
            Event::Text(_) | Event::Code(_) => events.push(event),
            _ => whole = false,
        }
    }
    let mut output = String::new();
    push_html(&mut output, events.into_iter());
    (PreEscaped(output), whole)
}

/// Returns a sentence with the words in backticks as code, and everything else as it is.
pub(crate) fn code(text: &str) -> Markup {
    let parts: Vec<&str> = text.split('`').collect();
    // An odd number of backticks leaves one without a partner.
    let is_paired = parts.len() % 2 == 1;
    html! {
        @if is_paired {
            @for (position, part) in parts.iter().enumerate() {
                @if position % 2 == 1 { code { (part) } } @else { (part) }
            }
        } @else { (text) }
    }
}

fn escaped(text: &str) -> String {
    html! { (text) }.into_string()
}

/// Whether a target is a URL of a scheme that cannot run a script.
fn is_outside(target: &str) -> bool {
    let target = target.to_ascii_lowercase();
    ["http://", "https://", "mailto:"].iter().any(|scheme| target.starts_with(scheme))
}

fn plain_link(target: String) -> Tag<'static> {
    Tag::Link {
        link_type: pulldown_cmark::LinkType::Inline,
        dest_url: target.into(),
        title: CowStr::Borrowed(""),
        id: CowStr::Borrowed(""),
    }
}

/// The highest level that a heading may have.
fn smallest(headings: Headings) -> pulldown_cmark::HeadingLevel {
    match headings {
        Headings::Page => pulldown_cmark::HeadingLevel::H1,
        Headings::Sections | Headings::Bold => pulldown_cmark::HeadingLevel::H2,
    }
}

fn words(events: &[Event<'_>]) -> String {
    let words = events.iter().filter_map(|event| match event {
        Event::Text(text) | Event::Code(text) => Some(&**text),
        Event::SoftBreak | Event::HardBreak => Some(" "),
        _ => None,
    });
    words.collect()
}
