//! Opens connections to the primary: the first host of the URL that is one.
//!
//! Each address of each host has a time limit of its own, so that a silent one does not hide the others. The address of
//! the last connection is tried first. A file with the URL is read for each connection, because its password may have
//! changed.

use std::fs;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use slog::warn;
use tokio::sync::watch;
use tokio::time::timeout;

use super::address::Address;
use super::error::{ConnectError, PgError};
use super::session::{Session, settings};
use crate::storage::options::{OpenError, StoreOptions};

/// Opens connections to a database.
pub(super) struct Connector {
    pub(super) options: StoreOptions,
    /// The schema with the tables, once it is known.
    pub(super) schema: OnceLock<String>,
    /// The highest timeline that this process has seen.
    timeline: watch::Sender<u32>,
    state: Mutex<State>,
}

struct State {
    url: String,
    address: Arc<Address>,
    /// The position of the address to try first: that of the last connection, or the one after the last attempt.
    start: usize,
    /// Whether to look for the highest timeline of all addresses: before the first connection, and after a write failed.
    all: bool,
}

impl Connector {
    /// Parses the URL.
    ///
    /// # Errors
    /// One line that does not repeat the URL.
    pub(super) fn new(url: &str, options: &StoreOptions) -> Result<Self, OpenError> {
        let address = Address::parse(url, options.postgres.connect_timeout)
            .map_err(|why| OpenError::Unsuitable(format!("the PostgreSQL URL cannot be used: {why}")))?;
        Ok(Self {
            options: options.clone(),
            schema: OnceLock::new(),
            timeline: watch::Sender::new(0),
            state: Mutex::new(State { url: url.to_owned(), address: Arc::new(address), start: 0, all: true }),
        })
    }

    /// Returns the present address.
    pub(super) fn address(&self) -> Arc<Address> {
        let mut state = self.state();
        if let Some(file) = &self.options.postgres.url_file {
            // A file that is being replaced must not make the database unreachable.
            let read = fs::read_to_string(file).map_err(|error| error.to_string());
            let changed = read.and_then(|text| match text.trim_end() {
                url if url == state.url => Ok(None),
                url => Address::parse(url, self.options.postgres.connect_timeout)
                    .map(|address| Some((url.to_owned(), address))),
            });
            match changed {
                Ok(None) => {}
                Ok(Some((url, address))) => (state.url, state.address) = (url, Arc::new(address)),
                Err(why) => {
                    warn!(self.options.log, "the file with the database URL cannot be used; using its last content";
                    "error" => why, "file" => %file.display())
                }
            }
        }
        state.address.clone()
    }

    /// Opens a connection.
    ///
    /// # Errors
    /// The error of each address.
    pub(super) async fn connect(&self) -> Result<Session, PgError> {
        let address = self.address();
        let settings = settings(self.schema.get().map(String::as_str), &self.options);
        let mut endpoints = address.each().await;
        let (start, count) = (self.state().start, endpoints.len().max(1));
        endpoints.rotate_left(start % count);
        let (all, mut found) = (self.state().all, None::<(usize, Session)>);
        let mut errors = Vec::new();
        for (position, endpoint) in (start % count..).zip(endpoints) {
            // Also if this future is dropped while it waits for a silent host.
            self.state().start = position + 1;
            let name = endpoint.name;
            let opening = async {
                let config = endpoint.config?;
                Session::open(&name, &config, &address.tls, &settings, &self.timeline, &self.options.log)
                    .await
            };
            let silent = |_| {
                Err(ConnectError::Unreachable { host: name.clone(), why: "no response in time".to_owned() })
            };
            match timeout(address.connect_timeout, opening).await.unwrap_or_else(silent) {
                Ok(session) => {
                    if found.as_ref().is_none_or(|(_, found)| found.timeline < session.timeline) {
                        found = Some((position, session));
                    }
                    if !all {
                        break;
                    }
                }
                Err(error) => errors.push(error),
            }
        }
        let (position, session) = found.ok_or(PgError::Unreachable(errors))?;
        let mut state = self.state();
        (state.start, state.all) = (position, false);
        Ok(session)
    }

    /// Must be called after a write failed: the server may be an old primary, which waits for its standby in vain.
    pub(super) fn suspect(&self) {
        self.state().all = true;
    }

    /// Looks for a newer primary than the one in use. If there is one, the connections to the old one are closed.
    pub(super) async fn look_at_all(&self) {
        self.suspect();
        // An error changes nothing: the next connection finds it again.
        drop(self.connect().await);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
