//! Complete pages: no animal is added behind the last one of a page.
//!
//! A client that polls keeps the cursor of its last page, and would miss an animal that is committed later with a
//! lower identifier. Identifiers come from a sequence, but several writers commit in any order. So each batch marks
//! itself before its identifiers are assigned: a shared advisory lock, whose key is the last identifier of the
//! sequence, is held until the animals are visible or the transaction was rolled back. A page whose last identifier
//! is above every mark is complete. Otherwise the reader waits until the batches with lower identifiers have ended,
//! and reads the page again, in the meantime without newer animals than those.
//!
//! An exclusive lock that orders the commits was left (`src/DECISIONS.md`, Storage).
//!
//! A standby has no marks, and cannot know which batches are in progress on a primary that may still run. There, a page
//! that contains everything up to the last animal is returned as it is: it has no link to a next page, so a client
//! requests it again. A page with more animals after it ends with the last identifier that was checked on the primary, which
//! was a moment before. If it starts after that one, it is unavailable.
//!
//! Only this program marks its transactions. Animals that an older release or another program adds may be missed.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use futures::future::try_join;
use tokio::time::{Instant, sleep};

use super::error::PgError;
use super::reader::{Reader, Readers};
use crate::schemas::Pet;
use crate::storage::types::{PetsFound, PetsQuery};

/// How long a page waits for batches in progress. After that it ends before their first identifier.
const WAIT: Duration = Duration::from_secs(1);
/// The first pause between two checks of the batches in progress; each next one is twice as long.
const PAUSE: Duration = Duration::from_millis(1);
/// How often the identifiers are checked without a page, for pages of a standby.
const INTERVAL: Duration = Duration::from_millis(250);

/// The last identifier that was assigned.
const LAST: &str = "SELECT coalesce(pg_sequence_last_value('animal_id'), 0)";

/// Checks the identifiers on the primary again and again, if another host may be read later. Must be called within a tokio
/// runtime.
pub(super) fn keep_settled(readers: &Arc<Readers>) {
    if !readers.may_read_standby() {
        return;
    }
    let readers = Arc::downgrade(readers);
    tokio::spawn(async move {
        while let Some(open) = Weak::upgrade(&readers) {
            let check = |reader: Arc<Reader>| async move {
                if reader.is_on_standby() {
                    return Ok(i64::MIN);
                }
                let last = reader.client().query_one(LAST, &[]).await?.try_get(0)?;
                reader.animals.settled(reader.client(), last).await
            };
            // Without a connection there is nothing to check. Requests report the error.
            if let Ok(settled) = open.run(open.deadline(), check).await {
                open.settled.fetch_max(settled, Ordering::SeqCst);
            }
            drop(open);
            sleep(INTERVAL).await;
        }
    });
}

impl Readers {
    /// Reads a complete page.
    pub(super) async fn page(self: &Arc<Self>, query: PetsQuery) -> Result<PetsFound, PgError> {
        let deadline = self.deadline();
        let read = |reader: Arc<Reader>| async move {
            // Before the page is read: it may lack an animal that is settled while the response is on its way.
            let known = self.settled.load(Ordering::SeqCst);
            Ok((reader.is_on_standby(), known, reader.animals.page(reader.client(), query).await?))
        };
        let (is_on_standby, known, pets) = self.run(deadline, read).await?;
        let last = pets.last().map_or(i64::MIN, |pet| pet.id);
        let is_last_of_standby = is_on_standby && pets.len() <= query.limit as usize;
        if is_last_of_standby || last <= known {
            return Ok(found(pets, query));
        }
        // Only up to `last`: with a load of writes, a batch with a lower identifier than the newest is always in
        // progress.
        let (give_up, mut pause) = (Instant::now() + WAIT, PAUSE);
        loop {
            let check = |reader: Arc<Reader>| async move {
                // Before the page is read, as above.
                let known = self.settled.load(Ordering::SeqCst);
                if reader.is_on_standby() {
                    return Ok((true, known, i64::MIN, reader.animals.page(reader.client(), query).await?));
                }
                // Sent together; the server reads the page after the check.
                let both = try_join(
                    reader.animals.settled(reader.client(), last),
                    reader.animals.page(reader.client(), query),
                );
                both.await.map(|(settled, pets)| (false, known, settled, pets))
            };
            let (is_on_standby, known, checked, mut pets) = self.run(deadline, check).await?;
            // Not by what was known: after a failover it may be known no more.
            self.settled.fetch_max(checked, Ordering::SeqCst);
            let settled = checked.max(known);
            if settled >= last || is_on_standby || Instant::now() >= give_up {
                let all = pets.len();
                pets.retain(|pet| pet.id <= settled);
                return match pets.len() {
                    0 if is_on_standby => Err(PgError::Unsettled),
                    // The client must request the rest.
                    rest if is_on_standby && rest < all => Ok(PetsFound { pets, more: true }),
                    _ => Ok(found(pets, query)),
                };
            }
            sleep(pause).await;
            pause *= 2;
        }
    }
}

fn found(mut pets: Vec<Pet>, query: PetsQuery) -> PetsFound {
    let limit = query.limit as usize;
    let more = pets.len() > limit;
    pets.truncate(limit);
    PetsFound { pets, more }
}
