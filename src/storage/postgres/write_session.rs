//! A connection for writing, and what is written on it.

use futures::future::{FutureExt as _, try_join};
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, SimpleQueryMessage, Statement};

use super::address::Address;
use super::error::{PgError, WriteResult};
use super::session::{Purpose, Session};
use super::{animals, idempotency, keys};
use crate::schemas::{NewPet, Pet};
use crate::storage::metrics::Access;
use crate::storage::options::StoreOptions;
use crate::storage::store::{AddedOnce, StoreError};
use crate::storage::write::{Addition, Caller, Change};

/// A connection for writing with its prepared statements.
pub(super) struct WriteSession {
    pub(super) session: Session,
    insert: Statement,
    once: idempotency::Statements,
    options: StoreOptions,
    _counted: Counted,
}

/// What one statement stores many of.
trait Row: Sync {
    /// The identifier of a row.
    type Id: Copy + Send + Into<Option<i64>>;

    fn insert(
        session: &WriteSession,
        rows: &[&Self],
    ) -> impl Future<Output = Result<Vec<Self::Id>, PgError>> + Send;
}

impl Row for NewPet {
    type Id = i64;

    async fn insert(session: &WriteSession, rows: &[&Self]) -> Result<Vec<i64>, PgError> {
        animals::insert(session.session.client(), &session.insert, rows).await
    }
}

impl Row for Addition {
    /// `None` if an animal has the key.
    type Id = Option<i64>;

    async fn insert(session: &WriteSession, rows: &[&Self]) -> Result<Vec<Option<i64>>, PgError> {
        session.once.insert(session.session.client(), rows).await
    }
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
            try_join(animals::prepare_insert(client), idempotency::Statements::prepare(client)).boxed()
        });
        let (session, (insert, once)) = connecting.await?;
        Ok(Self { session, insert, once, options: options.clone(), _counted: Counted::new(connected) })
    }

    /// Stores animals and sends the result to each caller.
    pub(super) async fn add(&self, animals: Vec<(NewPet, Caller<Pet>)>, until: Instant) {
        let rows: Vec<&NewPet> = animals.iter().map(|(new, _)| new).collect();
        let ids = self.insert(&rows, until).await;
        for ((NewPet { name, category_id, status }, caller), id) in animals.into_iter().zip(ids) {
            caller.send(id.map(|id| Pet { id, name, category_id, status }));
        }
    }

    /// Stores animals, each unless one with its idempotency key exists, and sends the result to each caller.
    ///
    /// They are not stored together with additions without a key, because they may wait for another transaction with
    /// the same key.
    pub(super) async fn add_once(&self, mut additions: Vec<(Addition, Caller<AddedOnce>)>, until: Instant) {
        // Stable, so that of two additions with the same key the first is stored.
        additions.sort_by(|(one, _), (other, _)| one.key.cmp(&other.key));
        let (mut different, mut existing): (Vec<(Addition, _)>, _) =
            (Vec::with_capacity(additions.len()), Vec::new());
        for (addition, caller) in additions {
            let is_repeated = different.last().is_some_and(|(last, _)| last.key == addition.key);
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
        match self.session.until(until, self.once.find(self.session.client(), &additions)).await {
            Ok(found) => {
                for ((_, caller), result) in existing.into_iter().zip(found) {
                    // The key expired in the meantime, or the first addition with it was rejected.
                    let gone = || StoreError::Unavailable("an idempotency key changed".to_owned());
                    caller.send(result.ok_or_else(gone));
                }
            }
            Err(failure) => {
                failure.report(&self.options, Access::Write);
                existing.into_iter().for_each(|(_, caller)| caller.send(Err(failure.store_error())));
            }
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

    /// Stores rows with one statement; if the server rejects their values, one by one. Returns the result of each.
    async fn insert<R: Row>(&self, rows: &[&R], until: Instant) -> Vec<Result<R::Id, StoreError>> {
        let each = |ids: Result<Vec<R::Id>, PgError>, count: usize| match ids {
            Ok(ids) => ids.into_iter().map(Ok).collect::<Vec<_>>(),
            Err(failure) => {
                failure.report(&self.options, Access::Write);
                (0..count).map(|_| Err(failure.store_error())).collect()
            }
        };
        let together = self.insert_together(rows, until).await;
        if !together.as_ref().is_err_and(PgError::is_value_error) {
            return each(together, rows.len());
        }
        let mut all = Vec::with_capacity(rows.len());
        for row in rows {
            all.extend(each(self.insert_together(&[*row], until).await, 1));
        }
        all
    }

    async fn insert_together<R: Row>(&self, rows: &[&R], until: Instant) -> Result<Vec<R::Id>, PgError> {
        let ids = self.session.write_until(until, R::insert(self, rows)).await?;
        self.options.metrics.committed(ids.iter().filter_map(|id| (*id).into()).count());
        Ok(ids)
    }
}

async fn make(client: &Client, change: Change) -> WriteResult<bool> {
    match change {
        Change::AddKey(key) => keys::insert(client, &key).await,
        Change::NoteUses(mut uses) => keys::note_uses(client, uses.take()).await,
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
