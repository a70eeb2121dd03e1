//! What is being written at an offset of a text that may not be valid: the keys around it, and the key or value itself.
//!
//! The text is read line by line upwards, by indentation. Flow collections are read on the line where they begin, and
//! a JSON document from its beginning.

use std::ops::Range;

/// One level from the document to the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// Under a key.
    Key(String),
    /// In an item of a list.
    Item,
}

/// What is being written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    /// A key of a mapping.
    Key,
    /// The value of a key, or an item of a list; the last level says which.
    Value,
}

/// The place of an offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Context {
    /// The levels around what is being written.
    pub(crate) levels: Vec<Level>,
    /// What is being written.
    pub(crate) slot: Slot,
    /// The text that was written so far, with its quote.
    pub(crate) written: Range<usize>,
    /// Whether keys need double quotes.
    pub(crate) is_json: bool,
    /// The column of the key in a block mapping.
    pub(crate) column: Option<usize>,
}

impl Context {
    /// Returns the context of an offset. `None` in comments, in block scalars and after the end of a value.
    pub(crate) fn at(text: &str, offset: usize) -> Option<Self> {
        let offset = text.floor_char_boundary(offset.min(text.len()));
        let first = text.trim_start_matches('\u{feff}').trim_start();
        if first.starts_with(['{', '[']) {
            let start = text.len() - first.len();
            return flow(text, start, offset, Vec::new()).map(|it| Self { is_json: true, ..it });
        }
        let start = text[..offset].rfind('\n').map_or(0, |before| before + 1);
        let line = Line::of(&text[start..offset]);
        let mut levels = above(&text[..start], &line)?;
        let at_value = |slot, levels, from: usize, column| {
            let written = start + from..offset;
            Some(Self { levels, slot, written, is_json: false, column })
        };
        let content = &text[start + line.content..offset];
        let Some(key) = line.key else {
            return match content.chars().next() {
                Some('#') => None,
                Some('{' | '[') => flow(text, start + line.content, offset, levels),
                // A scalar item of a list begins like a key.
                _ => at_value(Slot::Key, levels, line.content, Some(line.content)),
            };
        };
        levels.push(Level::Key(key));
        let value = line.value?;
        let written = &text[start + value..offset];
        match written.chars().next() {
            Some('{' | '[') => flow(text, start + value, offset, levels),
            Some('|' | '>') => None,
            // A comment, or the end of a quoted value.
            _ if written.contains(" #") || is_closed(written) => None,
            _ => at_value(Slot::Value, levels, value, None),
        }
    }
}

/// Whether a quoted value has ended.
fn is_closed(written: &str) -> bool {
    let quote = written.chars().next().filter(|first| matches!(first, '\'' | '"'));
    quote.is_some_and(|quote| written.len() > 1 && written.trim_end().ends_with(quote))
}

/// A line of block YAML.
#[derive(Debug)]
struct Line {
    /// The columns of the markers `- `.
    markers: Vec<usize>,
    /// The column of the text after indentation and markers.
    content: usize,
    key: Option<String>,
    /// The column of the value of the key.
    value: Option<usize>,
}

impl Line {
    fn of(line: &str) -> Self {
        let mut markers = Vec::new();
        let mut content = line.len() - line.trim_start_matches(' ').len();
        while line[content..].starts_with("- ") {
            markers.push(content);
            let rest = &line[content + 1..];
            content += 1 + rest.len() - rest.trim_start_matches(' ').len();
        }
        let (key, value) = match key_of(&line[content..]) {
            Some((key, value)) => (Some(key), Some(content + value)),
            None => (None, None),
        };
        Self { markers, content, key, value }
    }
}

/// Returns the key at the beginning of a text, and the offset of its value.
fn key_of(text: &str) -> Option<(String, usize)> {
    let (key, end) = match text.chars().next()? {
        '#' | '{' | '[' => return None,
        quote @ ('\'' | '"') => {
            let end = 1 + text[1..].find(quote)?;
            (&text[1..end], end + 1)
        }
        _ => {
            let separator = text.find(": ").or_else(|| text.trim_end().strip_suffix(':').map(str::len))?;
            (&text[..separator], separator)
        }
    };
    let after = text[end..].trim_start_matches(' ').strip_prefix(':')?;
    let value = text.len() - after.trim_start_matches(' ').len();
    Some((key.to_owned(), value))
}

/// Returns the levels around a line, from the text above it. `None` in a block scalar.
fn above(text: &str, line: &Line) -> Option<Vec<Level>> {
    let mut levels = Vec::new();
    // The column of the mapping that is left, and the column of the marker of its list, if it is an item.
    let mut column = line.content;
    let mut list = leave_items(&line.markers, &mut column, &mut levels);
    for above in text.trim_end_matches('\n').rsplit('\n') {
        if column == 0 && list.is_none() {
            break;
        }
        let indent = above.len() - above.trim_start_matches(' ').len();
        let rest = &above[indent..];
        if indent > column || rest.is_empty() || rest.starts_with(['#', '\r']) {
            continue;
        }
        let above = Line::of(above);
        if list.is_none() && above.content == column && !above.markers.is_empty() {
            list = leave_items(&above.markers, &mut column, &mut levels);
            continue;
        }
        // A list may begin in the column of its key.
        let is_parent = list.map_or(above.content < column, |marker| above.content <= marker);
        let (true, Some(key), Some(value)) = (is_parent, above.key, above.value) else { continue };
        if rest[value - indent..].starts_with(['|', '>']) {
            return None;
        }
        levels.push(Level::Key(key));
        column = above.content;
        list = leave_items(&above.markers, &mut column, &mut levels);
    }
    levels.reverse();
    Some(levels)
}

/// Adds a level for each marker before a mapping, and returns the column of the outermost.
fn leave_items(markers: &[usize], column: &mut usize, levels: &mut Vec<Level>) -> Option<usize> {
    levels.extend(markers.iter().map(|_| Level::Item));
    let first = markers.first().copied()?;
    *column = first;
    Some(first)
}

/// Reads a flow collection up to an offset.
fn flow(text: &str, start: usize, offset: usize, levels: Vec<Level>) -> Option<Context> {
    let bytes = text.as_bytes();
    // The open collections: a mapping with its last key, or a list.
    let mut open: Vec<Option<Option<String>>> = Vec::new();
    let (mut at, mut token) = (start, None);
    while at < offset {
        let byte = bytes[at];
        match byte {
            b'"' | b'\'' if token.is_none() => {
                token = Some(at);
                let mut end = at + 1;
                while end < offset && bytes[end] != byte {
                    end += if byte == b'"' && bytes[end] == b'\\' { 2 } else { 1 };
                }
                at = end;
            }
            b'{' | b'[' if token.is_none() => open.push((byte == b'{').then_some(None)),
            b'}' | b']' => {
                open.pop()?;
                token = None;
                if open.is_empty() {
                    return None;
                }
            }
            b',' => {
                token = None;
                if let Some(Some(key)) = open.last_mut() {
                    *key = None;
                }
            }
            b':' if bytes.get(at + 1).is_none_or(|next| b" \n\r\t\"'{[".contains(next)) => {
                if let Some(Some(key @ None)) = open.last_mut() {
                    *key = Some(unquoted(&text[token.unwrap_or(at)..at]));
                    token = None;
                }
            }
            byte if byte.is_ascii_whitespace() => {}
            _ => token = token.or(Some(at)),
        }
        at += 1;
    }
    let mut levels = levels;
    let innermost = open.pop()?;
    for outer in open {
        levels.push(outer.map_or(Some(Level::Item), |key| key.map(Level::Key))?);
    }
    let slot = match innermost {
        Some(None) => Slot::Key,
        Some(Some(key)) => {
            levels.push(Level::Key(key));
            Slot::Value
        }
        None => {
            levels.push(Level::Item);
            Slot::Value
        }
    };
    let written = token.unwrap_or(offset).min(offset)..offset;
    if is_closed(&text[written.clone()]) {
        return None;
    }
    Some(Context { levels, slot, written, is_json: false, column: None })
}

fn unquoted(text: &str) -> String {
    text.trim().trim_matches(['"', '\'']).to_owned()
}
