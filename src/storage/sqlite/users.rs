//! The other processes that have a database open: whether they use the WAL and the index that lie beside it, and whether
//! processes use these for another database.
//!
//! If these, or the database, were moved or removed, SQLite creates new ones for the next process, and two processes that do not see each
//! other's changes damage the file. The locks of the kernel name both files (`/proc/locks`, proc_locks(5)); where it does
//! not show them, as in another PID namespace, nothing is found.

use std::fs;
use std::path::Path;
use std::process;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{major, minor};

use super::error::OpenFailure;
use super::file::{Identity, index, wal};

/// The first byte of the locks of SQLite in a database (`PENDING_BYTE`).
const DATABASE_LOCKS: u64 = 0x4000_0000;
/// The byte of the index on which each of its users has a lock (`UNIX_SHM_DMS`).
const INDEX_LOCK: u64 = 128;

/// How often the locks are read: one reading lacks lines that moved meanwhile, as other processes lock and unlock files.
const READINGS: usize = 16;
/// How long a process may take to unlock the database after it has removed the WAL and the index as its last user.
const END: Duration = Duration::from_secs(1);

const OTHER_FILES: &str = "is in use by process {}, whose WAL and index are not the files beside it that end with -wal and \
     -shm, which were moved or removed; stop that process first, so that it copies its WAL to the database";
const OTHER_DATABASE: &str = "is not the database of process {}, which uses the files beside it that end with -wal and -shm; \
     put that database back, or stop that process first, so that it copies its WAL to it";

/// A lock of another process.
struct Lock {
    process: u32,
    /// The device as `major:minor`, in hexadecimal digits.
    device: String,
    inode: u64,
    start: u64,
}

impl Lock {
    /// Reads a line such as `1: POSIX  ADVISORY  READ 4321 fe:00:5678 1073741826 1073742335`.
    fn read(line: &str) -> Option<Self> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, "POSIX", _, _, process, file, start, _] = words[..] else { return None };
        let (device, inode) = file.rsplit_once(':')?;
        Some(Self {
            process: process.parse().ok().filter(|id| *id != process::id())?,
            device: device.to_owned(),
            inode: inode.parse().ok()?,
            start: start.parse().ok()?,
        })
    }

    fn is_of(&self, file: Identity) -> bool {
        let device = format!("{:02x}:{:02x}", major(file.device), minor(file.device));
        self.inode == file.inode && self.device == device
    }
}

/// Checks that each process that uses the database at `path`, without symbolic links, has the WAL and the index open that
/// lie beside it, and that no process uses these for another database.
pub(super) fn check(path: &Path) -> Result<(), OpenFailure> {
    let database = Identity::of(path)?;
    let start = Instant::now();
    while let Some((process, why)) = other_user(path, database) {
        if start.elapsed() >= END {
            return Err(OpenFailure(why.replace("{}", &process.to_string())));
        }
        thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

/// Returns a process with which this one would damage a database, and why.
fn other_user(path: &Path, database: Identity) -> Option<(u32, &'static str)> {
    let readings: String = (0..READINGS).flat_map(|_| fs::read_to_string("/proc/locks")).collect();
    let locks: Vec<Lock> = readings.lines().filter_map(Lock::read).collect();
    user_of_other_files(&locks, path, database)
        .map(|process| (process, OTHER_FILES))
        .or_else(|| Some((user_of_other_database(&locks, path, database)?, OTHER_DATABASE)))
}

/// Returns a process that uses the WAL and the index for another database, whose place the one at `path` took.
fn user_of_other_database(locks: &[Lock], path: &Path, database: Identity) -> Option<u32> {
    let index = Identity::of(&index(path)).ok()?;
    let users = locks.iter().filter(|lock| lock.start == INDEX_LOCK && lock.is_of(index));
    users.map(|user| user.process).find(|process| {
        let mut own = locks.iter().filter(|lock| lock.process == *process && lock.start >= DATABASE_LOCKS);
        !own.any(|lock| lock.is_of(database))
    })
}

/// Returns a process that uses the database with another WAL or index.
fn user_of_other_files(locks: &[Lock], path: &Path, database: Identity) -> Option<u32> {
    let users = locks.iter().filter(|lock| lock.start >= DATABASE_LOCKS && lock.is_of(database));
    users.map(|user| user.process).find(|process| {
        let mut indexes =
            locks.iter().filter(|lock| lock.process == *process && lock.start == INDEX_LOCK).peekable();
        // Without an index, it has not opened them yet.
        indexes.peek().is_some()
            && (!Identity::of(&index(path)).is_ok_and(|found| indexes.any(|lock| lock.is_of(found)))
                || has_another_wal(*process, &wal(path)))
    })
}

/// Whether a process has another WAL open than the one at `path`. False if it may not be asked.
fn has_another_wal(process: u32, path: &Path) -> bool {
    let Ok(files) = fs::read_dir(format!("/proc/{process}/fd")) else { return false };
    let Ok(found) = Identity::of(path) else { return true };
    !files.flatten().any(|file| Identity::of(&file.path()).is_ok_and(|open| open == found))
}
