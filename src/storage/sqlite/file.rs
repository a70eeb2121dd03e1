//! The database as a file: finds and creates it, and asks the file system whether its disk has space and whether its path
//! leads to another file than the one that is open, after `mv`, `rm` or a change of a symbolic link.
//!
//! After such a change, the open file still works. But what is written to it is lost with it, and a key that a command
//! revokes in the other file stays valid.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rusqlite::{Error, ffi};
use rustix::fs::statvfs;

use super::error::{OpenFailure, Replaced};

/// The size of the header of an SQLite file. SQLite takes a file of one byte for an empty one.
const HEADER_BYTES: u64 = 100;
/// The space that the largest batch takes, up to 3 MiB in the WAL and once more in the file: 256 animals with the longest
/// names and with keys, each of which changes another page of the index of keys.
const BATCH_BYTES: u64 = 6 << 20;

/// The file that was found at a path.
pub(super) struct DatabaseFile {
    /// Absolute, so that it stays valid when the working directory changes, and otherwise as it was given, because a
    /// symbolic link may change.
    pub(super) path: PathBuf,
    device: u64,
    inode: u64,
}

impl DatabaseFile {
    /// Finds the file at an absolute path. Must be called before the file is opened.
    pub(super) fn at(path: PathBuf) -> io::Result<Self> {
        let found = path.metadata()?;
        Ok(Self { path, device: found.dev(), inode: found.ino() })
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

    /// Checks that the path still leads to this file. A system call, without an access to the disk.
    ///
    /// # Errors
    /// [`Replaced`]: the path leads to another file, or to none.
    pub(super) fn check(&self) -> rusqlite::Result<()> {
        let is_same = match self.path.metadata() {
            Ok(found) => (found.dev(), found.ino()) == (self.device, self.inode),
            // If `stat` fails with EACCES, assume that the file is unchanged.
            Err(error) => error.kind() != io::ErrorKind::NotFound,
        };
        if is_same { Ok(()) } else { Err(Error::UserFunctionError(Replaced.into())) }
    }
}

/// Returns the path of a file with all symbolic links resolved; `None` if it does not exist.
pub(super) fn find(path: &Path) -> Result<Option<PathBuf>, OpenFailure> {
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Err("is a directory; give the path of a file in it".into()),
        Ok(found) if !found.is_file() => Err("is not a regular file; choose another path".into()),
        Ok(found) if (1..HEADER_BYTES).contains(&found.len()) => Err(OpenFailure::not_sqlite()),
        Ok(_) => Ok(Some(fs::canonicalize(path)?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Returns the path of a file that exists, with all symbolic links resolved.
pub(super) fn find_existing(path: &Path) -> Result<PathBuf, OpenFailure> {
    find(path)?.ok_or_else(|| "does not exist; check the path".into())
}

/// Creates an empty file with permissions for its owner only, unless there is a file.
pub(super) fn create(path: &Path) -> io::Result<()> {
    OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path).map(drop)
}

/// Returns the directory of a file.
pub(super) fn directory(file: &Path) -> &Path {
    file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns the path of the WAL of a database.
pub(super) fn wal(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push("-wal");
    name.into()
}

/// Returns the length of a file in bytes; 0 if it does not exist.
pub(super) fn length(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |found| found.len())
}
