//! The open transaction of a batch of writes.

use std::cell::RefCell;
use std::ops::Deref;

use rusqlite::{CachedStatement, Connection, Statement};

/// What a write can use: the connection, and the statements that many writes run. A batch takes each from the cache of
/// rusqlite once (xtask/RECORDS.md, "What made requests cheaper", statements taken once for a batch).
pub(super) struct Batch<'c> {
    connection: &'c Connection,
    statements: RefCell<Vec<(&'static str, CachedStatement<'c>)>>,
}

impl<'c> Batch<'c> {
    /// Starts a batch without statements. The caller begins and ends the transaction.
    pub(super) fn new(connection: &'c Connection) -> Self {
        Self { connection, statements: RefCell::default() }
    }

    /// Runs `work` with a prepared statement.
    pub(super) fn with<T>(
        &self,
        sql: &'static str,
        work: impl FnOnce(&mut Statement<'c>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        let mut statement = match self.take(sql) {
            Some(statement) => statement,
            None => self.connection.prepare_cached(sql)?,
        };
        let result = work(&mut statement);
        self.statements.borrow_mut().push((sql, statement));
        result
    }

    /// Takes the statement out, so that `work` may use others.
    fn take(&self, sql: &str) -> Option<CachedStatement<'c>> {
        let mut statements = self.statements.borrow_mut();
        let index = statements.iter().position(|(prepared, _)| *prepared == sql)?;
        Some(statements.swap_remove(index).1)
    }
}

impl Deref for Batch<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection
    }
}

/// Executes a statement without parameters.
pub(super) fn execute(connection: &Connection, statement: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(statement)?.execute([]).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_can_be_run_again_after_an_error_and_within_itself() {
        const INSERT: &str = "INSERT INTO some VALUES (?1)";
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE TABLE some (thing INTEGER PRIMARY KEY)").unwrap();
        let batch = Batch::new(&connection);
        let insert = |thing: i64| batch.with(INSERT, |insert| insert.execute([thing]));
        assert_eq!(insert(1), Ok(1));
        assert!(insert(1).is_err());
        assert_eq!(batch.with(INSERT, |outer| Ok(insert(2)? + outer.execute([3])?)), Ok(2));
        let things = |all: &mut Statement<'_>| all.query_map([], |row| row.get(0))?.collect();
        let things: Vec<i64> = batch.with("SELECT thing FROM some ORDER BY thing", things).unwrap();
        assert_eq!(things, [1, 2, 3]);
    }
}
