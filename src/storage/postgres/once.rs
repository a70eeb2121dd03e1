//! Additions with an idempotency key: all that wait are stored by one statement, and the animals of keys that exist are
//! found by another.
//!
//! They are not stored together with additions without a key, because they may wait for another transaction with the
//! same key.

use jiff::Timestamp;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::failure::Failure;
use super::idempotency::{Addition, Statements};
use super::session::Session;
use crate::schemas::{NewPet, Pet};
use crate::storage::metrics::Operation;
use crate::storage::options::StoreOptions;
use crate::storage::store::{AddedOnce, IdempotencyKey, StoreError};

/// An addition that waits.
pub(super) struct AddOnce {
    pub(super) new: NewPet,
    pub(super) key: IdempotencyKey,
    pub(super) at: Timestamp,
    pub(super) caller: oneshot::Sender<Result<AddedOnce, StoreError>>,
}

impl AddOnce {
    fn addition(&self) -> Addition<'_> {
        (&self.new, &self.key, self.at)
    }

    pub(super) fn complete(self, result: Result<AddedOnce, StoreError>) {
        // The caller may be gone.
        let _ = self.caller.send(result);
    }
}

/// Stores animals, each unless one with its key exists, and sends the result to each caller.
pub(super) async fn add(
    session: &Session,
    statements: &Statements,
    mut waiting: Vec<AddOnce>,
    until: Instant,
    options: &StoreOptions,
) {
    // Stable, so that of two additions with the same key the first is stored.
    waiting.sort_by(|one, other| one.key.cmp(&other.key));
    let (mut different, mut existing) = (Vec::with_capacity(waiting.len()), Vec::new());
    for addition in waiting {
        let is_repeated = different.last().is_some_and(|last: &AddOnce| last.key == addition.key);
        if is_repeated { &mut existing } else { &mut different }.push(addition);
    }
    let additions: Vec<Addition<'_>> = different.iter().map(AddOnce::addition).collect();
    let ids = match insert(session, statements, &additions, until, options).await {
        Ok(ids) => ids.into_iter().map(Ok).collect(),
        Err(failure) if failure.is_value_error() => {
            insert_each(session, statements, &additions, until, options).await
        }
        Err(failure) => {
            failure.report(options, Operation::Write);
            different.into_iter().chain(existing).for_each(|it| it.complete(Err(failure.store_error())));
            return;
        }
    };
    for (addition, id) in different.into_iter().zip(ids) {
        match id {
            Ok(None) => existing.push(addition),
            Ok(Some(id)) => {
                let NewPet { name, category_id, status } = addition.new.clone();
                addition.complete(Ok(AddedOnce::Now(Pet { id, name, category_id, status })));
            }
            Err(error) => addition.complete(Err(error)),
        }
    }
    if !existing.is_empty() {
        find(session, statements, existing, until, options).await;
    }
}

async fn insert(
    session: &Session,
    statements: &Statements,
    additions: &[Addition<'_>],
    until: Instant,
    options: &StoreOptions,
) -> Result<Vec<Option<i64>>, Failure> {
    let ids = session.write_until(until, statements.insert(session.client(), additions)).await?;
    options.metrics.committed(ids.iter().flatten().count());
    Ok(ids)
}

/// Stores animals one by one, after all together were rejected.
async fn insert_each(
    session: &Session,
    statements: &Statements,
    additions: &[Addition<'_>],
    until: Instant,
    options: &StoreOptions,
) -> Vec<Result<Option<i64>, StoreError>> {
    let mut ids = Vec::with_capacity(additions.len());
    for addition in additions {
        let inserted = insert(session, statements, &[*addition], until, options).await;
        ids.push(match inserted {
            Ok(one) => Ok(one.first().copied().flatten()),
            Err(failure) => Err(failure.report(options, Operation::Write)),
        });
    }
    ids
}

/// Sends to each caller the animal that has its key.
async fn find(
    session: &Session,
    statements: &Statements,
    existing: Vec<AddOnce>,
    until: Instant,
    options: &StoreOptions,
) {
    let keys: Vec<&IdempotencyKey> = existing.iter().map(|addition| &addition.key).collect();
    match session.until(until, statements.find(session.client(), &keys)).await {
        Ok(found) => {
            for (addition, pet) in existing.into_iter().zip(found) {
                // The key expired in the meantime, or the first addition with it was rejected.
                let gone = || StoreError::Unavailable("an idempotency key changed".to_owned());
                let result = pet.map(|pet| AddedOnce::repeated(pet, &addition.new)).ok_or_else(gone);
                addition.complete(result);
            }
        }
        Err(failure) => {
            failure.report(options, Operation::Write);
            existing.into_iter().for_each(|addition| addition.complete(Err(failure.store_error())));
        }
    }
}
