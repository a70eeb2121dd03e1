//! Changes of a document that fix a finding, as data: what to change, by JSON pointer. The module `edits` computes the
//! edits of the text.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::text::{pointer, shortened};

/// A change that fixes a finding. A finding can have several, each of which is enough.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Repair {
    /// Remove an entry of a mapping or an item of a list.
    Remove {
        /// JSON pointer (RFC 6901) of its value.
        at: String,
    },
    /// Rename what is at a place, with everything that refers to it: the key of the place, or the name of a tag, of a
    /// parameter or of an operation that is its value.
    Rename {
        /// JSON pointer of the value.
        at: String,
        /// The new name.
        to: String,
    },
    /// Replace a value.
    Write {
        /// JSON pointer of the value.
        at: String,
        /// The new value.
        value: Value,
    },
    /// Add an entry to a mapping.
    Add {
        /// JSON pointer of the mapping.
        at: String,
        /// The key.
        key: String,
        /// The value.
        value: Value,
    },
}

impl Repair {
    /// Describes the change, in the imperative.
    pub fn title(&self) -> String {
        let last = |at: &str| {
            let token = pointer::tokens(at).and_then(Iterator::last);
            shortened(&token.unwrap_or_default())
        };
        match self {
            Self::Remove { at } => match last(at) {
                item if pointer::index(&item).is_some() => "Remove this item".to_owned(),
                key => format!("Remove `{key}`"),
            },
            Self::Rename { at, to } if is_name(at) => format!("Change `{}` to `{}`", last(at), shortened(to)),
            Self::Rename { at, to } => format!("Rename `{}` to `{}`", last(at), shortened(to)),
            // A description is too long for a title.
            Self::Write { at, value: Value::String(text) } if text.contains('\n') => {
                format!("Correct the text of `{}`", last(at))
            }
            Self::Write { at, value } => match last(at) {
                item if pointer::index(&item).is_some() => format!("Change this item to `{}`", shown(value)),
                key => format!("Change `{key}` to `{}`", shown(value)),
            },
            Self::Add { key, value, .. } => format!("Add `{key}: {}`", shown(value)),
        }
    }
}

/// Whether the value at a place is the name: that of an item of a list, or of an operation.
fn is_name(at: &str) -> bool {
    let mut tokens = at.rsplit('/');
    let last = tokens.next();
    last == Some("operationId") || tokens.next().is_some_and(|owner| pointer::index(owner).is_some())
}

fn shown(value: &Value) -> String {
    shortened(&value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}
