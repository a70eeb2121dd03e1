//! Runs something again whenever a file is saved.
//!
//! The directory is watched: editors write a new file and rename it over the old one, which a watch of the old
//! one does not report.

use std::iter;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::Duration;

use notify::{Event, RecursiveMode, Watcher};

use crate::process::signals;

/// How long a file must be left alone before it counts as saved: one save is several events.
const QUIET: Duration = Duration::from_millis(50);

enum Heard {
    Change,
    Stop,
}

/// Calls `again` now and after every change of what the file holds, until Ctrl-C or SIGTERM.
///
/// # Errors
/// A sentence, when the directory cannot be watched.
pub fn until_stopped(path: &Path, mut again: impl FnMut()) -> Result<(), String> {
    let (sender, heard) = mpsc::channel();
    let (stop, mut signals) = (sender.clone(), signals()?);
    std::thread::spawn(move || {
        // The receiver is gone if this process is about to end.
        signals.forever().next().map(|_| stop.send(Heard::Stop))
    });
    // Dropping it would end the watch.
    let _watcher = watcher(path, sender)?;
    let mut seen = std::fs::read(path).ok();
    again();
    while let Ok(Heard::Change) = heard.recv() {
        loop {
            match heard.recv_timeout(QUIET) {
                Ok(Heard::Change) => {}
                Ok(Heard::Stop) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
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

/// Watches the directory of the file, and that of the file that it is a link to.
fn watcher(path: &Path, sender: Sender<Heard>) -> Result<impl Watcher, String> {
    let here = std::env::current_dir().unwrap_or_default().join(path);
    let target = path.canonicalize().ok().filter(|target| *target != here);
    let files: Vec<PathBuf> = iter::once(here).chain(target).collect();
    let names: Vec<_> = files.iter().filter_map(|file| file.file_name().map(ToOwned::to_owned)).collect();
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
        // An error may have hidden a change. Reading is an event too, and that of this process must not count.
        let change = event.map_or(true, |event| {
            let mut changed = event.paths.iter().filter_map(|path| path.file_name());
            !event.kind.is_access() && changed.any(|name| names.iter().any(|known| known == name))
        });
        if change {
            // The receiver is gone if this process is about to end.
            let _ = sender.send(Heard::Change);
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
