//! Starts the engine: its connections for reading, and the thread that writes.

use std::path::Path;
use std::sync::Arc;
use std::thread;

use futures::executor::block_on;

use super::engine::Sqlite;
use super::opening;
use super::writer::Writer;
use crate::storage::options::{OpenError, StoreOptions};
use crate::storage::queue::Batches;

/// Opens the store in the file `path`, and creates it if the file is missing or empty. Returns the engine and the secret
/// of the store.
///
/// # Errors
/// One line that names the file and says what to do, when this program cannot use the file. The file is
/// then unchanged.
pub(in crate::storage) fn open(
    path: &Path,
    options: &StoreOptions,
    mut batches: Batches,
) -> Result<(Sqlite, [u8; 32]), OpenError> {
    let opened = opening::open(path, options)?;
    let (file, secret) = (Arc::new(opened.file), opened.secret);
    let engine = Sqlite::open(file.clone(), options)?;
    let mut writer = Writer::new(opened.connection, file, options);
    thread::Builder::new()
        .name("sqlite-writer".to_owned())
        .spawn(move || {
            block_on(batches.commit_with(&mut writer));
            writer.finish();
            // Only now is the store closed.
            drop(batches);
        })
        .map_err(|error| OpenError(format!("cannot start the thread that writes: {error}")))?;
    Ok((engine, secret))
}
