//! Backs up a database that is in use.
//!
//! `VACUUM INTO` reads the whole database in one transaction: the copy contains what was committed at its
//! start, writers continue, and the result is one file without a WAL. It is written under a temporary name in
//! the same directory, synced, and then renamed, so that a file with the final name is complete. The copy is
//! a database: it can be used, or put in the place of another one (`restore.rs`).
//!
//! Two things could make the writers of a service wait. A sync of the whole copy would delay the syncs of
//! their commits, so the copy is synced while it grows. And the WAL grows while the backup reads, which needs
//! a checkpoint on another thread (`checkpoint.rs`).

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use super::opening;
use crate::storage::options::OpenError;

/// The copy is synced when it has grown by this many bytes.
const SYNC_BYTES: u64 = 1024 * 1024;
/// The number of steps of SQLite's virtual machine between two looks at the size of the copy.
const STEPS: i32 = 10_000;

/// Copies the database in the file `from` to a new file `to` with permissions for its owner only.
///
/// # Errors
/// One line, when `from` is not a database of this program, or `to` exists or cannot be written. Then no file
/// `to` is created.
pub fn backup(from: &Path, to: &Path, lock_timeout: Duration) -> Result<(), OpenError> {
    write(&mut opening::open_for_backup(from, lock_timeout)?, to)
}

/// Copies the database of a connection to a new file, which is complete when it has its name.
pub(super) fn write(source: &mut Connection, to: &Path) -> Result<(), OpenError> {
    let refused = |why: String| OpenError(format!("{} {why}", to.display()).replace(char::is_control, "?"));
    if fs::symlink_metadata(to).is_ok() {
        return Err(refused("exists; choose another path, or move the file away".to_owned()));
    }
    let temporary = temporary_name(to);
    let copied = copy(source, &temporary).and_then(|()| publish(&temporary, to));
    // It has its final name by now, or is incomplete.
    let _ = fs::remove_file(&temporary);
    copied.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => refused("exists; choose another path".to_owned()),
        io::ErrorKind::NotFound => refused("is in a directory that does not exist".to_owned()),
        _ => refused(format!("cannot be written: {error}")),
    })
}

/// Returns a name in the directory of `to`, which is on the same file system, unique to this process.
pub(super) fn temporary_name(to: &Path) -> PathBuf {
    let mut name = to.as_os_str().to_owned();
    name.push(format!(".unfinished-{}", std::process::id()));
    name.into()
}

fn copy(source: &mut Connection, to: &Path) -> io::Result<()> {
    // SQLite accepts an empty file, and would create one with other permissions.
    let file = File::options().write(true).create_new(true).mode(0o600).open(to)?;
    let path = to.to_str().ok_or_else(|| io::Error::other("its path is not UTF-8"))?;
    sync_while_it_grows(source, file.try_clone()?).map_err(io::Error::other)?;
    source.execute("VACUUM INTO ?1", [path]).map_err(io::Error::other)?;
    // SQLite does not sync the file.
    file.sync_all()
}

/// Syncs `file` during the statements of `connection`, each time it has grown by [`SYNC_BYTES`].
fn sync_while_it_grows(connection: &mut Connection, file: File) -> rusqlite::Result<()> {
    let mut synced = 0;
    let sync = move || {
        let length = file.metadata().map_or(synced, |found| found.len());
        if length >= synced + SYNC_BYTES {
            synced = length;
            // An error is reported by the last sync.
            let _ = file.sync_data();
        }
        false
    };
    connection.progress_handler(STEPS, Some(sync))
}

/// Gives a complete copy its name, unless another file has it.
fn publish(temporary: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, temporary, CWD, to, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => rename_to_placeholder(temporary, to)?,
        renamed => renamed?,
    }
    let directory = to.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match File::open(directory)?.sync_all() {
        // Some network file systems cannot sync a directory.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        synced => synced,
    }
}

/// Renames `from` where no file system call does so without replacing a file: replaces an empty file that was
/// created for this purpose. A crash in between leaves the empty file.
fn rename_to_placeholder(from: &Path, to: &Path) -> io::Result<()> {
    File::create_new(to)?;
    fs::rename(from, to).inspect_err(|_| {
        // The first error is more informative.
        let _ = fs::remove_file(to);
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_placeholder_replaces_no_file() {
        let directory = tempfile::tempdir().unwrap();
        let (from, to) = (directory.path().join("from"), directory.path().join("to"));
        fs::write(&from, "new").unwrap();
        fs::write(&to, "precious").unwrap();
        let refused = rename_to_placeholder(&from, &to).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&to).unwrap(), b"precious");
        fs::remove_file(&to).unwrap();
        rename_to_placeholder(&from, &to).unwrap();
        assert_eq!((fs::read(&to).unwrap(), from.exists()), (b"new".to_vec(), false));
        rename_to_placeholder(&from, &directory.path().join("other")).unwrap_err();
        assert!(!directory.path().join("other").exists());
    }
}
