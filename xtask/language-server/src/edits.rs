//! The edits between two versions of a text. They translate offsets of the newest tree to the text in the editor.

use document::Span;
use document::finding::Finding;

/// One replaced part: `start..old_end` before the edit, `start..new_end` after it.
#[derive(Clone, Copy, Debug)]
struct Edit {
    start: usize,
    old_end: usize,
    new_end: usize,
}

/// The edits from an older text to a newer one, in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Edits(Vec<Edit>);

/// The number of edits from which they are merged into one, so that a translation stays cheap.
const MAX_EDITS: usize = 64;

impl Edits {
    /// Adds the replacement of `start..old_end` by a text of `length` bytes.
    pub(crate) fn push(&mut self, start: usize, old_end: usize, length: usize) {
        let edit = Edit { start, old_end, new_end: start + length };
        match self.0.last_mut() {
            // Typing extends the last edit.
            Some(last) if last.start <= edit.start && edit.old_end <= last.new_end => *last = last.then(edit),
            _ => self.0.push(edit),
        }
        if self.0.len() > MAX_EDITS {
            let merged = self.0.drain(..).reduce(Edit::then);
            self.0.extend(merged);
        }
    }

    /// Whether both texts are the same version.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds later edits.
    pub(crate) fn extend(&mut self, later: &Self) {
        later.0.iter().for_each(|edit| self.push(edit.start, edit.old_end, edit.new_end - edit.start));
    }

    /// Returns the offset in the older text. An offset inside a replaced part becomes the beginning of that part.
    pub(crate) fn back(&self, offset: usize) -> usize {
        self.0.iter().rev().fold(offset, |offset, edit| match offset {
            _ if offset >= edit.new_end => offset - edit.new_end + edit.old_end,
            _ => offset.min(edit.start),
        })
    }

    /// Returns the offset in the newer text. An offset inside a replaced part becomes the end of that part.
    pub(crate) fn forward(&self, offset: usize) -> usize {
        self.0.iter().fold(offset, |offset, edit| match offset {
            _ if offset >= edit.old_end => offset - edit.old_end + edit.new_end,
            _ if offset > edit.start => edit.new_end,
            _ => offset,
        })
    }

    /// Moves a finding in the older text to its place in the newer one.
    pub(crate) fn apply(&self, finding: &mut Finding) {
        let Span { start, end, .. } = &mut finding.span;
        (*start, *end) = (self.forward(*start), self.forward(*end));
    }
}

impl Edit {
    /// Returns one edit that replaces everything that this edit and a later one replace.
    fn then(self, later: Self) -> Self {
        // The end of the changed part in the text between the two edits.
        let end = self.new_end.max(later.old_end);
        Self {
            start: self.start.min(later.start),
            old_end: end - self.new_end + self.old_end,
            new_end: end - later.old_end + later.new_end,
        }
    }
}
