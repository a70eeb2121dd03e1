//! Runs something again whenever a file is saved.
//!
//! What is watched is the directory: editors write a new file and rename it over the old one, and a watch of
//! the old one would never hear of it.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::Duration;

use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind, RecursiveMode, Watcher};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

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
    let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(|error| format!("no signals: {error}"))?;
    let stop = sender.clone();
    std::thread::spawn(move || {
        if signals.forever().next().is_some() {
            // Nobody listens any more if we are about to end anyway.
            let _ = stop.send(Heard::Stop);
        }
    });
    // Lives as long as it is to watch.
    let _watcher = watcher(path, sender)?;
    let mut seen = std::fs::read(path).ok();
    again();
    loop {
        match heard.recv() {
            Ok(Heard::Change) => {}
            Ok(Heard::Stop) | Err(_) => return Ok(()),
        }
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
}

fn watcher(path: &Path, sender: Sender<Heard>) -> Result<impl Watcher, String> {
    let files = files(path);
    let names: Vec<_> = files.iter().filter_map(|file| file.file_name().map(ToOwned::to_owned)).collect();
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
        // What went wrong may have hidden a change.
        let change = event.map_or(true, |event| {
            let named =
                |path: &PathBuf| path.file_name().is_some_and(|name| names.iter().any(|it| it == name));
            is_change(event.kind) && event.paths.iter().any(named)
        });
        if change {
            // Nobody listens any more if we are about to end.
            let _ = sender.send(Heard::Change);
        }
    })
    .map_err(|error| format!("files cannot be watched: {error}"))?;
    let mut directories: Vec<PathBuf> = files.iter().map(|file| directory(file)).collect();
    directories.dedup();
    for directory in directories {
        let watched = watcher.watch(&directory, RecursiveMode::NonRecursive);
        watched.map_err(|error| format!("{} cannot be watched: {error}", directory.display()))?;
    }
    Ok(watcher)
}

/// The file, and what it is a link to.
fn files(path: &Path) -> Vec<PathBuf> {
    let target = path.canonicalize().ok();
    let here = std::env::current_dir().unwrap_or_default().join(path);
    let target = target.filter(|target| *target != here);
    std::iter::once(here).chain(target).collect()
}

fn directory(file: &Path) -> PathBuf {
    file.parent().unwrap_or(file).to_owned()
}

/// Reading a file is an event too, and our own reading must not be one.
fn is_change(kind: EventKind) -> bool {
    match kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
        EventKind::Access(_) => false,
        _ => true,
    }
}
