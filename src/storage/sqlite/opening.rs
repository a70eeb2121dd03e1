//! Opening a database file: inspects it before anything is written.
//!
//! The first check uses an immutable connection of SQLite: it takes no lock, creates no file and cannot
//! write. It rejects files that are not SQLite databases, those of another program and newer ones. Reading
//! the header with `std::fs` would drop every POSIX lock that this process has on the file, when the file is
//! closed.
//!
//! The second check takes locks and reads the WAL, which may contain a newer header. It repeats the first
//! check and searches for damage. Until it succeeds, closing does not checkpoint the WAL. Only then is the
//! file written: migrations, then the change to write-ahead logging. In this order, a file with animals
//! always has the application identifier in its header.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use percent_encoding::{NON_ALPHANUMERIC, percent_encode};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, Error, ErrorCode, OpenFlags};
use rustix::fs::Access;
use rustix::io::Errno;
use slog::info;

use super::file::DatabaseFile;
use super::migrations::{APPLICATION_ID, NEWEST, find_secret, migrate, newer_program, version};
use super::open_failure::OpenFailure;
use super::{connection, schema};
use crate::storage::options::{Migrate, OpenError, StoreOptions, new_secret, newer_release};

/// The time limit of the search for damage. A million animals must be open within 200 ms.
const CHECK_TIME: Duration = Duration::from_millis(80);
/// The size of the header of an SQLite file. SQLite also accepts shorter files.
const HEADER_BYTES: u64 = 100;
/// The number of steps of the search between two time checks. A step reads at most a page.
const CHECK_STEPS: i32 = 10;
/// The number of time checks that always pass, so that a small file is searched completely on a busy machine
/// too.
const MIN_TIME_CHECKS: u32 = 100;

/// An open database.
pub(super) struct Opened {
    /// A connection for writing.
    pub(super) connection: Connection,
    pub(super) file: DatabaseFile,
    pub(super) secret: [u8; 32],
}

/// Opens or creates the database at `path`. The error is one line.
pub(super) fn open(path: &Path, options: &StoreOptions) -> Result<Opened, OpenError> {
    inspect_and_open(path, options).map_err(|failure| OpenError::of_file(path, failure))
}

/// Checks that there is a file at `path`, or a directory in which it can be created. The error is one line.
pub(in crate::storage) fn check_path(path: &Path) -> Result<(), OpenError> {
    let found = match find(path) {
        Ok(None) if !directory(path).is_dir() => Err(OpenFailure::NoDirectory),
        found => found,
    };
    found.map(drop).map_err(|failure| OpenError::of_file(path, failure))
}

/// Opens the database at `path`, which must be complete, with `connect`. The error is one line.
pub(super) fn open_existing(
    path: &Path,
    connect: impl Fn(&Path) -> Result<Connection, Error>,
) -> Result<Connection, OpenError> {
    let open = || {
        let path = find(path)?.ok_or(OpenFailure::Missing)?;
        check_immutable(&path)?;
        check_writable(&path)?;
        let connection = connect(&path)?;
        check_format(&connection)?;
        check_schema(&connection)?;
        Ok(connection)
    };
    open().map_err(|failure: OpenFailure| OpenError::of_file(path, failure))
}

/// Opens the database at `path` to copy it, and locks it against all other connections. The error is one line.
pub(in crate::storage) fn open_source(path: &Path, lock_timeout: Duration) -> Result<Connection, OpenError> {
    let connection = open_existing(path, |path| connection::open_exclusively(path, lock_timeout))?;
    let newest = match version(&connection) {
        Ok(NEWEST) => Ok(connection),
        Ok(older) => Err(OpenFailure::Older(older)),
        Err(error) => Err(error.into()),
    };
    newest.map_err(|failure| OpenError::of_file(path, failure))
}

fn inspect_and_open(path: &Path, options: &StoreOptions) -> Result<Opened, OpenFailure> {
    let lock_timeout = options.lock_timeout;
    // An absolute path is never `:memory:` or `file:...`, which SQLite interprets.
    let given = std::path::absolute(path).map_err(OpenFailure::Forbidden)?;
    let path = match options.migrate {
        Migrate::Apply => find_or_create(&given)?,
        Migrate::Never => find(&given)?.ok_or(OpenFailure::Missing)?,
    };
    let file = DatabaseFile::at(given).map_err(OpenFailure::Forbidden)?;
    check_immutable(&path)?;
    check_writable(&path)?;

    let wal = beside(&path, "-wal");
    let mut connection = connection::open_for_writing(&path, lock_timeout)?;
    // The file that was found is the one that was opened.
    file.check()?;
    let keep_wal = length(&wal) > 0;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keep_wal)?;
    if connection.is_readonly("main")? {
        return Err(OpenFailure::NotWritable);
    }
    let pages: u32 = connection.pragma_query_value(None, "page_count", |row| row.get(0))?;
    if pages > 0 {
        check_format(&connection)?;
        check_length(&connection, pages, &path, &wal)?;
        check_damage(&mut connection)?;
        check_schema(&connection)?;
    }
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;

    let secret = match options.migrate {
        Migrate::Apply => {
            let before = version(&connection)?;
            migrate(&mut connection, options.version)?;
            if (1..NEWEST).contains(&before) {
                info!(options.log, "upgraded the database"; "to" => NEWEST, "from" => before);
            }
            enable_wal(&connection, lock_timeout)?;
            find_or_create_secret(&connection)?
        }
        Migrate::Never => match version(&connection)? {
            0 => return Err(OpenFailure::Empty),
            older if older < NEWEST => return Err(OpenFailure::Older(older)),
            _ => find_secret(&connection)?.ok_or(OpenFailure::Empty)?,
        },
    };
    Ok(Opened { connection, file, secret })
}

/// Returns the path of a file with all symbolic links resolved. Creates the file with permissions for its owner
/// only.
fn find_or_create(path: &Path) -> Result<PathBuf, OpenFailure> {
    if let Some(found) = find(path)? {
        return Ok(found);
    }
    let mut create = OpenOptions::new();
    create.write(true).create(true).truncate(false).mode(0o600);
    create.open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => OpenFailure::NoDirectory,
        io::ErrorKind::ReadOnlyFilesystem => OpenFailure::ReadOnlyFileSystem,
        _ => OpenFailure::Forbidden(error),
    })?;
    fs::canonicalize(path).map_err(OpenFailure::Forbidden)
}

/// Returns the path of a file with all symbolic links resolved; `None` if it does not exist.
fn find(path: &Path) -> Result<Option<PathBuf>, OpenFailure> {
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(OpenFailure::Directory),
        Ok(found) if !found.is_file() => Err(OpenFailure::NotRegular),
        Ok(_) => fs::canonicalize(path).map(Some).map_err(OpenFailure::Forbidden),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(OpenFailure::Forbidden(error)),
    }
}

/// Without write permission, SQLite would open the file for reading and create a WAL that cannot be written
/// either.
fn check_writable(path: &Path) -> Result<(), OpenFailure> {
    rustix::fs::access(path, Access::READ_OK | Access::WRITE_OK).map_err(|error| match error {
        Errno::ROFS => OpenFailure::ReadOnlyFileSystem,
        _ => OpenFailure::NotWritable,
    })
}

/// The first check. It leaves damage to the second one, because the WAL may repair it.
fn check_immutable(path: &Path) -> Result<(), OpenFailure> {
    match length(path) {
        0 => return Ok(()),
        short if short < HEADER_BYTES => return Err(OpenFailure::NotSqlite),
        _ => {}
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let escaped = percent_encode(path.as_os_str().as_encoded_bytes(), NON_ALPHANUMERIC);
    let checked = Connection::open_with_flags(format!("file:{escaped}?immutable=1"), flags)
        .map_err(OpenFailure::from)
        .and_then(|connection| check_format(&connection));
    match checked {
        Err(OpenFailure::Damaged(_)) => Ok(()),
        result => result,
    }
}

/// Rejects a database of another program or of a newer release.
fn check_format(connection: &Connection) -> Result<(), OpenFailure> {
    let application: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    if application != APPLICATION_ID {
        return Err(OpenFailure::Foreign);
    }
    match version(connection)? {
        known if (1..=NEWEST).contains(&known) => Ok(()),
        newer if newer > NEWEST => {
            Err(OpenFailure::Newer(newer, newer_release(newer_program(connection).as_deref())))
        }
        impossible => Err(OpenFailure::Damaged(format!("its format is {impossible}"))),
    }
}

/// Rejects a file whose tables, indexes or triggers are not those of its format.
fn check_schema(connection: &Connection) -> Result<(), OpenFailure> {
    // Both of one snapshot, because another process may migrate the file.
    let snapshot = connection.unchecked_transaction()?;
    let difference = schema::difference(&snapshot, version(&snapshot)?)?;
    snapshot.commit()?;
    match difference {
        None => Ok(()),
        Some(difference) => Err(OpenFailure::OtherSchema(difference)),
    }
}

/// Rejects a truncated file: the WAL cannot contain all of the missing pages.
fn check_length(connection: &Connection, pages: u32, path: &Path, wal: &Path) -> Result<(), OpenFailure> {
    const WAL_HEADER: u64 = 32;
    const FRAME_HEADER: u64 = 24;
    let page_size: u32 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
    let page_size = u64::from(page_size);
    // The WAL first: a concurrent checkpoint moves pages from the WAL to the file.
    let in_wal = length(wal).saturating_sub(WAL_HEADER) / (FRAME_HEADER + page_size);
    let in_file = length(path) / page_size;
    if in_file.saturating_add(in_wal) < u64::from(pages) {
        return Err(OpenFailure::Damaged(format!("it has only {in_file} of {pages} pages")));
    }
    Ok(())
}

/// Searches for damage during [`CHECK_TIME`], and during [`MIN_TIME_CHECKS`] at least. An unfinished search
/// is a success.
fn check_damage(connection: &mut Connection) -> Result<(), OpenFailure> {
    let (end, mut checks) = (Instant::now() + CHECK_TIME, 0);
    let is_over = move || {
        checks += 1;
        checks > MIN_TIME_CHECKS && Instant::now() >= end
    };
    connection.progress_handler(CHECK_STEPS, Some(is_over))?;
    let found = find_damage(connection);
    connection.progress_handler(0, None::<fn() -> bool>)?;
    match found {
        Ok(None) => Ok(()),
        Ok(Some(damage)) => Err(OpenFailure::Damaged(damage)),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Searches a whole database for damage, and describes the first in one line.
pub(super) fn find_damage(connection: &Connection) -> rusqlite::Result<Option<String>> {
    let found: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    Ok((found != "ok").then(|| found.replace('\n', " ")))
}

/// Changes to write-ahead logging. The change needs an exclusive lock, for which SQLite does not always wait.
fn enable_wal(connection: &Connection, lock_timeout: Duration) -> Result<(), OpenFailure> {
    let start = Instant::now();
    loop {
        let mode: Result<String, Error> =
            connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0));
        match mode {
            Ok(mode) if mode == "wal" => return Ok(()),
            Ok(_) => return Err(OpenFailure::NoSharedMemory),
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && start.elapsed() < lock_timeout =>
            {
                std::thread::sleep(Duration::from_millis(1));
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Returns the secret of the store, and generates it if there is none.
fn find_or_create_secret(connection: &Connection) -> Result<[u8; 32], OpenFailure> {
    if let Some(secret) = find_secret(connection)? {
        return Ok(secret);
    }
    let bytes = new_secret().map_err(OpenFailure::Other)?;
    // Another process may have stored its secret first; then that one is used.
    connection.execute("INSERT OR IGNORE INTO secret (only, bytes) VALUES (1, ?1)", [bytes])?;
    find_secret(connection)?.ok_or(OpenFailure::Empty)
}

/// Returns the directory of a file.
pub(super) fn directory(file: &Path) -> &Path {
    file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns the path with a suffix.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Returns the length of a file in bytes; 0 if it does not exist.
fn length(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |found| found.len())
}
