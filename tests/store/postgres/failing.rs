//! The server goes away, in several ways, and comes back.

use std::time::Duration;

use animal_store::storage::{PetsQuery, Store, StoreError, open};
use tokio::time::timeout;

use super::load::Load;
use super::options;
use crate::battery::{add, key, new_pet};
use crate::postgres_cluster::Cluster;
use crate::postgres_cluster::network::Network;

const ALL: PetsQuery = PetsQuery { status: None, after: None, limit: 100 };

/// The longest that anything may take; no test waits so long unless it fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long the server is away.
fn outage() -> Duration {
    let long = std::env::var_os("STORE_TESTS_LONG").is_some_and(|value| value == "1");
    Duration::from_secs(if long { 10 } else { 1 })
}

/// Every method, each of which must be unavailable. Without limits of its own, the store would wait without
/// end for a server that says nothing.
async fn unavailable(store: &dyn Store) {
    let calls = async {
        tokio::join!(
            store.pet(1),
            store.pets(ALL),
            store.key_by_hash(&[1; 32]),
            store.add_pet(new_pet("x", 1, None)),
            store.add_key(key(1)),
        )
    };
    let (pet, pets, by_hash, added, key) = timeout(PATIENCE, calls).await.expect("an end in time");
    let errors =
        [pet.unwrap_err(), pets.unwrap_err(), by_hash.unwrap_err(), added.unwrap_err(), key.unwrap_err()];
    for error in errors {
        assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_stops_and_starts_loses_and_doubles_nothing() {
    let Some(cluster) = Cluster::start() else { return };
    let store = open(&cluster.url("postgres"), &options()).await.unwrap();
    let load = Load::start(std::slice::from_ref(&store));
    load.more(1_000).await;
    cluster.stop();
    unavailable(&*store).await;
    tokio::time::sleep(outage()).await;
    cluster.boot();
    load.more(1_000).await;
    let account = load.finish(&*store).await;
    assert!(account.acknowledged >= 2_000 && account.unavailable > 0, "{account:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_killed_loses_and_doubles_nothing() {
    let Some(cluster) = Cluster::start() else { return };
    let store = open(&cluster.url("postgres"), &options()).await.unwrap();
    let load = Load::start(std::slice::from_ref(&store));
    load.more(1_000).await;
    cluster.kill();
    cluster.boot();
    load.more(1_000).await;
    let account = load.finish(&*store).await;
    assert!(account.acknowledged >= 2_000, "{account:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_the_server_ends_are_made_again_and_no_read_notices() {
    let Some(cluster) = Cluster::start() else { return };
    let store = open(&cluster.url("postgres"), &options()).await.unwrap();
    let pet = add(&*store, "kept").await;
    let client = cluster.client("postgres").await;
    for _ in 0..3 {
        for _ in 0..20 {
            assert_eq!(store.pet(pet.id).await.unwrap().as_ref(), Some(&pet));
        }
        let end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'animal-store'";
        let ended: i64 = client.query_one(end, &[]).await.unwrap().get(0);
        assert!(ended > 0);
    }
    for _ in 0..20 {
        assert_eq!(store.pet(pet.id).await.unwrap().as_ref(), Some(&pet));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_says_nothing_is_unavailable_in_bounded_time_and_then_all_is_well() {
    let Some(cluster) = Cluster::start() else { return };
    let network = Network::to(cluster.address()).await;
    let url = cluster.url("postgres").replace(&cluster.address(), &network.address);
    let store = open(&url, &options()).await.unwrap();
    let pet = add(&*store, "kept").await;
    for _ in 0..8 {
        assert_eq!(store.pet(pet.id).await.unwrap().as_ref(), Some(&pet));
    }
    let load = Load::start(std::slice::from_ref(&store));
    load.more(100).await;
    network.is_broken.send_replace(true);
    // First over the connections that there are, then over new ones.
    for _ in 0..2 {
        unavailable(&*store).await;
    }
    network.is_broken.send_replace(false);
    load.more(100).await;
    assert_eq!(store.pet(pet.id).await.unwrap().as_ref(), Some(&pet));
    load.finish(&*store).await;
    timeout(PATIENCE, store.close()).await.expect("closing ends");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closing_ends_also_when_the_server_says_nothing() {
    let Some(cluster) = Cluster::start() else { return };
    let network = Network::to(cluster.address()).await;
    let url = cluster.url("postgres").replace(&cluster.address(), &network.address);
    let store = open(&url, &options()).await.unwrap();
    add(&*store, "before").await;
    network.is_broken.send_replace(true);
    let adding = (0..1_000).map(|_| store.add_pet(new_pet("x", 1, None)));
    let closing = async { tokio::join!(futures::future::join_all(adding), store.close()).0 };
    let answers = timeout(PATIENCE, closing).await.expect("closing ends");
    assert!(answers.iter().all(|answer| matches!(answer, Err(StoreError::Unavailable(_)))));
}
