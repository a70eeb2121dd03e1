//! A connection for writing, and what is written on it.

use futures::FutureExt as _;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, SimpleQueryMessage};

use super::address::Address;
use super::error::{PgError, WriteResult};
use super::session::{Purpose, Session};
use super::{additions, idempotency, keys};
use crate::schemas::{NewPet, Pet};
use crate::storage::error::StoreError;
use crate::storage::metrics::Access;
use crate::storage::options::StoreOptions;
use crate::storage::types::AddedOnce;
use crate::storage::write::{Addition, Caller, Change};

/// A connection for writing with its prepared statements.
pub(super) struct WriteSession {
    pub(super) session: Session,
    additions: additions::Statements,
    options: StoreOptions,
    _counted: Counted,
}

/// Counts a connection.
struct Counted(watch::Sender<usize>);

impl Counted {
    fn new(connected: &watch::Sender<usize>) -> Self {
        connected.send_modify(|count| *count += 1);
        Self(connected.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

impl WriteSession {
    /// Connects, and counts the connection in `connected` until it is dropped.
    pub(super) async fn connect(
        address: &Address,
        connected: &watch::Sender<usize>,
        options: &StoreOptions,
    ) -> Result<Self, PgError> {
        let connecting = Session::connect(address, Purpose::Writing, options, |client| {
            additions::Statements::prepare(client).boxed()
        });
        let (session, additions) = connecting.await?;
        Ok(Self { session, additions, options: options.clone(), _counted: Counted::new(connected) })
    }

    /// Stores animals, each unless one with its idempotency key exists, and sends the result to each caller.
    pub(super) async fn add(&self, mut additions: Vec<(Addition, Caller<AddedOnce>)>, until: Instant) {
        // Stable, so that of two additions with the same key the first is stored.
        additions.sort_by(|(one, _), (other, _)| one.key().cmp(&other.key()));
        let (mut different, mut existing): (Vec<(Addition, _)>, _) =
            (Vec::with_capacity(additions.len()), Vec::new());
        for (addition, caller) in additions {
            let key = addition.key();
            let is_repeated = key.is_some() && different.last().is_some_and(|(last, _)| last.key() == key);
            if is_repeated { &mut existing } else { &mut different }.push((addition, caller));
        }
        let rows: Vec<&Addition> = different.iter().map(|(addition, _)| addition).collect();
        let ids = self.insert(&rows, until).await;
        for ((addition, caller), id) in different.into_iter().zip(ids) {
            match id {
                Ok(None) => existing.push((addition, caller)),
                Ok(Some(id)) => {
                    let NewPet { name, category_id, status } = addition.new;
                    caller.send(Ok(AddedOnce::Now(Pet { id, name, category_id, status })));
                }
                Err(error) => caller.send(Err(error)),
            }
        }
        if !existing.is_empty() {
            self.find(existing, until).await;
        }
    }

    /// Sends to each caller the result of its repeated addition.
    async fn find(&self, existing: Vec<(Addition, Caller<AddedOnce>)>, until: Instant) {
        let additions: Vec<&Addition> = existing.iter().map(|(addition, _)| addition).collect();
        let found = self.session.until(until, self.additions.find(self.session.client(), &additions)).await;
        let found = self.each(found, existing.len());
        for ((_, caller), result) in existing.into_iter().zip(found) {
            // The key expired in the meantime, or the first addition with it was rejected.
            let gone = || StoreError::Unavailable("an idempotency key changed".to_owned());
            caller.send(result.and_then(|found| found.ok_or_else(gone)));
        }
    }

    /// Makes a change and sends the result to its caller.
    pub(super) async fn change(&self, change: Change, caller: Caller<bool>, until: Instant) {
        let is_counted = change.is_counted();
        let changed = self.session.write_until(until, make(self.session.client(), change)).await;
        if is_counted && matches!(changed, Ok(Ok(_))) {
            self.options.metrics.committed(1);
        }
        caller.send(changed.unwrap_or_else(|failure| Err(failure.report(&self.options, Access::Write))));
    }

    /// Stores animals with one statement; if the server rejects their values, one by one. Returns the identifier of each;
    /// `None` if an animal has the key.
    async fn insert(&self, rows: &[&Addition], until: Instant) -> Vec<Result<Option<i64>, StoreError>> {
        let together = self.insert_together(rows, until).await;
        if rows.len() == 1 || !together.as_ref().is_err_and(PgError::is_value_error) {
            return self.each(together, rows.len());
        }
        let mut all = Vec::with_capacity(rows.len());
        for row in rows {
            all.extend(self.each(self.insert_together(&[*row], until).await, 1));
        }
        all
    }

    async fn insert_together(&self, rows: &[&Addition], until: Instant) -> Result<Vec<Option<i64>>, PgError> {
        let insert = self.additions.insert(self.session.client(), rows);
        let ids = self.session.write_until(until, insert).await?;
        self.options.metrics.committed(ids.iter().flatten().count());
        Ok(ids)
    }

    /// Returns the result of each of `count` writes that were stored together, and reports a failure.
    fn each<T>(&self, results: Result<Vec<T>, PgError>, count: usize) -> Vec<Result<T, StoreError>> {
        match results {
            Ok(results) => results.into_iter().map(Ok).collect(),
            Err(failure) => {
                failure.report(&self.options, Access::Write);
                (0..count).map(|_| Err(failure.store_error())).collect()
            }
        }
    }
}

async fn make(client: &Client, change: Change) -> WriteResult<bool> {
    match change {
        Change::AddKey(key) => keys::insert(client, &key).await,
        Change::NoteUse { id, at } => keys::note_use(client, &id, at).await,
        Change::RevokeKey { id, at } => keys::revoke(client, &id, at).await,
        Change::RotateKey { old, old_expires, new } => keys::rotate(client, &old, old_expires, &new).await,
        Change::RemoveExpired { after, at, expiry } => {
            expiry.removed(idempotency::remove_expired(client, after, at).await?, at);
            Ok(Ok(true))
        }
        Change::Check => check_writable(client).await,
    }
}

// Rows that take more than `work_mem` go to a temporary file, which takes its space from the disk of the database. A row
// of a table would not show that the disk is full while it fits into a page that exists.
const CHECK: &str = "SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean; \
     SELECT set_config('work_mem', '64kB', true), set_config('temp_tablespaces', '', true); \
     SELECT count(*) FROM unnest(array_fill(repeat('x', 1000), ARRAY[1000]))";

/// Checks that the server is not read-only, else the session is closed and another server is looked for, and that its
/// disk has space for 1 MB, more than a batch takes. Nothing is flushed.
async fn check_writable(client: &Client) -> WriteResult<bool> {
    let results = match client.simple_query(CHECK).await {
        // `temp_file_limit` does not allow the temporary file.
        Err(error) if error.code() == Some(&SqlState::CONFIGURATION_LIMIT_EXCEEDED) => return Ok(Ok(true)),
        results => results?,
    };
    let mut rows = results.iter().filter_map(|result| match result {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    });
    match rows.next().and_then(|row| row.get(0)) {
        Some("f") => Ok(Ok(true)),
        _ => Err(PgError::ReadOnly),
    }
}
