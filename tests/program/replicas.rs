//! Three replicas on one PostgreSQL database: keys, cursors and polling. Histories kill replicas (`../resilience/history`).

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures::future::join_all;
use serde_json::json;

use kit::postgres::{self, Cluster};
use kit::program::{Program, WorkDir};

const WRITERS: usize = 24;

/// Returns the arguments for a new database, or `None` if PostgreSQL is not installed.
async fn database() -> Option<[String; 2]> {
    let cluster: &Cluster = postgres::shared()?;
    Some(["--database".to_owned(), cluster.url(&cluster.database("").await)])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn created_and_revoked_keys_take_effect_at_all_replicas() {
    let Some(database) = database().await else { return };
    let database: Vec<&str> = database.iter().map(String::as_str).collect();
    let directory = WorkDir::new();
    let replicas = [
        directory.serve(&database).await,
        directory.serve(&database).await,
        directory.serve(&database).await,
    ];
    let create = [&["key", "create", "tests"], &*database].concat();
    let (kept, revoked) = (directory.run(&create).await.success(), directory.run(&create).await.success());
    let (kept, revoked) = (kept.trim_end(), revoked.trim_end());
    for replica in &replicas {
        replica.get(revoked, "/v1/pets").await.expect(200);
        replica.get(kept, "/v1/pets").await.expect(200);
    }

    let list = directory.run(&[&["key", "list"], &*database].concat()).await.success();
    let id = list.lines().nth(2).unwrap().split_whitespace().next().unwrap();
    directory.run(&[&["key", "revoke", id], &*database].concat()).await.success();
    // The time limit is tested in `../store/postgres/replicas.rs`, with a clock that the test advances.
    let rejected = join_all(replicas.iter().map(|replica| replica.wait_for_status(401, revoked))).await;
    println!("rejected by all three {:.1?} after the revocation", rejected.iter().max().unwrap());
    // The revoked key stays invalid, and the other key is not affected.
    for replica in &replicas {
        replica.get(revoked, "/v1/pets").await.expect_error(401, "unauthorized");
        replica.get(kept, "/v1/pets").await.expect(200);
    }

    // After a rotation, both keys are valid at all replicas.
    let rotate =
        [&["key", "rotate", list.lines().nth(1).unwrap().split_whitespace().next().unwrap()], &*database];
    let new = directory.run(&rotate.concat()).await.success();
    for replica in replicas {
        replica.get(new.trim_end(), "/v1/pets").await.expect(200);
        replica.get(kept, "/v1/pets").await.expect(200);
        replica.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cursor_is_valid_at_every_replica() {
    let Some(database) = database().await else { return };
    let database: Vec<&str> = database.iter().map(String::as_str).collect();
    let directory = WorkDir::new();
    let replicas = [
        directory.serve(&database).await,
        directory.serve(&database).await,
        directory.serve(&database).await,
    ];
    let key = directory.run(&[&["key", "create", "tests"], &*database].concat()).await.success();
    let key = key.trim_end();
    let mut added = Vec::new();
    for replica in &replicas {
        added.extend(replica.add(key, 5).await);
    }
    added.sort_unstable();
    let (mut found, mut target) = (Vec::new(), Some("/v1/pets?limit=2".to_owned()));
    for replica in replicas.iter().cycle() {
        let Some(page) = target else { break };
        let page = replica.get(key, &page).await;
        found.extend(page.expect(200).as_array().unwrap().iter().map(|pet| pet["id"].as_i64().unwrap()));
        let next = page.header("link").and_then(|link| link.strip_prefix('<')?.split_once('>'));
        target = next.map(|(target, _)| target.to_owned());
    }
    assert_eq!(found, added);
}

/// How long three replicas write while a client polls.
fn duration() -> Duration {
    Duration::from_secs(if kit::is_long() { 30 } else { 3 })
}

/// Polls through the links of pages, as `openapi/animal-store.yaml` describes: the last page is requested again until it
/// links to a next one. Returns the identifiers of each page as it was when the client left it.
async fn poll(replicas: &[Program; 3], key: &str, is_over: &AtomicBool) -> Vec<i64> {
    let (mut seen, mut target) = (Vec::new(), "/v1/pets?limit=100".to_owned());
    for replica in replicas.iter().cycle() {
        let is_last = is_over.load(Ordering::SeqCst);
        let page = replica.get(key, &target).await;
        if page.status == 503 {
            continue;
        }
        let pets = page.expect(200);
        let ids = pets.as_array().unwrap().iter().map(|pet| pet["id"].as_i64().unwrap());
        let next = page.header("link").and_then(|link| link.strip_prefix('<')?.split_once('>'));
        match next {
            Some((next, _)) => {
                seen.extend(ids);
                target = next.to_owned();
            }
            None if is_last => {
                seen.extend(ids);
                break;
            }
            None => {}
        }
    }
    seen
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_polls_misses_no_animal_of_three_replicas() {
    let Some(cluster) = postgres::shared() else { return };
    let name = cluster.database("").await;
    let database = ["--database", &cluster.url(&name)];
    let directory = WorkDir::new();
    let replicas = [
        directory.serve(&database).await,
        directory.serve(&database).await,
        directory.serve(&database).await,
    ];
    let key = directory.run(&[&["key", "create", "tests"], &database[..]].concat()).await.success();
    let key = key.trim_end();
    // Batches commit in random order.
    let sql = "CREATE FUNCTION pause() RETURNS trigger LANGUAGE plpgsql AS
             $$ BEGIN PERFORM pg_sleep(random() * 0.005); RETURN NULL; END $$;
         CREATE TRIGGER pause AFTER INSERT ON animal FOR EACH STATEMENT EXECUTE FUNCTION pause()";
    cluster.client(&name).await.batch_execute(sql).await.unwrap();
    let is_over = AtomicBool::new(false);
    let start = Instant::now();
    let writing = async {
        let writers = (0..WRITERS).map(async |writer: usize| {
            let mut written = Vec::new();
            while start.elapsed() < duration() {
                let response =
                    replicas[writer % 3].post(key, &json!({ "name": "Rex", "categoryId": 3 })).await;
                match response.status {
                    201 => written.push(response.expect(201)["id"].as_i64().unwrap()),
                    // A busy database server may exceed the time limit; the animal may have been stored.
                    status => assert_eq!(status, 503),
                }
            }
            written
        });
        let written = join_all(writers).await.concat();
        is_over.store(true, Ordering::SeqCst);
        written
    };
    let (written, pages) = tokio::join!(writing, poll(&replicas, key, &is_over));
    let seen: BTreeSet<i64> = pages.iter().copied().collect();
    let missed = written.iter().filter(|id| !seen.contains(id)).count();
    println!("written {}, seen {}, missed {missed}", written.len(), seen.len());
    assert_eq!(missed, 0);
    assert_eq!(seen.len(), pages.len(), "an animal was in two pages");
    for replica in replicas {
        replica.stop().await;
    }
}
