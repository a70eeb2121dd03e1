//! A large OpenAPI document: this repository's own, with its paths and schemas repeated under other names.

use contract::document::{Document, Node, Span};

/// The text of `document` with `copies` times its paths and schemas. Copies have a number at the end of each
/// path, operationId and schema name.
pub(super) fn repeated(document: &Document, copies: usize) -> String {
    let blocks = ["/paths", "/components/schemas"].map(|pointer| Block::of(document, pointer));
    let mut text = String::new();
    let mut from = 0;
    for block in blocks.into_iter().flatten() {
        text.push_str(&document.text[from..block.end]);
        for copy in 1..copies {
            text.push('\n');
            block.append(document, copy, &mut text);
        }
        from = block.end;
    }
    text + &document.text[from..]
}

/// The entries of a mapping in block style.
struct Block {
    start: usize,
    end: usize,
    /// Where the number goes, in ascending order.
    names: Vec<usize>,
}

impl Block {
    fn of(document: &Document, pointer: &str) -> Option<Self> {
        let node = document.root.pointer(pointer)?;
        let first = node.entries().first()?.key_span;
        let mut names: Vec<usize> =
            node.entries().iter().map(|entry| name_end(document, entry.key_span)).collect();
        references_and_ids(document, node, &mut names);
        names.sort_unstable();
        let line = document.text[..first.start].rfind('\n').map_or(0, |newline| newline + 1);
        Some(Self { start: line, end: node.span.end, names })
    }

    fn append(&self, document: &Document, copy: usize, text: &mut String) {
        let mut from = self.start;
        for name in &self.names {
            text.push_str(&document.text[from..*name]);
            text.push_str(&copy.to_string());
            from = *name;
        }
        text.push_str(&document.text[from..self.end]);
    }
}

/// Adds the ends of the operationIds and of the references to schemas at and below a node.
fn references_and_ids(document: &Document, node: &Node, names: &mut Vec<usize>) {
    for entry in node.entries() {
        let to_schema = |value: &str| value.starts_with("#/components/schemas/");
        match (entry.key.as_str(), entry.value.as_str()) {
            ("operationId", Some(_)) => names.push(name_end(document, entry.value.span)),
            ("$ref", Some(value)) if to_schema(value) => names.push(name_end(document, entry.value.span)),
            _ => references_and_ids(document, &entry.value, names),
        }
    }
    node.items().iter().for_each(|item| references_and_ids(document, item, names));
}

/// The end of a scalar, inside its quotes.
fn name_end(document: &Document, span: Span) -> usize {
    span.end - usize::from(document.text[..span.end].ends_with(['\'', '"']))
}
