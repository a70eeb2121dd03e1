//! What the file system says about the database: whether its disk has space, and whether its path leads to another file
//! than the one that is open, after `mv`, `rm` or a change of a symbolic link.
//!
//! After such a change, the open file still works. But what is written to it is lost with it, and a key that a command
//! revokes in the other file stays valid.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use rusqlite::{Error, ffi};
use rustix::fs::statvfs;

use super::error::Replaced;

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
            // Without the right to look, nothing is known.
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
            // Without the right to look, nothing is known.
            Err(error) => error.kind() != io::ErrorKind::NotFound,
        };
        if is_same { Ok(()) } else { Err(Error::UserFunctionError(Replaced.into())) }
    }
}
