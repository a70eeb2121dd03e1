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
        let named = |at: &str| {
            let token = pointer::tokens(at).and_then(Iterator::last).unwrap_or_default();
            pointer::index(&token)
                .map_or_else(|| format!("`{}`", shortened(&token)), |_| "this item".to_owned())
        };
        let shown =
            |value: &Value| shortened(&value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        match self {
            Self::Remove { at } => format!("Remove {}", named(at)),
            Self::Rename { at, to } => format!("Change {} to `{}`", named(at), shortened(to)),
            // A description is too long for a title.
            Self::Write { at, value: Value::String(text) } if text.contains('\n') => {
                format!("Correct the text of {}", named(at))
            }
            Self::Write { at, value } => format!("Change {} to `{}`", named(at), shown(value)),
            Self::Add { key, value, .. } => format!("Add `{key}: {}`", shown(value)),
        }
    }
}
