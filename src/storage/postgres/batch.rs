//! A connection for writing, and the transaction of a batch.
//!
//! The first statement of each transaction takes [`LOCK`], which the server releases after the commit is visible. So
//! identifiers become visible in ascending order, with any number of replicas, and an addition whose idempotency key is
//! looked for after that sees each addition with the same key.
//!
//! Statements that do not depend on a result are sent together: a batch takes one round trip, and one more if it contains
//! idempotency keys.

use std::collections::{HashMap, HashSet};

use futures::try_join;
use tokio::time::Instant;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, SimpleQueryMessage};

use super::additions::Known;
use super::connector::Connector;
use super::error::PgError;
use super::session::Session;
use super::{additions, idempotency, keys};
use crate::schemas::{NewPet, Pet};
use crate::storage::error::StoreError;
use crate::storage::expiry::SteadyClock;
use crate::storage::idempotency::response;
use crate::storage::queue::QueuedWrite;
use crate::storage::types::{AddedOnce, IdempotencyKey};
use crate::storage::write::{Addition, Caller, Change, Write};

/// The first key of the advisory lock of all writers: "Pets" in ASCII. The second key is the OID of the sequence, so that
/// stores in different schemas do not wait for each other.
const LOCK: i32 = 0x5065_7473;

/// A connection for writing with its prepared statements.
pub(super) struct WriteSession {
    session: Session,
    additions: additions::Statements,
    begin: String,
}

impl WriteSession {
    /// Connects. Returns the time of the database too, in seconds.
    pub(super) async fn open(connector: &Connector) -> Result<(Self, i64), PgError> {
        let session = connector.connect().await?;
        let preparing = async {
            let client = session.client();
            Ok((additions::Statements::prepare(client).await?, idempotency::now(client).await?))
        };
        let deadline = Instant::now() + connector.options.postgres.call_timeout();
        let (additions, now) = session.until(deadline, preparing).await?;
        let open = Self {
            session,
            additions,
            begin: format!("BEGIN; SELECT pg_advisory_xact_lock({LOCK}, 'animal_id'::regclass::oid::int4)"),
        };
        Ok((open, now))
    }

    pub(super) fn is_usable(&self) -> bool {
        self.session.is_usable()
    }

    /// Commits a batch, and keeps the result of each write for its caller. Returns how many writes changed something.
    ///
    /// # Errors
    /// It is unknown whether the batch was committed.
    pub(super) async fn commit(
        &self,
        batch: &mut [QueuedWrite],
        clock: &mut SteadyClock,
        until: Instant,
    ) -> Result<usize, PgError> {
        let (mut additions, mut changes, mut checks) =
            (Vec::with_capacity(batch.len()), Vec::new(), Vec::new());
        for queued in batch {
            match &mut queued.write {
                Write::Add(addition, caller) => additions.push((&*addition, caller)),
                Write::Change(Change::Check, caller) => checks.push(caller),
                Write::Change(change, caller) => changes.push((&*change, caller)),
            }
        }
        let count = if additions.is_empty() && changes.is_empty() {
            self.session.transaction(until, check_writable(self.session.client())).await?;
            0
        } else {
            self.session.transaction(until, self.write(&mut additions, &mut changes, clock)).await?
        };
        // What else was committed shows that the database can be written.
        for caller in checks {
            caller.keep(Ok(true));
        }
        Ok(count)
    }

    async fn write<'a>(
        &self,
        additions: &mut [(&'a Addition, &mut Caller<AddedOnce>)],
        changes: &mut [(&Change, &mut Caller<bool>)],
        clock: &mut SteadyClock,
    ) -> Result<usize, PgError> {
        let client = self.session.client();
        let begin = async { Ok(client.batch_execute(&self.begin).await?) };
        let keyed: Vec<&'a Addition> =
            additions.iter().map(|(it, _)| *it).filter(|addition| addition.key.is_some()).collect();
        let (begin, known) = if keyed.is_empty() {
            (Some(begin), HashMap::new())
        } else {
            let ((), known) = try_join!(begin, self.additions.find(client, &keyed))?;
            (None, known)
        };
        // Of the additions with a key, the first one is inserted if no earlier batch has stored the key.
        let mut seen: HashSet<&IdempotencyKey> = known.keys().copied().collect();
        let mut new = Vec::with_capacity(additions.len());
        for (addition, _) in &*additions {
            if addition.key.as_ref().is_none_or(|it| seen.insert(&it.key)) {
                new.push(*addition);
            }
        }
        let begin = async {
            match begin {
                Some(begin) => begin.await,
                None => Ok(()),
            }
        };
        let insert = self.additions.insert(client, &new);
        let commit = async { Ok(client.batch_execute("COMMIT").await?) };
        // Polled in this order, and so sent in this order.
        let ids = if changes.is_empty() {
            try_join!(begin, insert, commit)?.1
        } else {
            let ((), ids) = try_join!(begin, insert)?;
            for (change, caller) in &mut *changes {
                caller.keep(make(client, clock, change).await?);
            }
            commit.await?;
            ids
        };
        Ok(keep(additions, known, &ids)? + changes.len())
    }
}

/// Keeps the result of each addition for its caller. `ids` are the identifiers of those that were inserted, in the same
/// order. Returns their number.
fn keep<'a>(
    additions: &mut [(&'a Addition, &mut Caller<AddedOnce>)],
    mut known: Known<'a>,
    ids: &[i64],
) -> Result<usize, PgError> {
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
            expiry.removed(idempotency::remove_expired(client, clock).await?);
            Ok(Ok(true))
        }
        Change::Check => Ok(Ok(true)),
    }
}

// Rows that take more than `work_mem` go to a temporary file, which takes its space from the disk of the database. A row
// of a table would not show that the disk is full while it fits into a page that exists.
const CHECK: &str = "SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean; \
     SELECT set_config('work_mem', '64kB', true), set_config('temp_tablespaces', '', true); \
     SELECT count(*) FROM unnest(array_fill(repeat('x', 1000), ARRAY[1000]))";

/// Checks that the server is not read-only, and that its disk has space for 1 MB, more than a batch takes. Nothing is
/// flushed.
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
