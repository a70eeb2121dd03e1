//! The change between two versions of a text. It translates offsets, so that what was found in one version has its place
//! in the other one.

use document::edits::{Edit, difference};

/// The ends, in the older and in the newer version, of the part in which they differ.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    old_end: usize,
    new_end: usize,
}

impl Change {
    /// Returns the change that makes one text of another.
    pub(crate) fn between(old: &str, new: &str) -> Self {
        if old == new {
            return Self { old_end: 0, new_end: 0 };
        }
        let Edit { range, text } = difference(old, new);
        // The lines that differ often end in the same way.
        let (old, new) = (old[range.clone()].bytes().rev(), text.bytes().rev());
        let same_end = old.zip(new).take_while(|(one, other)| one == other).count();
        Self { old_end: range.end - same_end, new_end: range.start + text.len() - same_end }
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
