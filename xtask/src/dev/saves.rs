//! The files that `cargo xtask dev` watches, and which of them changed.
//!
//! Events only say that something may have changed. The contents are compared, because one save causes several events,
//! and editors write temporary files.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::Duration;

use notify::{RecursiveMode, Watcher};

use super::event::Event;
use crate::workspace::SPEC;

/// How long to wait for further events after a change, because one save causes several.
const QUIET: Duration = Duration::from_millis(50);

/// The directories with Rust code that the service and its tests over HTTP are built from.
const DIRECTORIES: [&str; 2] = ["src", "tests/http"];
/// Further files.
const FILES: [&str; 3] = [SPEC, "build.rs", "Cargo.toml"];

/// The watched files with a hash of the content of each. Paths begin at the root of the repository.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Snapshot(BTreeMap<String, u64>);

impl Snapshot {
    /// Reads all watched files. A file that cannot be read is absent.
    pub(super) fn of(root: &Path) -> Self {
        let mut snapshot = Self::default();
        FILES.iter().for_each(|file| snapshot.add(root, file));
        DIRECTORIES.iter().for_each(|directory| snapshot.add_directory(root, directory));
        snapshot
    }

    fn add(&mut self, root: &Path, file: &str) {
        if let Ok(content) = fs::read(root.join(file)) {
            let mut hasher = DefaultHasher::new();
            content.hash(&mut hasher);
            self.0.insert(file.to_owned(), hasher.finish());
        }
    }

    fn add_directory(&mut self, root: &Path, directory: &str) {
        for entry in fs::read_dir(root.join(directory)).into_iter().flatten().flatten() {
            let path = format!("{directory}/{}", entry.file_name().to_string_lossy());
            // A link to a directory is not followed, since it could lead to a cycle.
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                self.add_directory(root, &path);
            } else if path.ends_with(".rs") {
                self.add(root, &path);
            }
        }
    }

    /// Returns the files that were added, removed or changed since `before`.
    pub(super) fn changed_since(&self, before: &Self) -> Vec<String> {
        let changed = self.0.iter().filter(|(file, hash)| before.0.get(*file) != Some(*hash));
        let removed = before.0.iter().filter(|(file, _)| !self.0.contains_key(*file));
        changed.chain(removed).map(|(file, _)| file.clone()).collect()
    }
}

/// Sends [`Event::Saved`] after each group of changes, until the returned watcher is dropped.
///
/// # Errors
/// A message, if the directories cannot be watched.
pub(super) fn watch(root: &Path, events: Sender<Event>) -> Result<impl Watcher + use<>, String> {
    let (sender, changes) = mpsc::channel();
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        // An error may stand for a lost event, so it counts as a change. Read access does not, because this process
        // reads too.
        if event.map_or(true, |event| !event.kind.is_access()) {
            // Fails only while this process exits.
            let _ = sender.send(());
        }
    })
    .map_err(|error| format!("files cannot be watched: {error}"))?;
    let parents = FILES.iter().filter_map(|file| Path::new(file).parent());
    let parents = parents.map(|parent| (parent, RecursiveMode::NonRecursive));
    let directories = DIRECTORIES.iter().map(|directory| (Path::new(directory), RecursiveMode::Recursive));
    for (directory, mode) in directories.chain(parents) {
        let directory = root.join(directory);
        if directory.is_dir() {
            let watched = watcher.watch(&directory, mode);
            watched.map_err(|error| format!("{} cannot be watched: {error}", directory.display()))?;
        }
    }
    std::thread::spawn(move || {
        while changes.recv().is_ok() {
            loop {
                match changes.recv_timeout(QUIET) {
                    Ok(()) => {}
                    Err(RecvTimeoutError::Timeout) => break,
                    Err(RecvTimeoutError::Disconnected) => return,
                }
            }
            if events.send(Event::Saved).is_err() {
                return;
            }
        }
    });
    Ok(watcher)
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    fn write(root: &TempDir, file: &str, text: &str) {
        let path = root.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn only_changed_contents_of_watched_files_count() {
        let root = TempDir::new().unwrap();
        for file in ["src/a.rs", "src/b/c.rs", "src/notes.txt", SPEC, "tests/http/main.rs", "other.rs"] {
            write(&root, file, "1");
        }
        let before = Snapshot::of(root.path());
        // Written again, not watched, changed, added, removed.
        for (file, text) in
            [("src/a.rs", "1"), ("src/notes.txt", "2"), ("other.rs", "2"), (SPEC, "2"), ("src/b/d.rs", "1")]
        {
            write(&root, file, text);
        }
        fs::remove_file(root.path().join("src/b/c.rs")).unwrap();
        let after = Snapshot::of(root.path());
        assert_eq!(after.changed_since(&before), [SPEC, "src/b/d.rs", "src/b/c.rs"]);
        assert!(after.changed_since(&after).is_empty());
    }
}
