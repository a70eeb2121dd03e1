//! Writes: one task commits all waiting writes in one transaction (group commit).
//!
//! A commit costs far more than a row, so the task takes everything in the queue, and completes the writes when the server
//! has committed. The next batch collects meanwhile; there is no timer.
//!
//! Every transaction takes the lock of all writers first (`animals.rs`). Additions without idempotency keys are one
//! statement. An idempotency key is looked for after the lock, so an addition sees each earlier one with the same key.
//!
//! Failure modes of a write, beside those of every engine (`../store.rs`):
//!
//! - A statement fails, the connection is lost or the server does not respond in time: the whole batch is
//!   `Unavailable` or `Broken`, and the connection is closed. It is unknown whether the server committed, so nothing is
//!   sent again, which could store it twice.
//! - It waits longer than the maximum duration of a call, including its time in the queue: `Unavailable`.

use std::collections::{HashMap, HashSet};
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use futures::try_join;
use tokio::time::{Instant, sleep, timeout_at};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, SimpleQueryMessage};

use super::animals::{self, BEGIN, Known};
use super::connector::Connector;
use super::error::PgError;
use super::keys;
use super::session::Session;
use crate::schemas::{NewPet, Pet};
use crate::storage::idempotency::{SteadyClock, response};
use crate::storage::metrics::Access;
use crate::storage::queue::{self, QueuedWrite};
use crate::storage::types::{AddedOnce, IdempotencyKey, StoreError};
use crate::storage::write::{Addition, Caller, Change, Write};

/// The minimum time for a batch, even if its oldest caller stops waiting earlier. After an outage the queue
/// is full of old writes, and without a minimum every attempt would time out.
const MIN_BATCH_TIME: Duration = Duration::from_secs(1);
/// The time after which a commit is suspected to wait in vain for the standby of an old primary.
const SLOW: Duration = Duration::from_secs(1);

/// The state of the task that writes.
pub(super) struct Writer {
    /// `None` before the first write and after a failure to connect.
    connection: Option<Open>,
    clock: SteadyClock,
    connector: Arc<Connector>,
}

/// A connection for writing with its prepared statements.
struct Open {
    session: Session,
    statements: animals::Statements,
}

/// The additions of a batch, with their callers.
type Additions<'a> = [(&'a Addition, &'a mut Caller<AddedOnce>)];

impl queue::Writer for Writer {
    async fn commit(&mut self, batch: &mut [QueuedWrite]) -> Result<(), StoreError> {
        let Some(oldest) = batch.first() else { return Ok(()) };
        let limit = self.connector.options.postgres.call_timeout();
        let until = (oldest.since + limit).max(Instant::now() + MIN_BATCH_TIME);
        let connector = self.connector.clone();
        let report = |access, failure: PgError| failure.report(&connector.options, access);
        let open = match self.connection.take().filter(|open| open.session.is_usable()) {
            Some(open) => open,
            None => self.open(until).await.map_err(|failure| report(Access::Connect, failure))?,
        };
        let open = self.connection.insert(open);
        let looking = async {
            sleep(SLOW).await;
            connector.look_at_all().await;
            pending().await
        };
        let committed = tokio::select! {
            committed = open.commit(batch, &mut self.clock, until) => committed,
            never = looking => never,
        };
        let committed = committed.inspect_err(|_| connector.suspect());
        let count = committed.map_err(|failure| report(Access::Write, failure))?;
        connector.options.metrics.committed(count);
        Ok(())
    }
}

impl Writer {
    pub(super) fn new(connector: Arc<Connector>) -> Self {
        Self { connection: None, clock: SteadyClock::default(), connector }
    }

    /// Opens a connection, and looks at the clock of its server.
    async fn open(&mut self, until: Instant) -> Result<Open, PgError> {
        let opening = async {
            let session = self.connector.connect().await?;
            let client = session.client();
            let preparing =
                async { Ok((animals::Statements::prepare(client).await?, animals::now(client).await?)) };
            let (statements, now) = session.until(until, preparing).await?;
            Ok((Open { session, statements }, now))
        };
        let (open, now) = timeout_at(until, opening).await.unwrap_or(Err(PgError::Timeout))?;
        self.clock.see(now);
        Ok(open)
    }
}

impl Open {
    /// Commits a batch, and keeps the result of each write for its caller. Returns how many writes changed something.
    ///
    /// # Errors
    /// It is unknown whether the batch was committed.
    async fn commit(
        &self,
        batch: &mut [QueuedWrite],
        clock: &mut SteadyClock,
        until: Instant,
    ) -> Result<usize, PgError> {
        let Self { session, statements } = self;
        let (mut additions, mut changes, mut checks) =
            (Vec::with_capacity(batch.len()), Vec::new(), Vec::new());
        for queued in batch {
            match &mut queued.write {
                Write::Add(addition, caller) => additions.push((&*addition, caller)),
                Write::Change(Change::Check, caller) => checks.push(caller),
                Write::Change(change, caller) => changes.push((&*change, caller)),
            }
        }
        let client = session.client();
        let count = if !changes.is_empty() || additions.iter().any(|(addition, _)| addition.key.is_some()) {
            let writing = write(client, statements, &mut additions, &mut changes, clock);
            session.transaction(until, writing).await?
        } else if !additions.is_empty() {
            let new: Vec<&Addition> = additions.iter().map(|(addition, _)| *addition).collect();
            let ids = session.transaction(until, statements.insert(client, &new, clock)).await?;
            keep(&mut additions, HashMap::new(), &ids)?
        } else {
            session.transaction(until, check_writable(client)).await?;
            0
        };
        // What else was committed shows that the database can be written.
        for caller in checks {
            caller.keep(Ok(true));
        }
        Ok(count)
    }
}

/// Commits additions of which some have a key, and changes.
async fn write<'a>(
    client: &Client,
    statements: &animals::Statements,
    additions: &mut Additions<'a>,
    changes: &mut [(&Change, &mut Caller<bool>)],
    clock: &mut SteadyClock,
) -> Result<usize, PgError> {
    let keyed: Vec<&'a Addition> =
        additions.iter().map(|(it, _)| *it).filter(|addition| addition.key.is_some()).collect();
    // Statements of one `try_join` are sent together, in this order.
    let begin = async { Ok(client.batch_execute(BEGIN).await?) };
    let ((), known) = try_join!(begin, statements.find(client, &keyed))?;
    for (change, caller) in &mut *changes {
        caller.keep(make(client, clock, change).await?);
    }
    // Of the additions with a key, the first one is inserted if no earlier batch has stored the key.
    let mut seen: HashSet<&IdempotencyKey> = known.keys().copied().collect();
    let new = additions.iter().map(|(addition, _)| *addition);
    let new: Vec<&Addition> =
        new.filter(|addition| addition.key.as_ref().is_none_or(|it| seen.insert(&it.key))).collect();
    let commit = async { Ok(client.batch_execute("COMMIT").await?) };
    let (ids, ()) = try_join!(statements.insert(client, &new, clock), commit)?;
    Ok(keep(additions, known, &ids)? + changes.len())
}

/// Keeps the result of each addition for its caller. `ids` are the identifiers of those that were inserted, in the same
/// order. Returns their number.
fn keep<'a>(additions: &mut Additions<'a>, mut known: Known<'a>, ids: &[i64]) -> Result<usize, PgError> {
    let mut new = ids.iter();
    for (addition, caller) in additions {
        let request = addition.key.as_ref();
        let earlier = request.and_then(|request| Some((request, known.get(&request.key)?)));
        let result = match (earlier, &addition.new) {
            (Some((request, (fingerprint, response))), _) => {
                let repeated = request.repeated(fingerprint, response);
                Ok(repeated.map_err(|error| PgError::UnexpectedValue(format!("a response: {error}")))?)
            }
            (None, NewPet { name, category_id, status }) => match new.next() {
                Some(id) => {
                    let pet = Pet { id: *id, name: name.clone(), category_id: *category_id, status: *status };
                    if let Some(request) = request {
                        known.insert(&request.key, (request.fingerprint.to_vec(), response(&pet)));
                    }
                    Ok(AddedOnce::Now(pet))
                }
                None => Err(StoreError::Broken("an identifier is missing".to_owned())),
            },
        };
        caller.keep(result);
    }
    Ok(ids.len())
}

async fn make(
    client: &Client,
    clock: &mut SteadyClock,
    change: &Change,
) -> Result<Result<bool, StoreError>, PgError> {
    match change {
        Change::AddKey(key) => keys::insert(client, key).await,
        Change::NoteUse { id, at } => keys::note_use(client, id, *at).await.map(Ok),
        Change::RevokeKey { id, at } => keys::revoke(client, id, *at).await.map(Ok),
        Change::RotateKey { old, old_expires, new } => keys::rotate(client, old, *old_expires, new).await,
        Change::RemoveExpired(expiry) => {
            expiry.removed(animals::remove_expired(client, clock).await?);
            Ok(Ok(true))
        }
        Change::Check => Ok(Ok(true)),
    }
}

// Rows that take more than `work_mem` go to a temporary file, which takes its space from the disk of the database: a row
// of a table would not show that the disk is full while it fits into a page that exists. The message goes to the WAL, so
// its commit waits for the synchronous standby: an old primary, which has none, fails.
const CHECK: &str = "SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean; \
     SELECT set_config('work_mem', '64kB', true), set_config('temp_tablespaces', '', true); \
     SELECT count(*) FROM unnest(array_fill(repeat('x', 1000), ARRAY[1000])); \
     SELECT pg_logical_emit_message(true, 'animal-store', 'check') WHERE NOT pg_is_in_recovery()";

/// Checks that the server is not read-only, that its disk has space for 1 MB, more than a batch takes, and that it commits.
async fn check_writable(client: &Client) -> Result<(), PgError> {
    let results = match client.simple_query(CHECK).await {
        // `temp_file_limit` does not allow the temporary file.
        Err(error) if error.code() == Some(&SqlState::CONFIGURATION_LIMIT_EXCEEDED) => return Ok(()),
        results => results?,
    };
    let mut rows = results.iter().filter_map(|result| match result {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    });
    match rows.next().and_then(|row| row.get(0)) {
        Some("f") => Ok(()),
        _ => Err(PgError::ReadOnly),
    }
}
