//! The SQL of animals and of idempotency keys, and the execution of every write.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use futures::try_join;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, Row, Statement};

use super::engine::{Postgres, Reader};
use super::error::PgError;
use super::keys;
use crate::schemas::{NewPet, Pet, PetName, PetStatus};
use crate::storage::idempotency::{CHUNK, SteadyClock, response};
use crate::storage::queue::QueuedWrite;
use crate::storage::types::{AddedOnce, IdempotencyKey, PetsFound, PetsQuery, StoreError};
use crate::storage::write::{Addition, Caller, Write};

const GET: &str = "SELECT id, name, category, status FROM animal WHERE id = $1";

const PAGE: &str = "SELECT id, name, category, status FROM animal WHERE id > $1 ORDER BY id LIMIT $2";

// Equivalent to `status = $3 AND id > $1 ORDER BY id`, but only the index on (status, id) provides this
// order. With the plain form, the primary key provides it too, and a generic plan, which assumes a common
// status, may scan the primary key through all other animals.
const PAGE_OF_STATUS: &str = "SELECT id, name, category, status FROM animal \
     WHERE (status, id) > ($3, $1) AND status <= $3 ORDER BY status, id LIMIT $2";

/// The lock of all writers, which the server releases after their commit is visible: it is taken before identifiers are
/// assigned, so identifiers become visible in ascending order, with any number of replicas. The first key is "Pets" in
/// ASCII. The second one keeps stores in different schemas from waiting for each other.
macro_rules! lock {
    () => {
        "SELECT pg_advisory_xact_lock(1348826227, 'animal_id'::regclass::oid::int4)"
    };
}

/// Begins a transaction of several statements. What they look for, they see as the last writer left it.
const BEGIN: &str = concat!("BEGIN; ", lock!());

// Alone, it is a transaction. Assigns the identifiers after the lock, together with the position in the batch, and before
// the INSERT, because neither the order of its rows nor that of RETURNING is defined. A volatile expression that is used
// twice is evaluated once.
const INSERT: &str = concat!(
    "WITH locked AS (",
    lock!(),
    "), numbered AS ( \
         SELECT nextval('animal_id') AS id, name, category, status, position FROM locked, \
             unnest($1::text[], $2::bigint[], $3::text[]) WITH ORDINALITY AS given (name, category, status, position) \
     ), stored AS ( \
         INSERT INTO animal (id, name, category, status) SELECT id, name, category, status FROM numbered \
     ) \
     SELECT id FROM numbered ORDER BY position"
);

// Stores keys too, which do not exist, after [`BEGIN`]. The response is the JSON text of the animal. $7 is the earliest time.
const INSERT_ONCE: &str = "WITH numbered AS ( \
         SELECT nextval('animal_id') AS id, name, category, status, client, value, fingerprint, position \
         FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::bytea[]) \
             WITH ORDINALITY AS given (name, category, status, client, value, fingerprint, position) \
     ), stored AS ( \
         INSERT INTO animal (id, name, category, status) SELECT id, name, category, status FROM numbered \
     ), keys AS ( \
         INSERT INTO idempotency_key (client, value, fingerprint, response, added) \
         SELECT client, value, fingerprint, \
             CASE WHEN status IS NULL \
                 THEN json_build_object('id', id, 'name', name, 'categoryId', category) \
                 ELSE json_build_object('id', id, 'name', name, 'categoryId', category, 'status', status) \
             END::text, \
             greatest(floor(extract(epoch FROM now()))::bigint, $7) \
         FROM numbered WHERE client IS NOT NULL \
     ) \
     SELECT id FROM numbered ORDER BY position";

// With LIMIT, a subquery is run for each key, whatever the statistics are.
const FIND: &str = "SELECT given.client, given.value, fingerprint, response \
     FROM unnest($1::text[], $2::text[]) AS given (client, value), \
     LATERAL (SELECT fingerprint, response FROM idempotency_key AS known \
         WHERE known.client = given.client AND known.value = given.value LIMIT 1) AS found";

const NOW: &str = "SELECT floor(extract(epoch FROM now()))::bigint";

// The oldest first, so that keys with a time in the future do not delay the removal of others.
const REMOVE: &str = "DELETE FROM idempotency_key WHERE ctid = ANY (ARRAY( \
         SELECT ctid FROM idempotency_key WHERE added < $1 ORDER BY added LIMIT $2 \
     ))";

impl Postgres {
    /// Returns the animal with this identifier.
    pub(in crate::storage) async fn pet(&self, id: i64) -> Result<Option<Pet>, StoreError> {
        self.read(|reader| async move { reader.query(GET, &[&id]).await?.first().map(pet).transpose() }).await
    }

    /// Returns a page of animals.
    pub(in crate::storage) async fn pets(&self, query: PetsQuery) -> Result<PetsFound, StoreError> {
        self.read(|reader| page(reader, query)).await
    }
}

async fn page(reader: Arc<Reader>, query: PetsQuery) -> Result<PetsFound, PgError> {
    let after = query.after.unwrap_or(i64::MIN);
    // One more than the page has, which shows whether there are more.
    let limit = i64::from(query.limit) + 1;
    let rows = match query.status {
        None => reader.query(PAGE, &[&after, &limit]).await?,
        Some(status) => reader.query(PAGE_OF_STATUS, &[&after, &limit, &status.as_str()]).await?,
    };
    let mut pets = rows.iter().map(pet).collect::<Result<Vec<_>, _>>()?;
    let more = pets.len() > query.limit as usize;
    pets.truncate(query.limit as usize);
    Ok(PetsFound { pets, more })
}

/// Reads an animal from the first four columns.
fn pet(row: &Row) -> Result<Pet, PgError> {
    let name = PetName::try_from(row.try_get::<_, String>(1)?)
        .map_err(|why| PgError::UnexpectedValue(format!("a name {why}")))?;
    let unknown = || PgError::UnexpectedValue("an unknown status".to_owned());
    let status: Option<&str> = row.try_get(3)?;
    let status = status.map(|word| PetStatus::from_word(word).ok_or_else(unknown)).transpose()?;
    Ok(Pet { id: row.try_get(0)?, name, category_id: row.try_get(2)?, status })
}

/// What is stored with a key: the fingerprint of the request, and the response.
type Known = HashMap<IdempotencyKey, (Vec<u8>, String)>;

/// The prepared statements of a connection for writing.
pub(super) struct Statements {
    insert: Statement,
    insert_once: Statement,
    find: Statement,
}

impl Statements {
    pub(super) async fn prepare(client: &Client) -> Result<Self, Error> {
        let (insert, insert_once, find) =
            try_join!(client.prepare(INSERT), client.prepare(INSERT_ONCE), client.prepare(FIND))?;
        Ok(Self { insert, insert_once, find })
    }

    /// Commits the writes of a batch, and keeps the result of each for its caller.
    ///
    /// # Errors
    /// It is unknown whether the batch was committed.
    pub(super) async fn execute(
        &self,
        client: &Client,
        batch: &mut [QueuedWrite],
        clock: &mut SteadyClock,
    ) -> Result<(), PgError> {
        let is_one_statement = batch.iter().all(|queued| {
            matches!(queued.write, Write::AddPet(Addition { key: None, .. }, _) | Write::Check(_))
        });
        let run = async |statement| match is_one_statement {
            true => Ok(()),
            false => Ok(client.batch_execute(statement).await?),
        };
        let keyed = batch.iter().filter_map(|queued| match &queued.write {
            Write::AddPet(addition, _) => Some(addition).filter(|addition| addition.key.is_some()),
            _ => None,
        });
        let keyed: Vec<&Addition> = keyed.collect();
        // Statements of one `try_join` are sent together, in this order.
        let ((), known) = try_join!(run(BEGIN), self.find(client, &keyed))?;
        let mut additions = Vec::with_capacity(batch.len());
        for QueuedWrite { write, .. } in batch {
            match write {
                Write::AddPet(addition, caller) => additions.push((&*addition, caller)),
                Write::Key(change, caller) => caller.keep(keys::execute(client, change).await?),
                Write::RemoveExpired(expiry, caller) => {
                    expiry.removed(remove_expired(client, clock).await?);
                    caller.keep(());
                }
                Write::Check(caller) => caller.keep(()),
            }
        }
        // Of the additions with a key, the first one is inserted if no earlier batch has stored the key.
        let mut seen: HashSet<&IdempotencyKey> = known.keys().collect();
        let new = additions.iter().map(|(addition, _)| *addition);
        let new: Vec<&Addition> =
            new.filter(|addition| addition.key.as_ref().is_none_or(|it| seen.insert(&it.key))).collect();
        let (ids, ()) = try_join!(self.insert(client, &new, clock), run("COMMIT"))?;
        keep(additions, known, &ids)
    }

    /// Stores animals and their keys. Returns the identifiers in the same order.
    async fn insert(
        &self,
        client: &Client,
        additions: &[&Addition],
        clock: &SteadyClock,
    ) -> Result<Vec<i64>, PgError> {
        if additions.is_empty() {
            return Ok(Vec::new());
        }
        let names: Vec<&str> = additions.iter().map(|it| it.new.name.as_str()).collect();
        let categories: Vec<i64> = additions.iter().map(|it| it.new.category_id).collect();
        let statuses: Vec<Option<&str>> =
            additions.iter().map(|it| it.new.status.map(PetStatus::as_str)).collect();
        let rows = if additions.iter().all(|it| it.key.is_none()) {
            client.query(&self.insert, &[&names, &categories, &statuses]).await?
        } else {
            let (clients, values) = keys(additions);
            let fingerprints: Vec<Option<&[u8]>> =
                additions.iter().map(|it| it.key.as_ref().map(|it| &it.fingerprint[..])).collect();
            let keys: [&(dyn ToSql + Sync); 7] =
                [&names, &categories, &statuses, &clients, &values, &fingerprints, &clock.earliest()];
            client.query(&self.insert_once, &keys).await?
        };
        Ok(rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?)
    }

    /// Returns what is stored with the keys of these additions.
    async fn find(&self, client: &Client, additions: &[&Addition]) -> Result<Known, PgError> {
        if additions.is_empty() {
            return Ok(HashMap::new());
        }
        let (clients, values) = keys(additions);
        let rows = client.query(&self.find, &[&clients, &values]).await?;
        let known = rows.iter().map(|row| {
            let key = IdempotencyKey { client: row.try_get(0)?, value: row.try_get(1)? };
            Ok::<_, PgError>((key, (row.try_get(2)?, row.try_get(3)?)))
        });
        known.collect()
    }
}

/// Returns the clients and the values of the keys, as columns. NULL for an addition without a key.
fn keys<'a>(additions: &[&'a Addition]) -> (Vec<Option<&'a str>>, Vec<Option<&'a str>>) {
    let keys = additions.iter().map(|it| it.key.as_ref().map(|it| &it.key));
    keys.map(|key| (key.map(|key| key.client.as_str()), key.map(|key| key.value.as_str()))).unzip()
}

/// Keeps the result of each addition for its caller. `ids` are the identifiers of those that were inserted, in the same
/// order.
fn keep(
    additions: Vec<(&Addition, &mut Caller<AddedOnce>)>,
    mut known: Known,
    ids: &[i64],
) -> Result<(), PgError> {
    let mut new = ids.iter();
    for (addition, caller) in additions {
        let request = addition.key.as_ref();
        let earlier = request.and_then(|request| Some((request, known.get(&request.key)?)));
        if let Some((request, (fingerprint, response))) = earlier {
            let repeated = request.repeated(fingerprint, response);
            caller.keep(repeated.map_err(|error| PgError::UnexpectedValue(format!("a response: {error}")))?);
            continue;
        }
        let missing = || PgError::UnexpectedValue("an identifier is missing".to_owned());
        let id = *new.next().ok_or_else(missing)?;
        let NewPet { name, category_id, status } = addition.new.clone();
        let pet = Pet { id, name, category_id, status };
        if let Some(request) = request {
            known.insert(request.key.clone(), (request.fingerprint.to_vec(), response(&pet)));
        }
        caller.keep(AddedOnce::Now(pet));
    }
    Ok(())
}

/// Returns the time of the database, in seconds.
pub(super) async fn now(client: &Client) -> Result<i64, PgError> {
    Ok(client.query_one(NOW, &[]).await?.try_get(0)?)
}

/// Removes up to [`CHUNK`] keys that have expired, oldest first. Returns their number.
async fn remove_expired(client: &Client, clock: &mut SteadyClock) -> Result<u64, PgError> {
    let before = clock.expired_before(now(client).await?);
    Ok(client.execute(REMOVE, &[&before, &(CHUNK as i64)]).await?)
}
