//! A primary with a standby that each commit waits for.

use std::time::Duration;

use animal_store::storage::{StoreError, open};
use futures::FutureExt as _;

use super::load::Load;
use super::options;
use crate::battery::{add, new_pet};
use crate::postgres_cluster::Cluster;

/// The longest that anything may take; no test waits so long unless it fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// A primary, its standby that commits wait for, and the URL with both.
async fn pair() -> Option<(Cluster, Cluster, String)> {
    let primary = Cluster::start()?;
    let standby = primary.standby();
    primary.configure("synchronous_standby_names = 'standby'\n").await;
    state(&primary, "sync").await;
    let both = format!("{},{}", primary.address(), standby.address());
    let url =
        format!("postgres://postgres@{both}/postgres?target_session_attrs=read-write&connect_timeout=60");
    Some((primary, standby, url))
}

/// Waits until the standby is in this state, empty for gone.
async fn state(primary: &Cluster, wanted: &str) {
    let client = primary.client("postgres").await;
    let sql = "SELECT coalesce(max(sync_state), '') FROM pg_stat_replication";
    let waiting = async {
        while client.query_one(sql, &[]).await.unwrap().get::<_, String>(0) != wanted {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, waiting).await.expect("the standby must follow");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failover_is_followed_and_loses_nothing_that_was_acknowledged() {
    let Some((primary, standby, url)) = pair().await else { return };
    let store = open(&url, &options()).await.unwrap();
    let secret = store.secret();
    let load = Load::start(std::slice::from_ref(&store));
    load.more(1_000).await;
    primary.kill();
    standby.promote();
    load.more(1_000).await;
    let account = load.finish(&*store).await;
    // Whether anybody noticed depends on what was under way, so only the other counts are promised.
    assert!(account.acknowledged >= 2_000, "{account:?}");
    store.close().await;
    let again = open(&url, &options()).await.unwrap();
    assert_eq!(again.secret(), secret);
    add(&*again, "after").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_standby_is_refused() {
    let Some((_primary, standby, _)) = pair().await else { return };
    let url = standby.url("postgres").replace("postgres@", "postgres:secret@");
    let line = open(&url, &options()).await.err().unwrap().to_string();
    assert!(line.contains("is read-only; name the primary in the URL too"), "{line}");
    assert!(!line.contains("secret"), "{line}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_that_did_not_reach_the_standby_is_not_acknowledged() {
    let Some((primary, standby, url)) = pair().await else { return };
    let store = open(&url, &options()).await.unwrap();
    add(&*store, "replicated").await;
    standby.stop();
    state(&primary, "").await;

    // Somebody cuts the wait short; the server then says that all is well, with a warning.
    let client = primary.client("postgres").await;
    let cancel = "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    let mut cut_short = 0;
    // The store itself gives up in time, on a busy machine before anybody else could: then again.
    while cut_short == 0 {
        let mut adding = Box::pin(store.add_pet(new_pet("cut short", 1, None)));
        let answer = loop {
            match (&mut adding).now_or_never() {
                Some(answer) => break answer,
                None => cut_short += client.query_one(cancel, &[]).await.unwrap().get::<_, i64>(0),
            }
        };
        assert!(matches!(answer, Err(StoreError::Unavailable(_))), "{answer:?}");
    }

    // Nobody does; the caller is answered in time all the same, and no connection is left behind.
    let answer = store.add_pet(new_pet("waits in vain", 1, None)).await;
    assert!(matches!(answer, Err(StoreError::Unavailable(_))), "{answer:?}");
    let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    let gone = async {
        while client.query_one(waiting, &[]).await.unwrap().get::<_, i64>(0) > 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, gone).await.expect("the wait must be cancelled");

    standby.boot();
    state(&primary, "sync").await;
    add(&*store, "replicated again").await;
}
