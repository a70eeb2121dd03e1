//! The edits of a text that make a [`Repair`], and those that rename something with everything that refers to it.

mod format;
pub mod parts;
mod rename;
mod uses;

use std::ops::Range;

use crate::openapi::{Kind, Model};
use crate::repair::Repair;
use crate::text::{self, Node, pointer};

pub use uses::{Use, all_uses, is_component, uses};

/// The replacement of a part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The bytes to replace.
    pub range: Range<usize>,
    /// The new text.
    pub text: String,
}

/// Returns the edits of the text that make a repair, in the order of the text. They do not overlap. `None` if the place
/// does not exist, the new name exists already, or a place is written in a way that cannot be edited safely, such as an
/// alias.
pub fn edits(model: &Model<'_>, repair: &Repair) -> Option<Vec<Edit>> {
    let (text, root) = (model.source(), model.root().node());
    let edits = match repair {
        Repair::Remove { at } => removed(model, at)?,
        Repair::Rename { at, to } => rename::at(model, at, to)?,
        Repair::Write { at, value } => vec![parts::write(text, root, at, value)?],
        Repair::Add { at, key, value } => vec![parts::add(text, parts::owner(root, at)?, key, value)?],
    };
    finished(text, edits)
}

/// Returns a text as it is written in a document, in the place of `old`: with the same quotes, and with some if it needs
/// them.
pub fn written(text: &str, old: &str, new: &str) -> String {
    format::key_like(parts::sample(text, old), new)
}

/// Returns edits in the order of the text, with its line breaks. `None` if they overlap, or an alias would change.
fn finished(text: &str, mut edits: Vec<Edit>) -> Option<Vec<Edit>> {
    edits.sort_by_key(|edit| edit.range.start);
    let first_line = text.split_inclusive('\n').next();
    if first_line.is_some_and(|line| line.ends_with("\r\n")) {
        edits.iter_mut().for_each(|edit| edit.text = edit.text.replace('\n', "\r\n"));
    }
    let is_ordered = edits.is_sorted_by(|one, other| one.range.end <= other.range.start);
    (is_ordered && keeps_aliases(text, &edits)).then_some(edits)
}

/// Whether each alias has its anchor and its value after edits.
fn keeps_aliases(text: &str, edits: &[Edit]) -> bool {
    let is_outside = |it: char| it.is_whitespace() || "[]{},".contains(it);
    let is_used = |anchor: &str| text.split(is_outside).any(|word| word.strip_prefix('*') == Some(anchor));
    let is_value_of_alias = |edit: &Edit| {
        let before = text[..edit.range.start].trim_end().rsplit(is_outside).next();
        before.and_then(|word| word.strip_prefix('&')).is_some_and(is_used)
    };
    let removes_anchor = edits.iter().any(|edit| text[edit.range.clone()].contains('&'));
    !edits.iter().any(is_value_of_alias) && (!removes_anchor || text::read(&edited(text, edits)).is_ok())
}

/// Returns a text after edits in the order of the text.
pub fn edited(text: &str, edits: &[Edit]) -> String {
    let (mut edited, mut end) = (String::with_capacity(text.len()), 0);
    for edit in edits {
        edited.extend([&text[end..edit.range.start], &edit.text]);
        end = edit.range.end;
    }
    edited + &text[end..]
}

/// Removes an entry or an item, and the name of a removed property from `required` beside it.
fn removed(model: &Model<'_>, at: &str) -> Option<Vec<Edit>> {
    let (text, root) = (model.source(), model.root().node());
    let mut edits = vec![parts::remove(text, root, at)?];
    let property = model.object_at(at).filter(|it| it.kind() == Kind::Schema && it.keyword() == "properties");
    if let Some((property, schema)) = property.and_then(|property| Some((property, property.parent()?))) {
        let required = schema.get("required").map(Node::items).unwrap_or_default();
        if let Some(number) = required.iter().position(|name| name.as_str() == Some(property.name())) {
            let list = pointer::below(schema.pointer(), "required");
            // An empty list is not valid.
            let at = if required.len() > 1 { pointer::below(list, &number.to_string()) } else { list };
            edits.push(parts::remove(text, root, &at)?);
        }
    }
    Some(edits)
}
