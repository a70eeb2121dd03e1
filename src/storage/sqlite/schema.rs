//! Compares the schema of a file with that of the migrations.
//!
//! A file may come from elsewhere, such as a backup, and its header proves nothing. A trigger could undo a revocation; a
//! missing table would fail requests. Tables and indexes that are added, for example by a tool for replication, have no
//! effect and are accepted.

use rusqlite::{Connection, OptionalExtension};

use super::migrations::apply;

/// The tables and indexes. Those that SQLite makes itself have no statement.
const OBJECTS: &str = "SELECT type, name, sql FROM sqlite_schema WHERE type IN ('table', 'index') AND sql IS NOT NULL \
     AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY type DESC, name";

const STATEMENT: &str = "SELECT sql FROM sqlite_schema WHERE type = ?1 AND name = ?2";

const TRIGGER: &str = "SELECT name FROM sqlite_schema WHERE type = 'trigger' ORDER BY name LIMIT 1";

/// Returns how the schema of a database differs from that of the migration with the number `version`, as the end of a
/// sentence; `None` if all that this program uses is as it made it.
pub(super) fn difference(connection: &Connection, version: i32) -> rusqlite::Result<Option<String>> {
    let trigger: Option<String> = connection.query_row(TRIGGER, [], |row| row.get(0)).optional()?;
    if let Some(name) = trigger {
        return Ok(Some(format!("has a trigger `{name}`")));
    }
    let expected = Connection::open_in_memory()?;
    apply(&expected, version)?;
    let mut objects = expected.prepare(OBJECTS)?;
    let mut objects = objects.query([])?;
    let mut statement = connection.prepare(STATEMENT)?;
    while let Some(object) = objects.next()? {
        let (kind, name, sql): (String, String, String) = (object.get(0)?, object.get(1)?, object.get(2)?);
        let found: Option<String> = statement.query_row([&kind, &name], |row| row.get(0)).optional()?;
        match found {
            Some(found) if found == sql => {}
            Some(_) => return Ok(Some(format!("has another {kind} `{name}`"))),
            None => return Ok(Some(format!("has no {kind} `{name}`"))),
        }
    }
    Ok(None)
}
