//! The edits of a text that make a [`Repair`], and those that rename something with everything that refers to it.

mod format;
mod parts;
mod rename;
mod uses;

use std::ops::Range;

use crate::openapi::{Kind, Model};
use crate::repair::Repair;
use crate::text::{Node, pointer};

pub use rename::renamed;
pub use uses::{Use, component, is_component, mapped, object_at, uses};

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
    let mut edits = match repair {
        Repair::Remove { at } => removed(model, at)?,
        Repair::Rename { at, to } => rename::at(model, at, to)?,
        Repair::Write { at, value } => vec![parts::write(text, root, at, value)?],
        Repair::Replace { at, key, value } => vec![parts::replace(text, root, at, (key, value))?],
        Repair::Add { at, key, value } => vec![parts::add(text, root.pointer(at)?, key, value)?],
        Repair::Together(repairs) => {
            repairs.iter().map(|repair| self::edits(model, repair)).collect::<Option<Vec<_>>>()?.concat()
        }
    };
    edits.sort_by_key(|edit| edit.range.start);
    edits.is_sorted_by(|one, other| one.range.end <= other.range.start).then_some(edits)
}

/// Returns a text after edits in the order of the text.
pub fn edited(text: &str, edits: &[Edit]) -> String {
    let mut edited = text.to_owned();
    edits.iter().rev().for_each(|edit| edited.replace_range(edit.range.clone(), &edit.text));
    edited
}

/// Removes an entry or an item, and the name of a removed property from `required` beside it.
fn removed(model: &Model<'_>, at: &str) -> Option<Vec<Edit>> {
    let (text, root) = (model.source(), model.root().node());
    let mut edits = vec![parts::remove(text, root, at)?];
    let property =
        object_at(model, at).filter(|it| it.kind() == Kind::Schema && it.keyword() == "properties");
    if let Some((property, schema)) = property.and_then(|property| Some((property, property.parent()?))) {
        let required = schema.get("required").map(Node::items).unwrap_or_default();
        if let Some(number) = required.iter().position(|name| name.as_str() == Some(property.name())) {
            let mut at = schema.pointer();
            pointer::push(&mut at, "required");
            // An empty list is not valid.
            if required.len() > 1 {
                pointer::push(&mut at, &number.to_string());
            }
            edits.push(parts::remove(text, root, &at)?);
        }
    }
    Some(edits)
}
