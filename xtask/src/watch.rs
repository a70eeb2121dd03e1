//! Calls a function whenever a file is saved.
//!
//! The directory is watched, not the file: editors write a new file and rename it over the old one, and a watch on the
//! old file does not report that.

use std::iter;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::Duration;

use launcher::process::signals;
use notify::{Event, RecursiveMode, Watcher};

/// How long to wait for further events after a change, because one save causes several.
const QUIET: Duration = Duration::from_millis(50);

enum Message {
    Change,
    Stop,
}

/// Calls `again` now and after every change of the file's content, until Ctrl-C or SIGTERM.
///
/// # Errors
/// A message, if the directory cannot be watched.
pub fn until_stopped(path: &Path, mut again: impl FnMut()) -> Result<(), String> {
    let (sender, messages) = mpsc::channel();
    let (stop, mut signals) = (sender.clone(), signals()?);
    std::thread::spawn(move || {
        // Fails only while this process exits.
        signals.forever().next().map(|_| stop.send(Message::Stop))
    });
    // Dropping the watcher ends the watch.
    let _watcher = watcher(path, sender)?;
    let mut seen = std::fs::read(path).ok();
    again();
    while let Ok(Message::Change) = messages.recv() {
        loop {
            match messages.recv_timeout(QUIET) {
                Ok(Message::Change) => {}
                Ok(Message::Stop) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Err(RecvTimeoutError::Timeout) => break,
            }
        }
        let now = std::fs::read(path).ok();
        if now != seen {
            seen = now;
            again();
        }
    }
    Ok(())
}

/// Watches the directory of the file, and that of the target if the file is a symbolic link.
fn watcher(path: &Path, sender: Sender<Message>) -> Result<impl Watcher, String> {
    let absolute = std::env::current_dir().unwrap_or_default().join(path);
    let target = path.canonicalize().ok().filter(|target| *target != absolute);
    let files: Vec<PathBuf> = iter::once(absolute).chain(target).collect();
    let names: Vec<_> = files.iter().filter_map(|file| file.file_name().map(ToOwned::to_owned)).collect();
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
        // An error may stand for a lost event, so it counts as a change. Read access does not, because this process reads too.
        let change = event.map_or(true, |event| {
            let mut changed = event.paths.iter().filter_map(|path| path.file_name());
            !event.kind.is_access() && changed.any(|name| names.iter().any(|known| known == name))
        });
        if change {
            // Fails only while this process exits.
            let _ = sender.send(Message::Change);
        }
    })
    .map_err(|error| format!("files cannot be watched: {error}"))?;
    let mut directories: Vec<&Path> = files.iter().filter_map(|file| file.parent()).collect();
    directories.dedup();
    for directory in directories {
        let watched = watcher.watch(directory, RecursiveMode::NonRecursive);
        watched.map_err(|error| format!("{} cannot be watched: {error}", directory.display()))?;
    }
    Ok(watcher)
}
