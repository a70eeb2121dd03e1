//! YAML to a tree, from the events of the parser, with an explicit stack.
//!
//! Keys are text (`200` and `'200'` are one key), plain scalars follow the core schema of YAML 1.2.2 (section
//! 10.3.2), aliases are resolved, and merge keys (`<<`) add the entries of other mappings as in YAML 1.1. What JSON
//! cannot express is refused: two documents in one file, a key that is a list, a repeated key, tags, infinity.
//!
//! Depth and size are checked before memory is allocated, so that neither brackets nor aliases can exhaust the
//! stack or the memory.

use std::collections::HashMap;

use granit_parser::{Event, Marker, Parser, ScalarStyle, ScanError, Span as Range, StrInput};

use super::mistakes::{self, Before};
use super::scalar;
use super::tree::{Entry, Mapping, Node, Problem, Span, Value, shortened};

/// The limit of nested lists and mappings.
pub const MAX_DEPTH: usize = 100;
/// The limit of values of a document, with each alias expanded.
pub const MAX_NODES: usize = 2_000_000;
/// The number of bytes in the text of an alias that count as one value.
const BYTES_OF_VALUE: usize = 32;

/// Decodes the text of a file.
///
/// # Errors
/// Returns the place of the first byte that is not UTF-8.
pub fn decode(bytes: &[u8]) -> Result<&str, Problem> {
    str::from_utf8(bytes).map_err(|error| {
        let (before, after) = bytes.split_at(error.valid_up_to());
        let before = String::from_utf8_lossy(before);
        let byte = after.first().copied().unwrap_or_default();
        Problem::in_text(
            &before,
            before.len(),
            format!("the byte 0x{byte:02X} is not UTF-8; save the file as UTF-8"),
        )
    })
}

/// Reads one YAML document.
///
/// # Errors
/// Returns the first place where the text is not YAML, or is YAML that this module refuses.
pub(super) fn read(text: &str) -> Result<Node, Problem> {
    // The parser stops at U+0000, and would ignore the text after it.
    let unprintable = |c: char| (c.is_control() && !"\t\n\r\u{85}".contains(c)) || c == '\u{7f}';
    if let Some((position, character)) = text.char_indices().find(|(_, c)| unprintable(*c)) {
        let message =
            format!("the control character U+{:04X} is not allowed; remove it", u32::from(character));
        return Err(Problem::in_text(text, position, message));
    }
    let (open, anchors) = (Vec::new(), HashMap::new());
    Reader { text, open, anchors, nodes: 0, root: None }.run(Parser::new_from_str(text))
}

/// Returns the size of a copy of a subtree: its nodes, its bytes of text, and its levels of lists and mappings.
fn size(node: &Node) -> [usize; 3] {
    let values = node.entries().iter().map(|entry| &entry.value).chain(node.items());
    let [nodes, bytes, levels] = values.map(size).fold([0; 3], |[nodes, bytes, levels], inner| {
        [nodes + inner[0], bytes + inner[1], levels.max(inner[2])]
    });
    let keys: usize = node.entries().iter().map(|entry| entry.key.len()).sum();
    let own = node.as_str().map_or(0, str::len);
    let level = usize::from(matches!(node.value, Value::Sequence(_) | Value::Mapping(_)));
    [1 + nodes + node.entries().len(), bytes + keys + own, levels + level]
}

/// A finished subtree.
#[derive(Clone)]
struct Built {
    node: Node,
    /// The text of a scalar, in case it becomes a key.
    written: Option<String>,
    /// Whether the text is `<<` without quotes.
    is_merge_key: bool,
}

/// A list or mapping that has begun and not ended.
struct Open {
    node: Node,
    /// The key of a mapping whose value has not been read.
    key: Option<(String, Span)>,
    /// The merge key of a mapping, and the mappings that it adds.
    merge: Option<(Span, Vec<Node>)>,
    anchor: usize,
}

struct Reader<'a> {
    text: &'a str,
    open: Vec<Open>,
    anchors: HashMap<usize, Built>,
    /// Nodes made so far.
    nodes: usize,
    root: Option<Node>,
}

impl<'a> Reader<'a> {
    fn run(mut self, mut parser: Parser<'a, StrInput<'a>>) -> Result<Node, Problem> {
        let mut last = Span::default();
        while let Some(event) = parser.next_event() {
            let (event, range) = event.map_err(|error| self.not_yaml(&error, last))?;
            let span = self.span(range);
            last = span;
            match event {
                Event::DocumentStart(..) if self.root.is_some() => {
                    let message = "a second document begins here, but a file must hold one; move it to a file of its own";
                    return Err(Problem::at(span, message));
                }
                Event::SequenceStart(.., Some(tag))
                | Event::MappingStart(.., Some(tag))
                | Event::Scalar(.., Some(tag)) => {
                    let place = range.tag_span().map_or(span, |tag| self.span(tag));
                    let tag = shortened(&tag.original());
                    let message = format!(
                        "the tag `{tag}` is not supported; remove it, and quote a value that is text"
                    );
                    return Err(Problem::at(place, message));
                }
                Event::SequenceStart(_, anchor, None) => {
                    self.begin(Node::new(Value::Sequence(Vec::new()), span), anchor)?;
                }
                Event::MappingStart(_, anchor, None) => {
                    self.begin(Node::new(Value::Mapping(Mapping::default()), span), anchor)?;
                }
                Event::SequenceEnd | Event::MappingEnd => self.end(span)?,
                Event::Scalar(text, style, anchor, None) => {
                    // The parser writes `~` for an empty value.
                    let text = if range.is_empty() { String::new() } else { text.into_owned() };
                    let value = scalar::value(&text, style).map_err(|message| Problem::at(span, message))?;
                    self.spend(1, span)?;
                    let is_merge_key = text == "<<" && style == ScalarStyle::Plain;
                    let node = Node::new(value, span);
                    self.put(Built { node, written: Some(text), is_merge_key }, anchor)?;
                }
                Event::Alias(anchor) => self.alias(anchor, span)?,
                _ => {}
            }
        }
        match self.root {
            Some(Node { value: Value::Null, span, .. }) => Err(Problem::at(span, "the document is empty")),
            Some(root) => Ok(root),
            None => Err(Problem::in_text(self.text, 0, "the document is empty")),
        }
    }

    fn begin(&mut self, node: Node, anchor: usize) -> Result<(), Problem> {
        let start = node.span;
        self.check_depth(1, start)?;
        self.spend(1, start)?;
        self.open.push(Open { node, key: None, merge: None, anchor });
        Ok(())
    }

    fn end(&mut self, end: Span) -> Result<(), Problem> {
        let Some(Open { mut node, merge, anchor, .. }) = self.open.pop() else {
            return Err(Problem::at(end, "this closes a list or mapping that was not opened"));
        };
        // A bracket ends a flow collection. A block collection ends with its last part.
        if end.end > end.start {
            node.span.end = end.end;
        }
        if let (Value::Mapping(mapping), Some((merge_key, sources))) = (&mut node.value, merge) {
            mapping.merge(merge_key, &sources);
        }
        self.put(Built { node, written: None, is_merge_key: false }, anchor)
    }

    fn alias(&mut self, anchor: usize, span: Span) -> Result<(), Problem> {
        let Some(mut built) = self.anchors.get(&anchor).cloned() else {
            return Err(Problem::at(span, "this alias refers to a value that contains the alias"));
        };
        let [nodes, bytes, levels] = size(&built.node);
        self.check_depth(levels, span)?;
        self.spend(nodes + bytes / BYTES_OF_VALUE, span)?;
        built.node.alias = Some(Box::new(span));
        self.put(Built { is_merge_key: false, ..built }, 0)
    }

    /// Adds a finished value or an alias to the innermost open list or mapping.
    fn put(&mut self, built: Built, anchor: usize) -> Result<(), Problem> {
        let span = built.node.place();
        if anchor != 0 {
            // The copy counts too, because nested anchors multiply the copies.
            self.spend(size(&built.node)[0], span)?;
            self.anchors.insert(anchor, built.clone());
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(built.node);
            return Ok(());
        };
        open.node.span.end = open.node.span.end.max(span.end);
        match (&mut open.node.value, open.key.take()) {
            (Value::Mapping(mapping), None) => {
                let Some(key) = built.written else {
                    return Err(Problem::at(span, "a key must be text, not a list or a mapping"));
                };
                let first = match &open.merge {
                    _ if !built.is_merge_key => mapping.get(&key).map(|entry| entry.key_span),
                    merge => merge.as_ref().map(|(merge_key, _)| *merge_key),
                };
                if let Some(first) = first {
                    return Err(Problem::at(span, duplicate_key(&key, first)));
                }
                if built.is_merge_key {
                    open.merge = Some((span, Vec::new()));
                }
                open.key = Some((key, span));
            }
            (Value::Mapping(mapping), Some((key, key_span))) => match &mut open.merge {
                Some((merge_key, sources)) if *merge_key == key_span => {
                    *sources = match built.node.value {
                        Value::Sequence(items) => items,
                        _ => vec![built.node],
                    };
                    if sources.iter().any(|source| !matches!(source.value, Value::Mapping(_))) {
                        let message = "the value of the merge key `<<` must be a mapping or a list of mappings; quote \
                                       the key if it is text";
                        return Err(Problem::at(span, message));
                    }
                }
                _ => mapping.push(Entry { key, key_span, value: built.node }),
            },
            (Value::Sequence(items), _) => items.push(built.node),
            _ => {}
        }
        Ok(())
    }

    fn check_depth(&self, more: usize, span: Span) -> Result<(), Problem> {
        if self.open.len() + more > MAX_DEPTH {
            return Err(Problem::at(span, too_deep()));
        }
        Ok(())
    }

    fn spend(&mut self, nodes: usize, span: Span) -> Result<(), Problem> {
        self.nodes += nodes;
        if self.nodes > MAX_NODES {
            return Err(Problem::at(span, too_many()));
        }
        Ok(())
    }

    fn span(&self, range: Range) -> Span {
        let start = place(&range.start);
        let end = range.end.byte_offset().unwrap_or_default().max(start.start);
        // The blank lines after a block scalar are not part of it.
        let end = start.start + self.text[start.start..end].trim_end().len();
        Span { end, ..start }
    }

    fn not_yaml(&self, error: &ScanError, last: Span) -> Problem {
        let mut open = self.open.iter().rev().map(|open| open.node.span);
        let flow = open.find(|span| self.text[span.start..].starts_with(['[', '{']));
        mistakes::explained(self.text, error, place(error.marker()), &Before { last, flow })
    }
}

pub(super) fn too_deep() -> String {
    format!("this is nested more than {MAX_DEPTH} levels deep")
}

pub(super) fn too_many() -> String {
    format!("the document has more than {MAX_NODES} values or too much text, with each alias expanded")
}

pub(super) fn duplicate_key(key: &str, first: Span) -> String {
    let line = first.line;
    format!("the key `{}` is already in this mapping, on line {line}; remove or rename one", shortened(key))
}

/// Returns the empty place of a marker of the parser.
fn place(marker: &Marker) -> Span {
    let start = marker.byte_offset().unwrap_or_default();
    Span { start, end: start, line: marker.line(), column: marker.col() + 1 }
}
