//! Notices that the path of a database leads to another file than the one that is open, after `mv`, `rm` or a change of
//! a symbolic link.
//!
//! The open file still works. But what is written to it is lost with it, and a key that a command revokes in the other
//! file stays valid.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use rusqlite::Error;

/// The file that was found at a path.
pub(super) struct DatabaseFile {
    /// As it was given, because a symbolic link may change.
    path: PathBuf,
    device: u64,
    inode: u64,
}

/// The path leads to another file, or to none.
#[derive(Debug, thiserror::Error)]
#[error("{0} was replaced or removed; restart the service")]
pub(super) struct Replaced(String);

impl DatabaseFile {
    /// Finds the file at an absolute path. Must be called before the file is opened.
    pub(super) fn at(path: PathBuf) -> io::Result<Self> {
        let found = path.metadata()?;
        Ok(Self { path, device: found.dev(), inode: found.ino() })
    }

    /// Checks that the path still leads to this file. A system call, without an access to the disk.
    ///
    /// # Errors
    /// [`Replaced`], as an error of SQLite.
    pub(super) fn check(&self) -> rusqlite::Result<()> {
        let is_same = match self.path.metadata() {
            Ok(found) => (found.dev(), found.ino()) == (self.device, self.inode),
            // Without the right to look, nothing is known.
            Err(error) => error.kind() != io::ErrorKind::NotFound,
        };
        if is_same {
            return Ok(());
        }
        Err(Error::UserFunctionError(Replaced(self.path.display().to_string()).into()))
    }
}
