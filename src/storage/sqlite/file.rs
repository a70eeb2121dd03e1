//! The database as files: finds and creates it, and asks the file system whether its disk has space and whether the paths
//! of the database, its WAL and its index lead to other files than those that are open, after `mv`, `rm` or a change of a
//! symbolic link.
//!
//! After such a change, the open files still work. But what is written to them is lost with them, and a key that a command
//! revokes in the others stays valid.

use std::fs::{self, Metadata, OpenOptions};
use std::io;
use std::iter;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rusqlite::{Error, ffi};
use rustix::fs::{AtFlags, CWD, StatxAttributes, StatxFlags, statvfs, statx};

use super::error::{OpenFailure, Replaced};

/// The size of the header of an SQLite file. SQLite takes a file of one byte for an empty one.
const HEADER_BYTES: u64 = 100;
/// The space that the largest batch takes, up to 3 MiB in the WAL and once more in the file: 256 animals with the longest
/// names and with keys, each of which changes another page of the index of keys.
const BATCH_BYTES: u64 = 6 << 20;

const MOUNTED: &str = "is mounted by itself, so its WAL would not be on the same volume; mount its directory";

/// The file that was found at a path.
pub(super) struct DatabaseFile {
    /// Absolute, so that it stays valid when the working directory changes, and otherwise as it was given, because a
    /// symbolic link may change.
    pub(super) path: PathBuf,
    found: Identity,
    /// The WAL and its index, with resolved paths.
    beside: Vec<(PathBuf, Identity)>,
}

/// What a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) device: u64,
    pub(super) inode: u64,
}

impl Identity {
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        path.metadata().map(|found| Self::from(&found))
    }
}

impl From<&Metadata> for Identity {
    fn from(found: &Metadata) -> Self {
        Self { device: found.dev(), inode: found.ino() }
    }
}

impl DatabaseFile {
    /// Finds the file at an absolute path. Must be called before the file is opened.
    pub(super) fn at(path: PathBuf) -> io::Result<Self> {
        Ok(Self { found: Identity::of(&path)?, path, beside: Vec::new() })
    }

    /// Whether the path leads elsewhere and the open file still has a name, so that what is written to it is not lost.
    pub(super) fn is_moved(&self) -> bool {
        let is_elsewhere = !Identity::of(&self.path).is_ok_and(|found| found == self.found);
        is_elsewhere
            && fs::read_dir("/proc/self/fd").into_iter().flatten().flatten().any(|open| {
                let open = open.path().metadata();
                open.is_ok_and(|it| it.nlink() > 0 && Identity::from(&it) == self.found)
            })
    }

    /// Adds the WAL and the index, which a connection has opened. `resolved` is the path of the database without symbolic
    /// links.
    pub(super) fn add_wal(&mut self, resolved: &Path) -> io::Result<()> {
        for path in [wal(resolved), index(resolved)] {
            let found = Identity::of(&path)?;
            self.beside.push((path, found));
        }
        Ok(())
    }

    /// Checks that the disk has space for a batch. One page, as the check of readiness writes, may still fit when a batch
    /// does not. A system call, without an access to the disk.
    ///
    /// # Errors
    /// The error of a full disk.
    pub(super) fn check_space(&self) -> rusqlite::Result<()> {
        match statvfs(&self.path) {
            // Some file systems do not report their size.
            Ok(disk) if disk.f_blocks > 0 && disk.f_bavail.saturating_mul(disk.f_frsize) < BATCH_BYTES => {
                let why = format!("less than {} MiB of the disk are free", BATCH_BYTES >> 20);
                Err(Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_FULL), Some(why)))
            }
            // If `statvfs` fails, assume that there is space.
            _ => Ok(()),
        }
    }

    /// Checks that the paths still lead to these files. A system call for each, without an access to the disk.
    ///
    /// # Errors
    /// [`Replaced`]: a path leads to another file, or to none.
    pub(super) fn check(&self) -> rusqlite::Result<()> {
        let main = iter::once((&self.path, &self.found));
        for (path, open) in main.chain(self.beside.iter().map(|(path, open)| (path, open))) {
            let is_same = match Identity::of(path) {
                Ok(found) => found == *open,
                // If `stat` fails with EACCES, assume that the file is unchanged.
                Err(error) => error.kind() != io::ErrorKind::NotFound,
            };
            if !is_same {
                let path = path.clone();
                let is_database = path == self.path;
                return Err(Error::UserFunctionError(Replaced { path, is_database }.into()));
            }
        }
        Ok(())
    }
}

/// Returns the path of a file with all symbolic links resolved; `None` if it does not exist.
pub(super) fn find(path: &Path) -> Result<Option<PathBuf>, OpenFailure> {
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Err("is a directory; give the path of a file in it".into()),
        Ok(found) if !found.is_file() => Err("is not a regular file; choose another path".into()),
        Ok(found) if (1..HEADER_BYTES).contains(&found.len()) => Err(OpenFailure::not_sqlite()),
        // The WAL belongs to a name, so two names would have two of them, and SQLite would lose one.
        Ok(found) if found.nlink() > 1 => Err(OpenFailure(format!(
            "has {} names (hard links); remove the others, or use a copy",
            found.nlink()
        ))),
        Ok(_) if is_mount(path) => Err(MOUNTED.into()),
        Ok(_) => Ok(Some(fs::canonicalize(path)?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Whether a file is the root of a mount, as a single file that a container is given is (statx(2), Linux 5.8).
fn is_mount(path: &Path) -> bool {
    let found = statx(CWD, path, AtFlags::empty(), StatxFlags::BASIC_STATS);
    found.is_ok_and(|found| found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
}

/// Returns the path of a file that exists, with all symbolic links resolved.
pub(super) fn find_existing(path: &Path) -> Result<PathBuf, OpenFailure> {
    find(path)?.ok_or_else(|| "does not exist; check the path".into())
}

/// Creates an empty file with permissions for its owner only, unless there is a file.
///
/// # Errors
/// Also if there is a WAL, which SQLite would remove: its database was moved away.
pub(super) fn create(path: &Path) -> Result<(), OpenFailure> {
    if length(&wal(path)) > 0 {
        return Err("is missing, and its WAL (-wal) has what was not copied into it yet; put the database back, or move the \
                    WAL away to create another one"
            .into());
    }
    OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)?;
    Ok(())
}

/// Returns the directory of a file.
pub(super) fn directory(file: &Path) -> &Path {
    file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns the path of the WAL of a database.
pub(super) fn wal(database: &Path) -> PathBuf {
    named(database, "-wal")
}

/// Returns the path of the index of the WAL, the memory that connections share.
pub(super) fn index(database: &Path) -> PathBuf {
    named(database, "-shm")
}

fn named(database: &Path, suffix: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Returns the length of a file in bytes; 0 if it does not exist.
pub(super) fn length(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |found| found.len())
}
