//! A service with a database of its own, for commands that send requests to it.

use std::path::Path;

use launcher::serve::{command, create_key};

use crate::process::Running;

/// A running service; terminated when dropped.
pub(crate) struct Service {
    pub(crate) running: Running,
    pub(crate) url: String,
    pub(crate) key: String,
}

impl Service {
    /// Creates a database with an API key, and starts the service on a free port. Its log goes to the file `log`.
    pub(crate) fn start(program: &Path, database: &str, log: &Path) -> Result<Self, String> {
        let key = create_key(program, "xtask", database)?;
        let (running, url) = Running::serve(&mut command(program, &[], "127.0.0.1:0", database), log)?;
        Ok(Self { running, url, key })
    }
}
