//! Texts and positions: converts between offsets in bytes and the lines and columns of the protocol, which are in UTF-16,
//! and between the offsets of two versions of a text.

use std::ops::Range;

use line_index::{LineCol, LineIndex, TextSize, WideEncoding, WideLineCol};
use lsp_types::{Position, TextDocumentContentChangeEvent};

/// A text with an index of its lines.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    string: String,
    index: LineIndex,
}

impl Text {
    /// Indexes a text.
    pub(crate) fn new(string: String) -> Self {
        let index = LineIndex::new(&string);
        Self { string, index }
    }

    /// The characters.
    pub(crate) fn as_str(&self) -> &str {
        &self.string
    }

    /// Returns the offset of a position. A position after the end of its line or of the text is limited to that end,
    /// and one inside a character to the beginning of the character.
    pub(crate) fn offset(&self, position: Position) -> usize {
        let Some(line) = self.index.line(position.line) else { return self.string.len() };
        let (start, end) = (usize::from(line.start()), usize::from(line.end()));
        let content = self.string[start..end].trim_end_matches('\n');
        let length = content.strip_suffix('\r').unwrap_or(content).len();
        let wide = WideLineCol { line: position.line, col: position.character };
        let column = self.index.to_utf8(WideEncoding::Utf16, wide);
        let column = column.map_or(length, |place| length.min(place.col as usize));
        self.string.floor_char_boundary(start + column)
    }

    /// Returns the position of an offset, limited to the text.
    pub(crate) fn position(&self, offset: usize) -> Position {
        let offset = self.string.floor_char_boundary(offset.min(self.string.len()));
        // No editor sends a text that exceeds the type.
        let size = TextSize::try_from(offset).unwrap_or_default();
        let place = self.index.try_line_col(size).unwrap_or(LineCol { line: 0, col: 0 });
        let character = self.index.to_wide(WideEncoding::Utf16, place).map_or(0, |wide| wide.col);
        Position { line: place.line, character }
    }

    /// Returns the range of bytes as positions.
    pub(crate) fn range(&self, bytes: Range<usize>) -> lsp_types::Range {
        let end = bytes.end.max(bytes.start);
        lsp_types::Range { start: self.position(bytes.start), end: self.position(end) }
    }

    /// Applies the changes of a notification in their order.
    pub(crate) fn apply(&mut self, changes: Vec<TextDocumentContentChangeEvent>) {
        // The index is valid up to this line. Editors send changes from the last to the first, so that the index of
        // the whole text is computed once.
        let mut valid = u32::MAX;
        for change in changes {
            let Some(range) = change.range else {
                *self = Self::new(change.text);
                valid = u32::MAX;
                continue;
            };
            if valid <= range.end.line.max(range.start.line) {
                self.index = LineIndex::new(&self.string);
            }
            valid = range.start.line.min(range.end.line);
            let start = self.offset(range.start);
            let end = self.offset(range.end).max(start);
            self.string.replace_range(start..end, &change.text);
        }
        if valid != u32::MAX {
            self.index = LineIndex::new(&self.string);
        }
    }
}

/// The ends, in the older and in the newer version, of the part in which they differ.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    old_end: usize,
    new_end: usize,
}

impl Change {
    /// Returns the change that makes one text of another.
    pub(crate) fn between(old: &str, new: &str) -> Self {
        let is_same = |(one, other): &(u8, u8)| one == other;
        let start = old.bytes().zip(new.bytes()).take_while(is_same).count();
        let ends = old.bytes().skip(start).rev().zip(new.bytes().skip(start).rev());
        let end = ends.take_while(is_same).count();
        Self { old_end: old.len() - end, new_end: new.len() - end }
    }

    /// Returns the offset in the newer text. An offset in the part that differs keeps its distance from the beginning.
    pub(crate) fn forward(self, offset: usize) -> usize {
        if offset >= self.old_end { offset - self.old_end + self.new_end } else { offset.min(self.new_end) }
    }

    /// Returns the offset in the older text.
    pub(crate) fn back(self, offset: usize) -> usize {
        Self { old_end: self.new_end, new_end: self.old_end }.forward(offset)
    }
}
