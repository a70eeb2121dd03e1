//! Settings that had another name in an earlier release: the old name works and causes a warning.

use figment::error::Result;
use figment::value::{Dict, Map, Value};
use figment::{Figment, Metadata, Profile, Provider};

/// The table, the old name and the new name of each setting.
pub(super) const RENAMED: [(&str, &str, &str); 1] = [("connections", "read_timeout", "send_timeout")];

/// A source whose settings get their new names. A new name in the same source is stronger.
pub(super) struct Renamed<P>(pub(super) P);

impl<P: Provider> Provider for Renamed<P> {
    fn metadata(&self) -> Metadata {
        self.0.metadata()
    }

    fn data(&self) -> Result<Map<Profile, Dict>> {
        let mut data = self.0.data()?;
        for settings in data.values_mut() {
            for (table, old, new) in RENAMED {
                let Some(Value::Dict(_, table)) = settings.get_mut(table) else { continue };
                if let Some(value) = table.remove(old) {
                    table.entry(new.to_owned()).or_insert(value);
                }
            }
        }
        Ok(data)
    }
}

/// Returns the warnings about old names in a source; `place` returns the place of a setting in it.
pub(super) fn warnings(source: &impl Provider, place: impl Fn(&[&str]) -> String) -> Vec<String> {
    let settings = Figment::from(source);
    let used = RENAMED.into_iter().filter(|(table, old, _)| settings.contains(&format!("{table}.{old}")));
    used.map(|(table, old, new)| {
        format!("{}: the setting is called `{table}.{new}` now; rename it", place(&[table, old]))
    })
    .collect()
}
