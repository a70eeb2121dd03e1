//! Failover of a primary with a synchronous standby. `../../resilience/history/retries.rs` has failovers under load.

use std::time::Duration;

use animal_store::storage::{PetsQuery, StoreError, open};
use futures::FutureExt as _;

use super::limited;
use crate::conformance::{add, new_pet};
use kit::postgres::Cluster;

/// The time limit of each wait.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Returns a primary, a synchronous standby, and a URL with both hosts.
pub(super) async fn pair() -> Option<(Cluster, Cluster, String)> {
    let (primary, standby) = Cluster::pair().await?;
    let url = primary.url_with(&standby);
    Some((primary, standby, url))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readiness_follows_the_primary_and_nothing_is_lost() {
    let Some((primary, standby, url)) = pair().await else { return };
    let store = open(&url, &limited()).await.unwrap();
    let before = add(&store, "before").await;
    store.check_ready().await.unwrap();
    primary.kill();
    let not_ready = async { while store.check_ready().await.is_ok() {} };
    tokio::time::timeout(TIMEOUT, not_ready).await.expect("the loss is noticed");
    standby.promote();
    let ready = async { while store.check_ready().await.is_err() {} };
    tokio::time::timeout(TIMEOUT, ready).await.expect("the new primary is found");
    let after = add(&store, "after").await;
    let again = open(&url, &limited()).await.unwrap();
    assert_eq!(again.secret(), store.secret());
    let all = PetsQuery { status: None, after: None, limit: 100 };
    assert_eq!(again.pets(all).await.unwrap().pets, [before, after]);
}

/// As when Patroni is killed: nothing stops the old primary, and no connection to it ends.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_readiness_check_finds_the_new_primary_while_the_old_one_runs_on() {
    let Some((_primary, standby, url)) = pair().await else { return };
    let store = open(&url, &limited()).await.unwrap();
    let before = add(&store, "before").await;
    assert_eq!(store.pet(before.id).await.unwrap().as_ref(), Some(&before));
    standby.promote();
    let added =
        "INSERT INTO animal (id, name, category) VALUES (nextval('animal_id'), 'after', 1) RETURNING id";
    let after: i64 = standby.client("postgres").await.query_one(added, &[]).await.unwrap().get(0);
    let ready = async { while store.check_ready().await.is_err() {} };
    tokio::time::timeout(TIMEOUT, ready).await.expect("the new primary is found");
    assert!(store.pet(after).await.unwrap().is_some(), "the read was stale");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_standby_is_rejected() {
    let Some((_primary, standby, _)) = pair().await else { return };
    let url = standby.url("postgres").replace("postgres@", "postgres:secret@");
    let line = open(&url, &limited()).await.err().unwrap().to_string();
    assert!(line.contains("is a standby; name the primary in the URL too"), "{line}");
    assert!(!line.contains("secret"), "{line}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_that_did_not_reach_the_standby_is_not_acknowledged() {
    let Some((primary, standby, url)) = pair().await else { return };
    // The store must get the warning nevertheless.
    let hide = "ALTER DATABASE postgres SET client_min_messages = 'error'";
    primary.client("postgres").await.batch_execute(hide).await.unwrap();
    let store = open(&url, &limited()).await.unwrap();
    add(&store, "replicated").await;
    standby.stop();
    primary.replicates("").await;

    // If the wait for the standby is cancelled, the server reports success with a warning.
    let client = primary.client("postgres").await;
    let cancel = "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    let mut cancelled = 0;
    // On a busy machine the store may reach its own time limit first; then the write is repeated.
    while cancelled == 0 {
        let mut adding = Box::pin(store.add_pet(new_pet("cancelled", 1, None)));
        let result = loop {
            match (&mut adding).now_or_never() {
                Some(result) => break result,
                None => cancelled += client.query_one(cancel, &[]).await.unwrap().get::<_, i64>(0),
            }
        };
        assert!(matches!(result, Err(StoreError::Unavailable(_))), "{result:?}");
    }

    // Without a cancellation, the caller gets an error in time, and the connection is closed.
    let result = store.add_pet(new_pet("not replicated", 1, None)).await;
    assert!(matches!(result, Err(StoreError::Unavailable(_))), "{result:?}");
    let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    let gone = async {
        while client.query_one(waiting, &[]).await.unwrap().get::<_, i64>(0) > 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(TIMEOUT, gone).await.expect("the wait must be cancelled");

    standby.start_server();
    primary.replicates("sync").await;
    add(&store, "replicated again").await;
}
