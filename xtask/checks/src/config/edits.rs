//! The edits of a configuration that make a repair. JSON pointers lead to the entries of TOML like to those of the same data
//! in JSON.

use serde_json::Value as Json;
use toml_edit::{Document, DocumentMut, Item};

use document::edits::{Edit, difference};
use document::pointer;
use document::repair::Repair;

/// Returns the edits of the text of a configuration that make a repair. `None` if the place does not exist, or the repair
/// is of another kind than those of a configuration: to remove an entry, to rename a key, to write a string.
pub fn edits(text: &str, repair: &Repair) -> Option<Vec<Edit>> {
    let edit = match repair {
        Repair::Remove { at } => without(text, at)?,
        Repair::Rename { at, to } => {
            let document = Document::parse(text).ok()?;
            let (owner, key) = at.rsplit_once('/')?;
            let key = pointer::tokens(&format!("/{key}"))?.last()?.into_owned();
            let table = at_pointer(document.as_item(), owner)?.as_table_like()?;
            if table.contains_key(to) {
                return None;
            }
            let (key, _) = table.get_key_value(&key)?;
            Edit { range: key.span()?, text: quoted(to) }
        }
        Repair::Write { at, value: Json::String(value) } => {
            let document = Document::parse(text).ok()?;
            Edit { range: at_pointer(document.as_item(), at)?.span()?, text: quoted(value) }
        }
        _ => return None,
    };
    Some(vec![edit])
}

fn at_pointer<'i>(root: &'i Item, at: &str) -> Option<&'i Item> {
    pointer::tokens(at)?.try_fold(root, |item, token| match pointer::index(&token) {
        Some(number) => item.get(number),
        None => item.get(&*token),
    })
}

/// Removes an entry of a list, with the comments directly above it.
fn without(text: &str, at: &str) -> Option<Edit> {
    let mut document: DocumentMut = text.parse().ok()?;
    let tokens: Vec<_> = pointer::tokens(at)?.collect();
    let [list, number] = &tokens[..] else { return None };
    let (list, number) = (document.get_mut(list)?, pointer::index(number)?);
    if let Some(tables) = list.as_array_of_tables_mut() {
        (number < tables.len()).then(|| tables.remove(number))?;
    } else {
        let items = list.as_array_mut()?;
        (number < items.len()).then(|| items.remove(number))?;
    }
    let mut new = document.to_string();
    if text.contains("\r\n") {
        new = new.replace("\r\n", "\n").replace('\n', "\r\n");
    }
    Some(difference(text, &new))
}

/// Formats a basic string, which is also a key.
fn quoted(text: &str) -> String {
    Json::from(text).to_string()
}
