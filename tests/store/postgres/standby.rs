//! Several hosts in the URL: which one is read and written while there is no primary, or more than one.

use std::sync::Arc;
use std::time::Duration;

use animal_store::storage::{PetsQuery, PostgresOptions, Store, StoreError, StoreOptions, open};

use super::limited;
use super::load::read;
use crate::conformance::{add, key, new_pet};
use crate::metrics::Page;
use crate::postgres_cluster::Cluster;

/// The time limit of each wait.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Starts a primary with a synchronous standby. Returns a URL with both.
async fn pair() -> Option<(Cluster, Cluster, String)> {
    let primary = Cluster::start()?;
    let standby = primary.standby();
    primary.configure("synchronous_standby_names = 'standby'\n").await;
    let client = primary.client("postgres").await;
    let sql = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
    until(async || client.query_one(sql, &[]).await.unwrap().get::<_, i64>(0) == 1).await;
    let url = format!("postgres://postgres@{},{}/postgres", primary.address(), standby.address());
    Some((primary, standby, url))
}

/// Repeats a check until it succeeds.
async fn until(check: impl AsyncFn() -> bool) {
    let checking = async {
        while !check().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(TIMEOUT, checking).await.expect("the check must succeed");
}

/// Opens the store, more than once if a busy machine needs too long to find the primary.
async fn opened(url: &str, options: &StoreOptions) -> Arc<Store> {
    for _ in 0..20 {
        if let Ok(store) = open(url, options).await {
            return store;
        }
    }
    open(url, options).await.unwrap()
}

/// With one connection for reading, a store does not forget what a page of the primary has shown.
fn with_one_reader() -> StoreOptions {
    StoreOptions { postgres: PostgresOptions { readers: 1, ..limited().postgres }, ..limited() }
}

fn first_page(limit: u32) -> PetsQuery {
    PetsQuery { status: None, after: None, limit }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_standby_is_read_while_there_is_no_primary() {
    let Some((primary, standby, url)) = pair().await else { return };
    let page = Page::default();
    let store = opened(&url, &page.with(with_one_reader())).await;
    let (first, second) = (add(&store, "first").await, add(&store, "second").await);
    store.add_key(key(1)).await.unwrap();
    assert_eq!(store.pets(first_page(2)).await.unwrap().pets.len(), 2);
    primary.kill();
    let is_read = |role: &str| page.value(&format!(r#"store_read_age_seconds{{role="{role}"}}"#)) > 0.0;
    until(async || is_read("standby")).await;
    assert!(!is_read("primary"));

    // A poll that takes long on a busy machine interrupts reads.
    until(async || store.pet(second.id).await.is_ok_and(|found| found.as_ref() == Some(&second))).await;
    until(async || store.key_by_hash(&key(1).hash).await.is_ok_and(|found| found == Some(key(1)))).await;
    until(async || store.pets(first_page(2)).await.is_ok_and(|page| !page.more && page.pets.len() == 2))
        .await;
    // The primary has shown that no animal can come before the second one.
    let begins_with_first = async || match store.pets(first_page(1)).await {
        Ok(page) => page.more && page.pets == [first.clone()],
        Err(_) => false,
    };
    until(begins_with_first).await;
    let refused = store.add_pet(new_pet("refused", 1, None)).await;
    assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");

    standby.promote();
    until(async || store.add_pet(new_pet("third", 1, None)).await.is_ok()).await;
    until(async || is_read("primary")).await;
    let page = read(&store, first_page(10)).await;
    assert_eq!(page.pets.len(), 3, "the refused animal must not be stored: {page:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_of_a_standby_does_not_skip_what_may_be_added() {
    let Some((primary, _standby, url)) = pair().await else { return };
    let store = opened(&url, &with_one_reader()).await;
    let before = add(&store, "before").await;
    assert_eq!(store.pets(first_page(1)).await.unwrap().pets, std::slice::from_ref(&before));
    // A batch of another replica that has an identifier and is not committed.
    let client = primary.client("postgres").await;
    let mark = format!("SELECT pg_advisory_xact_lock_shared((24942::bigint << 48) | {})", before.id);
    let insert = "INSERT INTO animal VALUES (nextval('animal_id'), 'between', 1, NULL)";
    client.batch_execute(&format!("BEGIN; {mark}; {insert}")).await.unwrap();
    let after = [add(&store, "after").await, add(&store, "after it").await];

    let suspended = primary.suspend().await;
    let all = [before.clone(), after[0].clone(), after[1].clone()];
    // The client gets no cursor with this page, so it reads it again.
    until(async || store.pets(first_page(3)).await.is_ok_and(|page| !page.more && page.pets == all)).await;
    // Nothing can be added up to the end of this page.
    let begins =
        async || store.pets(first_page(2)).await.is_ok_and(|page| page.more && page.pets == [before.clone()]);
    until(begins).await;
    let rest = PetsQuery { after: Some(before.id), ..first_page(1) };
    let refused = store.pets(rest).await;
    assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");

    drop(suspended);
    client.batch_execute("COMMIT").await.unwrap();
    until(async || store.pets(first_page(4)).await.is_ok_and(|page| page.pets.len() == 4)).await;
    let page = read(&store, rest).await;
    assert!(page.more && page.pets[0].name.as_str() == "between", "{page:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_old_primary_that_comes_back_is_not_used() {
    let Some((primary, standby, url)) = pair().await else { return };
    let store = opened(&url, &limited()).await;
    add(&store, "before").await;
    primary.kill();
    standby.promote();
    until(async || store.add_pet(new_pet("after", 1, None)).await.is_ok()).await;
    // It accepts writes, but waits for its standby before it acknowledges them.
    primary.start_server();
    let found = read(&store, first_page(10)).await.pets;
    let late = opened(&url, &limited()).await;
    for store in [&store, &late] {
        until(async || store.pets(first_page(10)).await.is_ok_and(|page| page.pets == found)).await;
    }
    let added = add(&late, "late").await;
    until(async || store.pet(added.id).await.is_ok_and(|pet| pet.is_some())).await;
    let old = primary.client("postgres").await;
    let count: i64 = old.query_one("SELECT count(*) FROM animal", &[]).await.unwrap().get(0);
    assert_eq!(count, 1, "the old primary has what was added after its end");
}
