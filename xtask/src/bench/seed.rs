//! Stores with many animals, made by the databases themselves: over HTTP, ten million would take minutes.
//!
//! Animals are as long as one another, and as many are sold however many there are, so that a request asks
//! for as much of a large store as of a small one.

use std::path::Path;

use rusqlite::Connection;

/// How many animals are sold. The others are available, pending, or of no status, a third each.
const SOLD: u64 = 40;

/// Adds animals with the identifiers from 1 to `count` to a store that has none.
pub(super) fn sqlite(path: &Path, count: u64) -> Result<(), String> {
    let fill = || {
        let connection = Connection::open(path)?;
        let statement = format!(
            "WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < {count})
             INSERT INTO animal (id, name, category_id, status)
             SELECT n, printf('Animal %08d', n), n % 50, {} FROM number",
            status(count)
        );
        connection.execute(&statement, [])?;
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
    };
    fill().map_err(|error: rusqlite::Error| format!("{}: {error}", path.display()))
}

/// The same for PostgreSQL, as statements.
pub(super) fn postgres(count: u64) -> Vec<String> {
    let insert = format!(
        "INSERT INTO animal (id, name, category_id, status)
         SELECT n, 'Animal ' || lpad(n::text, 8, '0'), n % 50, {} FROM generate_series(1, {count}) AS n",
        status(count)
    );
    let after = format!("SELECT setval('animal_id', {count})");
    vec![insert, after, "VACUUM ANALYZE animal".to_owned(), "CHECKPOINT".to_owned()]
}

fn status(count: u64) -> String {
    let every = (count / SOLD).max(1);
    format!(
        "CASE WHEN n % {every} = {every} / 2 THEN 'sold'
              ELSE CASE n % 3 WHEN 0 THEN 'available' WHEN 1 THEN 'pending' END END"
    )
}
