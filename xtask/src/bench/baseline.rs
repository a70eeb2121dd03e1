//! The committed table of instructions, and what became worse.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use launcher::workspace::in_file;
use serde::{Deserialize, Serialize};

/// The ratio of a figure to the committed one above which it is worse.
const LIMIT: f64 = 1.02;

/// The figures of one request to one server that mostly repeat within 2%.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figures {
    /// Instructions in user mode per request.
    pub user: f64,
    /// Allocations per request.
    pub allocations: f64,
}

/// The figures by server and request.
pub type Table = BTreeMap<String, Figures>;

/// What differs from the committed table.
#[derive(Debug, PartialEq, Eq, Default)]
pub struct Difference {
    /// One message for each figure that became worse by more than 2%.
    pub worse: Vec<String>,
    /// One message for each row that only one of the tables has.
    pub missing: Vec<String>,
}

/// Compares measured figures with the committed ones.
pub fn compare(committed: &Table, measured: &Table) -> Difference {
    let mut difference = Difference::default();
    for (row, new) in measured {
        let Some(old) = committed.get(row) else {
            difference.missing.push(format!("{row}: was measured, but is not in the committed table"));
            continue;
        };
        let figures =
            [("user instructions", old.user, new.user), ("allocations", old.allocations, new.allocations)];
        for (what, old, new) in figures.into_iter().filter(|(_, old, new)| *new > old * LIMIT) {
            let percent = (new / old - 1.0) * 100.0;
            difference.worse.push(format!("{row}: {new} {what} instead of {old}, {percent:.1}% more"));
        }
    }
    let gone = committed.keys().filter(|row| !measured.contains_key(*row));
    difference.missing.extend(gone.map(|row| format!("{row}: in the committed table, but was not measured")));
    difference
}

/// Reads a table.
///
/// # Errors
/// A message, if the file cannot be read.
pub fn read(file: &Path) -> Result<Table, String> {
    let text = fs::read_to_string(file).map_err(in_file(file))?;
    toml::from_str(&text).map_err(in_file(file))
}

/// Writes a table.
///
/// # Errors
/// A message, if the file cannot be written.
pub fn write(file: &Path, table: &Table) -> Result<(), String> {
    let text = toml::to_string(table).map_err(in_file(file))?;
    let head = "# Written by `cargo xtask bench instructions --update`; per request.\n\n";
    fs::write(file, format!("{head}{text}")).map_err(in_file(file))
}
