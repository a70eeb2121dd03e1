//! The transaction of a copy, on a connection of its own.

use async_trait::async_trait;
use futures::FutureExt as _;
use tokio::time::Instant;

use super::address::Address;
use super::error::PgError;
use super::session::{Purpose, Session};
use super::{animals, idempotency, keys};
use crate::storage::copy::{Chunk, Import};
use crate::storage::options::StoreOptions;
use crate::storage::store::{PetsQuery, StoreError};

/// Other processes may read meanwhile. Their writes wait, so the tables are still empty when the first chunk is stored.
const BEGIN: &str = "BEGIN; LOCK TABLE animal, api_key, idempotency_key IN SHARE ROW EXCLUSIVE MODE";

const IS_EMPTY: &str = "SELECT NOT EXISTS (SELECT FROM animal) AND NOT EXISTS (SELECT FROM api_key) \
     AND NOT EXISTS (SELECT FROM idempotency_key)";

pub(in crate::storage) struct CopyTransaction {
    session: Session,
    animals: animals::Queries,
    options: StoreOptions,
}

impl CopyTransaction {
    /// Begins the transaction, if the database has neither animals nor keys.
    pub(super) async fn begin(address: &Address, options: &StoreOptions) -> Result<Option<Self>, PgError> {
        let connecting = Session::connect(address, Purpose::Writing, options, |client| {
            animals::Queries::prepare(client).boxed()
        });
        let (session, animals) = connecting.await?;
        let transaction = Self { session, animals, options: options.clone() };
        let begin = async {
            transaction.session.client().batch_execute(BEGIN).await?;
            Ok(transaction.session.client().query_one(IS_EMPTY, &[]).await?.try_get(0)?)
        };
        let is_empty: bool = transaction.session.until(transaction.deadline(), begin).await?;
        Ok(is_empty.then_some(transaction))
    }

    fn deadline(&self) -> Instant {
        Instant::now() + self.options.postgres.call_timeout()
    }

    async fn import(&self, chunk: &Chunk) -> Result<bool, PgError> {
        let to = self.session.client();
        match chunk {
            Chunk::Pets(pets) => {
                animals::import(to, pets).await?;
                let after = pets.first().and_then(|pet| pet.id.checked_sub(1));
                let query = PetsQuery { status: None, after, limit: pets.len() as u32 };
                Ok(self.animals.page(to, query).await? == *pets)
            }
            Chunk::IdempotencyKeys(keys) => {
                idempotency::import(to, keys).await?;
                let after = keys.first().map_or(i64::MIN, |key| key.animal_id.saturating_sub(1));
                Ok(idempotency::after(to, after, keys.len() as u32).await? == *keys)
            }
            Chunk::Keys(keys) => {
                for key in keys {
                    if keys::insert(to, key).await?.is_err() {
                        return Ok(false);
                    }
                }
                Ok(keys::all(to).await? == *keys)
            }
        }
    }
}

#[async_trait]
impl Import for CopyTransaction {
    async fn import(&mut self, chunk: &Chunk) -> Result<bool, StoreError> {
        let imported = self.session.until(self.deadline(), Self::import(self, chunk)).await;
        imported.map_err(|failure| failure.store_error())
    }

    async fn commit(self: Box<Self>) -> Result<(), StoreError> {
        let commit = async { Ok(self.session.client().batch_execute("COMMIT").await?) };
        let committed = self.session.write_until(self.deadline(), commit).await;
        committed.map_err(|failure| failure.store_error())
    }
}
