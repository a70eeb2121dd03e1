//! Opening a file: looking first, touching later.
//!
//! The first look is through a connection that SQLite calls immutable: it takes no lock, makes no file
//! beside the database and cannot write. That is enough to turn away what is no SQLite file, is another
//! program's, or is newer than this program. Reading the header ourselves would do as well, but closing
//! the file again would drop every POSIX lock that this process has on it through another connection.
//!
//! The second look has the locks and sees the log too. It asks the same questions, because the log may
//! hold newer answers, and looks for damage. Until it is content, closing moves nothing from the log into
//! the file. Only then is anything written: migrations, then the change to write-ahead logging. In that
//! order, so that the header of a file with animals in it always says whose it is.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rand::TryRng;
use rand::rngs::SysRng;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, Error, ErrorCode, OpenFlags, OptionalExtension};
use rustix::fs::Access;

use super::connection;
use super::migrations::{APPLICATION_ID, NEWEST, migrate, version};
use crate::storage::{OpenError, StoreOptions};

/// How long the search for damage may take. A million animals must be open within 200 ms.
const SEARCH_TIME: Duration = Duration::from_millis(80);
/// What every SQLite file begins with, of which SQLite itself is content with less.
const HEADER_BYTES: u64 = 100;
/// How many steps of that search pass between two looks at the clock. A step is a page at the most.
const SEARCH_STEPS: i32 = 10;
/// How many looks find that there is time, so that a small file is searched to its end on a busy machine too.
const FREE_LOOKS: u32 = 100;

/// A store ready for use.
pub(super) struct Opened {
    /// May write.
    pub(super) connection: Connection,
    /// Absolute, so that it stays the same file.
    pub(super) path: PathBuf,
    pub(super) secret: [u8; 32],
}

/// What is wrong with a file, as the end of a sentence that begins with its path.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error("is a directory; give the path of a file in it")]
    Directory,
    #[error("is not a regular file; give another path")]
    NotRegular,
    #[error("is in a directory that does not exist; make the directory first")]
    NoDirectory,
    #[error("cannot be opened: {0}; check the owner and the permissions of the file and its directory")]
    Forbidden(io::Error),
    #[error("cannot be read and written; check the owner and the permissions of the file and its directory")]
    NotWritable,
    #[error("is not an SQLite database; give another path, or move the file away")]
    NotSqlite,
    #[error("is an SQLite database of another program; give another path")]
    Foreign,
    #[error(
        "was written by a newer release of this program (format {0}, this one knows up to {NEWEST}); \
         use that release"
    )]
    Newer(i32),
    #[error("is damaged ({0}); restore a backup, or salvage what is left with the `.recover` of sqlite3")]
    Damaged(String),
    #[error("is locked by another process; stop that process, or try again later")]
    Locked,
    #[error("is on a file system without shared memory; move it to a local disk")]
    NoSharedMemory,
    #[error("is on a full disk; make room")]
    DiskFull,
    #[error(
        "cannot be used, because its disk is full or fails ({0}); make room, or see what the system's log says"
    )]
    Disk(String),
    #[error("cannot be used: {0}")]
    Other(String),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => Self::NotSqlite,
            Some(ErrorCode::DatabaseCorrupt) => Self::Damaged(error.to_string()),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked,
            Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
                Self::NotWritable
            }
            Some(ErrorCode::DiskFull) => Self::DiskFull,
            // To have no room for the memory that processes share looks like this as well.
            Some(ErrorCode::SystemIoFailure) => Self::Disk(error.to_string()),
            _ => Self::Other(error.to_string()),
        }
    }
}

/// Opens the store at `path`. The error is one line.
pub(super) fn open(path: &Path, options: &StoreOptions) -> Result<Opened, OpenError> {
    refuse_or_open(path, options.lock_timeout).map_err(|refusal| {
        let line = format!("{} {refusal}", path.display());
        OpenError(line.replace(char::is_control, "?"))
    })
}

/// Opens the store at `path` for a backup, if it is one. The error is one line.
pub(super) fn open_for_backup(path: &Path, lock_timeout: Duration) -> Result<Connection, OpenError> {
    let open = || {
        let path = fs::canonicalize(path).map_err(Refusal::Forbidden)?;
        look_untouched(&path)?;
        refuse_unwritable(&path)?;
        // One that may write removes the log's files again if nobody else uses them.
        let connection = connection::writing(&path, lock_timeout)?;
        refuse_others(&connection)?;
        Ok(connection)
    };
    open().map_err(|refusal: Refusal| {
        let line = format!("{} {refusal}", path.display());
        OpenError(line.replace(char::is_control, "?"))
    })
}

fn refuse_or_open(path: &Path, lock_timeout: Duration) -> Result<Opened, Refusal> {
    // Absolute, and so never `:memory:` or `file:...`, which mean something else to SQLite.
    let path = std::path::absolute(path).map_err(Refusal::Forbidden)?;
    let path = existing(&path)?;
    look_untouched(&path)?;
    refuse_unwritable(&path)?;

    let log = beside(&path, "-wal");
    let mut connection = connection::writing(&path, lock_timeout)?;
    let keep_log = length(&log)? > 0;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keep_log)?;
    if connection.is_readonly("main")? {
        return Err(Refusal::NotWritable);
    }
    let pages: u32 = connection.pragma_query_value(None, "page_count", |row| row.get(0))?;
    if pages > 0 {
        refuse_others(&connection)?;
        refuse_short(&connection, pages, &path, &log)?;
        refuse_damaged(&mut connection)?;
    }
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;

    migrate(&mut connection)?;
    use_log(&connection, lock_timeout)?;
    let secret = secret(&connection)?;
    Ok(Opened { connection, path, secret })
}

/// The file with all symbolic links resolved, made if there is none, readable by its owner alone.
fn existing(path: &Path) -> Result<PathBuf, Refusal> {
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => return Err(Refusal::Directory),
        Ok(found) if !found.is_file() => return Err(Refusal::NotRegular),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let mut create = OpenOptions::new();
            create.write(true).create(true).truncate(false);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut create, 0o600);
            create.open(path).map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => Refusal::NoDirectory,
                _ => Refusal::Forbidden(error),
            })?;
        }
        Err(error) => return Err(Refusal::Forbidden(error)),
    }
    fs::canonicalize(path).map_err(Refusal::Forbidden)
}

/// Without the right to write, SQLite would read, and leave a log beside the file that is as little writable.
fn refuse_unwritable(path: &Path) -> Result<(), Refusal> {
    rustix::fs::access(path, Access::READ_OK | Access::WRITE_OK).map_err(|_| Refusal::NotWritable)
}

/// The first look. What it cannot judge without the log it leaves to the second.
fn look_untouched(path: &Path) -> Result<(), Refusal> {
    match length(path)? {
        0 => return Ok(()),
        short if short < HEADER_BYTES => return Err(Refusal::NotSqlite),
        _ => {}
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let look = Connection::open_with_flags(immutable(path), flags)
        .map_err(Refusal::from)
        .and_then(|connection| refuse_others(&connection));
    match look {
        Err(Refusal::Damaged(_)) => Ok(()),
        judged => judged,
    }
}

/// `path` as a URI that tells SQLite that nobody writes to the file, every byte escaped that could mean
/// something else.
fn immutable(path: &Path) -> String {
    use std::fmt::Write as _;
    let mut uri = "file:".to_owned();
    for &byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                uri.push(char::from(byte));
            }
            other => {
                let _ = write!(uri, "%{other:02x}"); // writing to a String does not fail
            }
        }
    }
    uri + "?immutable=1"
}

/// Refuses what another program or a newer release wrote.
fn refuse_others(connection: &Connection) -> Result<(), Refusal> {
    let application: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    if application != APPLICATION_ID {
        return Err(Refusal::Foreign);
    }
    match version(connection)? {
        known if (1..=NEWEST).contains(&known) => Ok(()),
        newer if newer > NEWEST => Err(Refusal::Newer(newer)),
        impossible => Err(Refusal::Damaged(format!("it claims format {impossible}"))),
    }
}

/// Refuses a file that was cut short: what is missing at its end cannot all be in the log.
fn refuse_short(connection: &Connection, pages: u32, path: &Path, log: &Path) -> Result<(), Refusal> {
    const LOG_HEADER: u64 = 32;
    const FRAME_HEADER: u64 = 24;
    let page_size: u32 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
    let page_size = u64::from(page_size);
    // The log first: what leaves it meanwhile is in the file by then.
    let in_log = length(log)?.saturating_sub(LOG_HEADER) / (FRAME_HEADER + page_size);
    let in_file = length(path)? / page_size;
    if in_file.saturating_add(in_log) < u64::from(pages) {
        return Err(Refusal::Damaged(format!("only {in_file} of {pages} pages are there")));
    }
    Ok(())
}

/// Looks for damage until [`SEARCH_TIME`] is over, and for [`FREE_LOOKS`] at the least. Not to have finished
/// counts as nothing found.
fn refuse_damaged(connection: &mut Connection) -> Result<(), Refusal> {
    let (end, mut looks) = (Instant::now() + SEARCH_TIME, 0);
    let is_over = move || {
        looks += 1;
        looks > FREE_LOOKS && Instant::now() >= end
    };
    connection.progress_handler(SEARCH_STEPS, Some(is_over))?;
    let found: Result<String, Error> = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0));
    connection.progress_handler(0, None::<fn() -> bool>)?;
    match found {
        Ok(fine) if fine == "ok" => Ok(()),
        Ok(finding) => Err(Refusal::Damaged(finding.replace('\n', " "))),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Changes to write-ahead logging. Needs the file for itself if it is not in that mode yet, and SQLite does
/// not always wait for that by itself.
fn use_log(connection: &Connection, lock_timeout: Duration) -> Result<(), Refusal> {
    let start = Instant::now();
    loop {
        let mode: Result<String, Error> =
            connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0));
        match mode {
            Ok(mode) if mode == "wal" => return Ok(()),
            Ok(_) => return Err(Refusal::NoSharedMemory),
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

/// The secret of the store, made if there is none yet.
fn secret(connection: &Connection) -> Result<[u8; 32], Refusal> {
    let stored = || connection.query_row("SELECT bytes FROM secret", [], |row| row.get(0));
    if let Some(secret) = stored().optional()? {
        return Ok(secret);
    }
    let mut bytes = [0; 32];
    SysRng
        .try_fill_bytes(&mut bytes)
        .map_err(|error| Refusal::Other(format!("the system gives no random numbers: {error}")))?;
    // Another process may have been faster; then its secret holds.
    connection.execute("INSERT OR IGNORE INTO secret (only, bytes) VALUES (1, ?1)", [bytes])?;
    Ok(stored()?)
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// The length of a file in bytes, 0 if there is none.
fn length(path: &Path) -> Result<u64, Refusal> {
    match fs::metadata(path) {
        Ok(found) => Ok(found.len()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(Refusal::Forbidden(error)),
    }
}
