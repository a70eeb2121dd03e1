//! The server becomes unavailable in several ways, and recovers.

use std::time::Duration;

use animal_store::storage::{PetsQuery, PostgresOptions, Store, StoreError, StoreOptions, open};
use futures::FutureExt as _;
use futures::future::try_join_all;
use tokio::time::timeout;
use tokio_postgres::Client;

use super::{limited, options};
use crate::conformance::{add, key, new_pet};
use crate::messages::Messages;
use kit::postgres::Cluster;
use kit::postgres::network::Network;

const ALL: PetsQuery = PetsQuery { status: None, after: None, limit: 100 };

/// The time limit of each wait.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Returns a server, the network to it, and the URL of its database through the network.
async fn start() -> Option<(Cluster, Network, String)> {
    let cluster = Cluster::start()?;
    let network = Network::to(cluster.address()).await;
    let url = cluster.url("postgres").replace(&cluster.address(), &network.address);
    Some((cluster, network, url))
}

/// Checks that every method returns `Unavailable` within a time limit. Without its own limits, the store would wait
/// forever for a server that does not respond. An animal called `name` may be stored later.
async fn unavailable(store: &Store, name: &str) {
    let calls = async {
        tokio::join!(
            store.pet(1),
            store.pets(ALL),
            store.key_by_hash(&[1; 32]),
            store.add_pet(new_pet(name, 1, None)),
            store.add_key(key(1)),
        )
    };
    let (pet, pets, by_hash, added, key) =
        timeout(TIMEOUT, calls).await.expect("results within the time limit");
    let errors =
        [pet.unwrap_err(), pets.unwrap_err(), by_hash.unwrap_err(), added.unwrap_err(), key.unwrap_err()];
    for error in errors {
        assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reads_succeed_after_the_server_closed_connections() {
    let Some(cluster) = Cluster::start() else { return };
    let store = open(&cluster.url("postgres"), &limited()).await.unwrap();
    let pet = add(&store, "kept").await;
    let client = cluster.client("postgres").await;
    for _ in 0..3 {
        for _ in 0..20 {
            assert_eq!(store.pet(pet.id).await.unwrap().as_ref(), Some(&pet));
        }
        // Those that have read. A connection that is closed while it is opened fails the read that waits for it.
        let end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
             WHERE application_name = 'animal-store' AND query LIKE 'SELECT id%'";
        let ended: i64 = client.query_one(end, &[]).await.unwrap().get(0);
        assert!(ended > 0);
    }
    for _ in 0..20 {
        assert_eq!(store.pet(pet.id).await.unwrap().as_ref(), Some(&pet));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_time_out_while_the_server_does_not_respond_and_succeed_afterwards() {
    let Some((_cluster, network, url)) = start().await else { return };
    let store = open(&url, &limited()).await.unwrap();
    let pet = add(&store, "kept").await;
    for _ in 0..8 {
        assert_eq!(store.pet(pet.id).await.unwrap().as_ref(), Some(&pet));
    }
    network.is_broken.send_replace(true);
    // The first calls use open connections, the second ones must open new connections.
    for name in ["x", "y"] {
        unavailable(&store, name).await;
    }
    network.is_broken.send_replace(false);
    // A connection that was opened meanwhile may still fail.
    let recovered = async { while store.pet(pet.id).await.ok() != Some(Some(pet.clone())) {} };
    timeout(TIMEOUT, recovered).await.expect("the store recovers");
    let added = async { while store.add_pet(new_pet("after", 1, None)).await.is_err() {} };
    timeout(TIMEOUT, added).await.expect("the store recovers");
    timeout(TIMEOUT, store.close()).await.expect("closing ends");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_end_an_outage_in_the_log() {
    let Some(cluster) = Cluster::start() else { return };
    let messages = Messages::default();
    let options = StoreOptions { log: messages.log(), ..limited() };
    let store = open(&cluster.url("postgres"), &options).await.unwrap();
    cluster.stop();
    unavailable(&store, "not added").await;
    cluster.start_server();
    let back = async {
        while !messages.contain("the database is back") {
            // An error, as long as a connection is refused, prolongs the outage.
            let _ = store.pets(ALL).await;
        }
    };
    timeout(TIMEOUT, back).await.expect("the log reports the end of the outage");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_is_not_ready_while_the_server_is_read_only() {
    let Some(cluster) = Cluster::start() else { return };
    let store = open(&cluster.url("postgres"), &limited()).await.unwrap();
    let pet = add(&store, "kept").await;
    store.check_ready().await.unwrap();
    cluster.configure("default_transaction_read_only = on\n").await;
    let not_ready = async {
        loop {
            if let Err(error) = store.check_ready().await {
                break error;
            }
        }
    };
    let error = timeout(TIMEOUT, not_ready).await.expect("the change takes effect");
    assert_eq!(error.to_string(), "the store is unavailable: it is read-only");
    assert_eq!(store.pets(ALL).await.unwrap().pets, std::slice::from_ref(&pet), "reads still work");
    cluster.configure("default_transaction_read_only = off\n").await;
    let ready = async { while store.check_ready().await.is_err() {} };
    timeout(TIMEOUT, ready).await.expect("the store recovers");
    let count = "SELECT last_value FROM animal_id";
    let last: i64 = cluster.client("postgres").await.query_one(count, &[]).await.unwrap().get(0);
    assert_eq!(last, pet.id, "the checks assigned an identifier");
    store.close().await;
    store.check_ready().await.unwrap_err();
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_is_not_ready_while_the_disk_of_the_server_is_full() {
    let Some(cluster) = Cluster::start() else { return };
    let store = open(&cluster.url("postgres"), &limited()).await.unwrap();
    let pet = add(&store, "kept").await;
    store.check_ready().await.unwrap();
    let client = cluster.client("postgres").await;
    let writer =
        "SELECT pid FROM pg_stat_activity WHERE query LIKE '%array_fill%' AND pid <> pg_backend_pid()";
    let mut links = Vec::new();
    let not_ready = async {
        loop {
            // The temporary files of the connection for writing are on a device that is always full.
            for row in client.query(writer, &[]).await.unwrap() {
                let file = format!("base/pgsql_tmp/pgsql_tmp{}", row.get::<_, i32>(0));
                links.extend(
                    (0..100).filter_map(|number| cluster.link(&format!("{file}.{number}"), "/dev/full")),
                );
            }
            if let Err(error) = store.check_ready().await {
                break error;
            }
        }
    };
    let error = timeout(TIMEOUT, not_ready).await.expect("the store notices");
    assert_eq!(
        error.to_string(),
        "the store is unavailable: its disk is full, or another resource is exhausted"
    );
    assert_eq!(store.pets(ALL).await.unwrap().pets, [pet], "reads still work");
    // The server has removed those that it used.
    links.iter().for_each(|link| drop(std::fs::remove_file(link)));
    store.check_ready().await.unwrap();
}

/// Waits until the store has opened all of its connections, which it does in the background when reads overlap.
async fn connected(store: &Store, client: &Client) {
    let count = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'animal-store'";
    let connected = async {
        while client.query_one(count, &[]).await.unwrap().get::<_, i64>(0) < 9 {
            try_join_all((0..32).map(|_| store.pet(1))).await.unwrap();
        }
    };
    timeout(TIMEOUT, connected).await.expect("the connections are opened");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_connection_does_not_delay_other_reads() {
    let Some((cluster, network, url)) = start().await else { return };
    let store = open(&url, &limited()).await.unwrap();
    let pet = add(&store, "kept").await;
    let client = cluster.client("postgres").await;
    connected(&store, &client).await;
    // New connections do not respond, so a call that waits for one fails.
    network.is_refusing.send_replace(true);
    let end = "SELECT count(pg_terminate_backend(pid)) FROM (SELECT pid FROM pg_stat_activity \
         WHERE application_name = 'animal-store' AND query LIKE $1 LIMIT $2) AS chosen";
    client.query_one(end, &[&"SELECT id, name, category, status FROM%", &3_i64]).await.unwrap();
    for _ in 0..40 {
        assert_eq!(store.pet(pet.id).await.unwrap().as_ref(), Some(&pet));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_query_does_not_delay_others_on_its_connection() {
    let Some(cluster) = Cluster::start() else { return };
    let store = open(&cluster.url("postgres"), &options()).await.unwrap();
    store.add_key(key(1)).await.unwrap();
    let client = cluster.client("postgres").await;
    connected(&store, &client).await;
    client.batch_execute("BEGIN; LOCK TABLE animal").await.unwrap();
    let slow = [1, 2].map(|id| {
        let store = store.clone();
        tokio::spawn(async move { store.pet(id).await })
    });
    let sql = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
    let waiting = async { while client.query_one(sql, &[]).await.unwrap().get::<_, i64>(0) < 2 {} };
    timeout(TIMEOUT, waiting).await.expect("the queries must wait");
    for _ in 0..20 {
        let found = timeout(TIMEOUT, store.key_by_hash(&key(1).hash)).await.expect("it must not wait");
        assert_eq!(found.unwrap(), Some(key(1)));
    }
    client.batch_execute("COMMIT").await.unwrap();
    for slow in slow {
        assert_eq!(slow.await.unwrap().unwrap(), None);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_shares_a_connection_rather_than_wait_for_a_new_one() {
    let Some((cluster, network, url)) = start().await else { return };
    let url = url.replace("connect_timeout=60", "connect_timeout=600");
    let statement_timeout = Duration::from_secs(600);
    let postgres = PostgresOptions { readers: 2, statement_timeout, ..limited().postgres };
    let store = open(&url, &StoreOptions { postgres, ..limited() }).await.unwrap();
    let pet = add(&store, "kept").await;
    let read = async || assert_eq!(store.pet(pet.id).await.unwrap().as_ref(), Some(&pet));
    read().await;
    let mut open = network.open.subscribe();
    // One for writing, one for reading. The second one for reading is opened now, and does not respond.
    timeout(TIMEOUT, open.wait_for(|count| *count == 2)).await.expect("two connections").unwrap();
    network.is_refusing.send_replace(true);
    // The second read finds the connection in use.
    tokio::join!(read(), read());
    timeout(TIMEOUT, open.wait_for(|count| *count == 3)).await.expect("a third connection").unwrap();

    let client = cluster.client("postgres").await;
    client.batch_execute("BEGIN; LOCK TABLE animal").await.unwrap();
    let slow = tokio::spawn({
        let store = store.clone();
        async move { store.pet(pet.id).await }
    });
    let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
    while client.query_one(waiting, &[]).await.unwrap().get::<_, i64>(0) == 0 {}
    let hash = key(1).hash;
    let mut other = store.key_by_hash(&hash).boxed();
    assert!((&mut other).now_or_never().is_none());
    client.batch_execute("COMMIT").await.unwrap();
    let found = timeout(TIMEOUT, other).await.expect("the call does not wait for the new connection");
    assert_eq!(found.unwrap(), None);
    slow.await.unwrap().unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closing_ends_while_the_server_does_not_respond() {
    let Some((_cluster, network, url)) = start().await else { return };
    let store = open(&url, &limited()).await.unwrap();
    add(&store, "before").await;
    network.is_broken.send_replace(true);
    let adding = (0..1_000).map(|_| store.add_pet(new_pet("x", 1, None)));
    let closing = async { tokio::join!(futures::future::join_all(adding), store.close()).0 };
    let results = timeout(TIMEOUT, closing).await.expect("closing ends");
    assert!(results.iter().all(|result| matches!(result, Err(StoreError::Unavailable(_)))));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_stall_after_their_handshake_are_closed_and_others_opened() {
    let Some((cluster, network, url)) = start().await else { return };
    let url = url.replace("connect_timeout=60", "connect_timeout=5");
    let store = open(&url, &limited()).await.unwrap();
    let pet = add(&store, "kept").await;
    let client = cluster.client("postgres").await;
    connected(&store, &client).await;
    let before = *network.open.borrow();
    network.is_stalling.send_replace(true);
    let end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'animal-store'";
    client.query_one(end, &[]).await.unwrap();
    store.add_pet(new_pet("not added", 1, None)).await.unwrap_err();
    // The first read may meet a connection that ended.
    for _ in 0..2 {
        store.pet(pet.id).await.unwrap_err();
    }
    network.is_stalling.send_replace(false);
    let recovered = async {
        while store.pet(pet.id).await.is_err() {}
        while store.add_pet(new_pet("added", 1, None)).await.is_err() {}
        connected(&store, &client).await;
        network.open.subscribe().wait_for(|open| *open <= before).await.unwrap();
    };
    timeout(TIMEOUT, recovered).await.expect("new connections replace those that stall, which are closed");
}
