//! Opening a database file: a connection checks it before it writes anything.
//!
//! All checks read through SQLite, so with its locks and with the WAL, which may contain a newer header than the file.
//! Closing the connection does not copy the WAL into the file until they have succeeded. Files of other programs, newer
//! and damaged ones, and those with another schema stay as they are; only what a crash interrupted is rolled back, as by
//! each reader of the file.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use futures::executor::block_on;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, Error, ErrorCode};
use rustix::fs::{Access, access};
use slog::info;

use super::connection::{connect, set_up_exclusive, set_up_writing};
use super::engine::Sqlite;
use super::error::OpenFailure;
use super::file::{self, DatabaseFile};
use super::schema::{self, APPLICATION_ID, NEWEST, find_secret, migrate, newer_program, version};
use super::users;
use super::writer::Writer;
use crate::storage::options::{Migrate, OpenError, StoreOptions, new_secret, newer_release};
use crate::storage::queue::Batches;

/// The length of a search for damage at start: the pages of tables and indexes, and the instructions of SQLite for their
/// rows. A million animals must be open within 200 ms: "Memory and start-up time" in xtask/dist/README.md.
pub(super) const AT_START: i32 = 8_000;
/// Searches the whole database.
pub(super) const ALL: i32 = 0;

const EMPTY: &str = "is empty or incomplete; choose another file";

/// Opens the store in the file `path`, and creates it if the file is missing or empty. Starts the thread that writes, and
/// returns the engine and the secret of the store.
///
/// # Errors
/// One line that names the file and says what to do, when this program cannot use the file. The file is
/// then unchanged.
pub(in crate::storage) fn open(
    path: &Path,
    options: &StoreOptions,
    mut batches: Batches,
) -> Result<(Sqlite, [u8; 32]), OpenError> {
    let opened = open_or_create(path, options);
    let (file, connection, secret) = opened.map_err(|failure| OpenError::of_file(path, failure))?;
    let file = Arc::new(file);
    let engine = Sqlite::open(file.clone(), options)?;
    let mut writer = Writer::new(connection, file, options);
    thread::Builder::new()
        .name("sqlite-writer".to_owned())
        .spawn(move || {
            block_on(batches.commit_with(&mut writer));
            // Before the queue, whose end completes `close`.
            writer.close();
            drop(batches);
        })
        .map_err(|error| OpenError::Unsuitable(format!("cannot start the thread that writes: {error}")))?;
    Ok((engine, secret))
}

/// Checks that there is a file at `path`, or a directory in which it can be created. The error is one line.
pub(in crate::storage) fn check_path(path: &Path) -> Result<(), OpenError> {
    let check = || match file::find(path)? {
        None => Ok(file::directory(path).metadata().map(drop)?),
        Some(_) => Ok(()),
    };
    check().map_err(|failure: OpenFailure| OpenError::of_file(path, failure))
}

/// Opens the database at `path`, which has all migrations up to `oldest`, and sets the connection up with `set_up`. The error
/// is one line.
pub(super) fn open_existing(
    path: &Path,
    oldest: i32,
    search: i32,
    set_up: impl FnOnce(&Connection) -> rusqlite::Result<()>,
) -> Result<Connection, OpenError> {
    let opened = file::find_existing(path).and_then(|found| open_checked(&found, oldest, search, set_up));
    opened.map(|(connection, _)| connection).map_err(|failure| OpenError::of_file(path, failure))
}

/// Opens the database at `path` to copy it, and locks it against all other connections. The error is one line.
pub(in crate::storage) fn open_source(path: &Path, lock_timeout: Duration) -> Result<Connection, OpenError> {
    open_existing(path, NEWEST, AT_START, |it| set_up_exclusive(it, lock_timeout))
}

fn open_or_create(
    path: &Path,
    options: &StoreOptions,
) -> Result<(DatabaseFile, Connection, [u8; 32]), OpenFailure> {
    let lock_timeout = options.lock_timeout;
    // An absolute path is never `:memory:` or `file:...`, which SQLite interprets.
    let given = std::path::absolute(path)?;
    let oldest = match options.migrate {
        Migrate::Apply => 0,
        Migrate::Never => NEWEST,
    };
    if oldest == 0 && file::find(&given)?.is_none_or(|found| file::length(&found) == 0) {
        file::create(&given)?;
    }
    let found = file::find_existing(&given)?;
    let mut file = DatabaseFile::at(given)?;
    let (mut connection, version) =
        open_checked(&found, oldest, AT_START, |it| set_up_writing(it, lock_timeout))?;
    // The file that was found is the one that was opened.
    file.check()?;
    if options.migrate == Migrate::Apply {
        migrate(&mut connection, options.version)?;
        if (1..NEWEST).contains(&version) {
            info!(options.log, "upgraded the database"; "to" => NEWEST, "from" => version);
        }
        enable_wal(&connection, lock_timeout)?;
        create_secret(&connection)?;
        file.add_wal(&found)?;
    }
    let secret = find_secret(&connection)?.ok_or(EMPTY)?;
    Ok((file, connection, secret))
}

/// Opens the file at `path`, and checks that it is a database of this program with all migrations up to `oldest`. Returns
/// the number of its last migration, 0 if it is empty.
fn open_checked(
    path: &Path,
    oldest: i32,
    search: i32,
    set_up: impl FnOnce(&Connection) -> rusqlite::Result<()>,
) -> Result<(Connection, i32), OpenFailure> {
    // Without the permission to write, SQLite would read the file, and create a WAL that cannot be written either.
    access(path, Access::READ_OK | Access::WRITE_OK).map_err(io::Error::from)?;
    users::check(path)?;
    let mut connection = connect(path)?;
    // An empty WAL is removed with the connection that created it.
    let keep_wal = file::length(&file::wal(path)) > 0;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keep_wal)?;
    set_up(&connection)?;
    // One snapshot, because another process may migrate the file.
    let snapshot = connection.unchecked_transaction()?;
    let version = check_format(&snapshot, path)?;
    schema::check(&snapshot, version)?;
    snapshot.commit()?;
    check_damage(&mut connection, search)?;
    if version == 0 && oldest > 0 {
        return Err(EMPTY.into());
    }
    if version < oldest {
        return Err(OpenFailure(format!(
            "has the format {version} of an older release, which this command does not change to format {NEWEST}; make a \
             copy with `animal-store backup FILE`, then upgrade the database with `animal-store serve`"
        )));
    }
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    Ok((connection, version))
}

/// Rejects a database of another program or of a newer release, and a truncated one. Returns the number of its last
/// migration, 0 if it is empty.
fn check_format(connection: &Connection, path: &Path) -> Result<i32, OpenFailure> {
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    let size =
        u64::from(pragma("page_count")?.unsigned_abs()) * u64::from(pragma("page_size")?.unsigned_abs());
    if size == 0 {
        return Ok(0);
    }
    if pragma("application_id")? != APPLICATION_ID {
        return Err("is an SQLite database of another program; choose another path".into());
    }
    let version = version(connection)?;
    if version > NEWEST {
        let release = newer_release(newer_program(connection).as_deref());
        return Err(OpenFailure(format!(
            "was written by a newer release of this program (format {version}, this one knows up to {NEWEST}); use {release}"
        )));
    }
    if version < 1 {
        return Err(OpenFailure::damaged(format!("its format is {version}")));
    }
    // The WAL first: a checkpoint of another process moves pages from there to the file.
    let found = file::length(&file::wal(path)) + file::length(path);
    if found < size {
        return Err(OpenFailure::damaged(format!("it has only {found} of {size} bytes")));
    }
    Ok(version)
}

fn check_damage(connection: &mut Connection, search: i32) -> Result<(), OpenFailure> {
    connection.progress_handler(search, Some(|| true))?;
    let found: rusqlite::Result<String> = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0));
    connection.progress_handler(0, None::<fn() -> bool>)?;
    match found {
        Ok(found) if found == "ok" => Ok(()),
        Ok(damage) => Err(OpenFailure::damaged(damage.replace('\n', " "))),
        // The end of the search.
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Changes to write-ahead logging. The change needs an exclusive lock, for which SQLite does not always wait.
fn enable_wal(connection: &Connection, lock_timeout: Duration) -> Result<(), OpenFailure> {
    let start = Instant::now();
    loop {
        let mode: Result<String, Error> =
            connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0));
        match mode {
            Ok(mode) if mode == "wal" => return Ok(()),
            Ok(_) => return Err("is on a file system without shared memory; move it to a local disk".into()),
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && start.elapsed() < lock_timeout =>
            {
                thread::sleep(Duration::from_millis(1));
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Stores the secret of the store, unless there is one.
fn create_secret(connection: &Connection) -> Result<(), OpenFailure> {
    if find_secret(connection)?.is_none() {
        let secret = new_secret().map_err(|why| OpenFailure(format!("cannot be used: {why}")))?;
        // Another process may have stored its secret first; then that one is used.
        connection.execute("INSERT OR IGNORE INTO secret (only, bytes) VALUES (1, ?1)", [secret])?;
    }
    Ok(())
}
