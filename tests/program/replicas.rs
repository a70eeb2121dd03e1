//! Three replicas on one PostgreSQL database: mixed load over all of them while one is killed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures::future::{self, join_all};
use reqwest::Method;
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::timeout;

use kit::postgres::{self, Cluster};
use kit::program::{Program, TIMEOUT, WorkDir};

const WRITERS: usize = 24;
const BEFORE: usize = 600;
const AFTER: usize = 600;

/// Returns the arguments for a new database, or `None` if PostgreSQL is not installed.
async fn database() -> Option<[String; 2]> {
    let cluster: &Cluster = postgres::shared()?;
    Some(["--database".to_owned(), cluster.url(&cluster.database("").await)])
}

#[derive(Default)]
struct Load {
    sent: AtomicUsize,
    failed: AtomicUsize,
    is_over: AtomicBool,
    acknowledged: Mutex<Vec<Value>>,
    more: Notify,
}

impl Load {
    fn acknowledged(&self) -> usize {
        self.acknowledged.lock().unwrap().len()
    }

    async fn reaches(&self, count: usize) {
        while self.acknowledged() < count {
            self.more.notified().await;
        }
    }
}

/// Sends reads and writes to the replicas in turn. A replica that does not respond is not used again.
async fn work(load: &Load, replicas: &[Program; 3], first: usize, key: &str) {
    let mut alive: Vec<&Program> = replicas.iter().collect();
    for turn in first.. {
        if load.is_over.load(Ordering::Relaxed) {
            return;
        }
        let replica = turn % alive.len();
        let number = load.sent.fetch_add(1, Ordering::Relaxed);
        let pet = json!({ "name": format!("animal {number}"), "categoryId": number });
        let added = alive[replica].request(Method::POST, key, "/v1/pets").json(&pet).send().await;
        let added = match added {
            Ok(response) if response.status() == 201 => response.json::<Value>().await.ok(),
            Ok(response) => {
                // A busy database server may exceed the time limit; the animal may have been stored.
                assert_eq!(response.status(), 503);
                load.failed.fetch_add(1, Ordering::Relaxed);
                continue;
            }
            Err(_) => None,
        };
        let Some(added) = added else {
            load.failed.fetch_add(1, Ordering::Relaxed);
            alive.remove(replica);
            continue;
        };
        // Another replica must have the acknowledged animal, while a third lists animals.
        let other = alive[(replica + 1) % alive.len()];
        let target = format!("/v1/pets/{}", added["id"]);
        match other.request(Method::GET, key, &target).send().await {
            Ok(response) if response.status() == 503 => {}
            Ok(response) => assert_eq!(response.json::<Value>().await.ok().as_ref(), Some(&added)),
            Err(_) => alive.retain(|replica| !std::ptr::eq(*replica, other)),
        }
        let third = alive[(replica + 2) % alive.len()];
        match third.request(Method::GET, key, "/v1/pets?status=sold&limit=5").send().await {
            Ok(response) => {
                assert!([200, 503].contains(&response.status().as_u16()), "{}", response.status())
            }
            Err(_) => alive.retain(|replica| !std::ptr::eq(*replica, third)),
        }
        load.acknowledged.lock().unwrap().push(added);
        load.more.notify_one();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_three_is_killed_under_load_and_nothing_is_lost() {
    let Some(database) = database().await else { return };
    let database: Vec<&str> = database.iter().map(String::as_str).collect();
    let directory = WorkDir::new();
    // All replicas create the tables concurrently.
    let (a, b, c) =
        tokio::join!(directory.serve(&database), directory.serve(&database), directory.serve(&database));
    let mut replicas = [a, b, c];
    let create = [&["key", "create", "tests"], &*database].concat();
    let key = directory.run(&create).await.success().trim_end().to_owned();

    let load = Load::default();
    let workers = join_all((0..WRITERS).map(|first| work(&load, &replicas, first, &key)));
    let killer = async {
        load.reaches(BEFORE).await;
        replicas[2].signal(Signal::KILL);
        load.reaches(BEFORE + AFTER).await;
        load.is_over.store(true, Ordering::Relaxed);
    };
    let completed = timeout(TIMEOUT, future::join(workers, killer)).await;
    assert!(
        completed.is_ok(),
        "of {:?} requests, {} were acknowledged and {:?} failed",
        load.sent,
        load.acknowledged(),
        load.failed
    );
    assert_eq!(replicas[2].exit().await.0, None, "the replica exited before it was killed");

    let all = replicas[0].all(&key).await;
    assert_eq!(all, replicas[1].all(&key).await);
    let found: BTreeMap<i64, &Value> = all.iter().map(|pet| (pet["id"].as_i64().unwrap(), pet)).collect();
    assert_eq!(found.len(), all.len(), "an identifier was used twice");
    let acknowledged = load.acknowledged.into_inner().unwrap();
    let (sent, failed) = (load.sent.into_inner(), load.failed.into_inner());
    println!("sent {sent}, acknowledged {}, found {}, failed {failed}", acknowledged.len(), all.len());
    assert_eq!(sent, acknowledged.len() + failed);
    for pet in &acknowledged {
        assert_eq!(found.get(&pet["id"].as_i64().unwrap()), Some(&pet), "acknowledged, but lost or changed");
    }
    let names: BTreeSet<_> = all.iter().map(|pet| pet["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), all.len(), "an animal was stored twice");
    assert!(all.len() <= acknowledged.len() + failed, "{} of {sent}", all.len());
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
