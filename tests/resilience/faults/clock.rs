//! The wall clock jumps: by ten years in both directions, and by 25 hours for a while.

use std::fs;
use std::path::PathBuf;

use crate::row::row;
use kit::Need;
use kit::client::Client;
use kit::ledger::Ledger;
use kit::program::WorkDir;

const FAULT: &str = "the wall clock jumps ten years ahead, then to ten years before now";

/// The path of libfaketime in Debian's layout.
fn library() -> Option<PathBuf> {
    let directories = fs::read_dir("/usr/lib").ok()?.flatten().map(|entry| entry.path());
    directories.map(|path| path.join("faketime/libfaketimeMT.so.1")).find(|path| path.exists())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_wall_clock_jumps() {
    let Some(library) = library() else {
        return kit::skip(Need::Tool, "libfaketime is not installed (Debian: libfaketime)");
    };
    let directory = WorkDir::new();
    let key = directory.key().await;
    let expiring = directory
        .run(&["key", "create", "short", "--expires-in", "90d"])
        .await
        .success()
        .trim_end()
        .to_owned();
    let clock = directory.write("clock", "+0y");
    let service = directory
        .serve_with(&[], |command| {
            command.env("LD_PRELOAD", &library).env("FAKETIME_TIMESTAMP_FILE", &clock);
            command.env("FAKETIME_NO_CACHE", "1").env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        })
        .await;
    let ledger = Ledger::default();
    let mut client = Client::connect(service.direct, &key).await.unwrap();
    let mut with_expiring_key = Client::connect(service.direct, &expiring).await.unwrap();
    let mut cursors = Vec::new();
    let mut dates = Vec::new();
    for (jump, expiring_status) in [("+0y", 200), ("+10y", 401), ("-10y", 200), ("+0y", 200)] {
        // Replaced atomically, because libfaketime may read the file at any moment.
        fs::rename(directory.write("clock.new", jump), &clock).unwrap();
        for _ in 0..20 {
            assert_eq!(ledger.add(&mut client).await.unwrap(), 201);
        }
        let page = client.get("/v1/pets?limit=10").await.unwrap();
        assert_eq!(page.status, 200);
        dates.push(page.header("date").unwrap().to_owned());
        let next =
            page.header("link").unwrap().strip_prefix('<').unwrap().split_once('>').unwrap().0.to_owned();
        // Cursors do not expire.
        cursors.push(next);
        for cursor in &cursors {
            assert_eq!(client.get(cursor).await.unwrap().status, 200);
        }
        assert_eq!(with_expiring_key.get("/v1/pets").await.unwrap().status, expiring_status, "at {jump}");
    }
    let year = |date: &str| date.split(' ').nth(3).unwrap().parse::<i32>().unwrap();
    let [start, ahead, back, end] = [0, 1, 2, 3].map(|jump| year(&dates[jump]));
    // A year of libfaketime has 365 days.
    assert!(ahead - start >= 9, "the clock did not jump: {dates:?}");
    // hyper caches the header for one second of the wall clock, which was set back.
    let date = if back < start && end == start {
        "the `Date` header follows the clock"
    } else {
        "after a jump back the `Date` header does not change until a restart, because hyper caches it"
    };
    let all = service.all(&key).await;
    let ids: Vec<_> = all.iter().map(|pet| pet["id"].as_i64().unwrap()).collect();
    assert!(ids.is_sorted());
    let compared = ledger.compare(&all);
    row(
        13,
        FAULT,
        "no effect except on keys that expire: a key of 90 days gets 401 after the jump ahead, and 200 again later",
        &format!(
            "timeouts and rate limits work as before; cursors stay valid; {} acknowledged, 0 lost, identifiers ascending; \
             {date}",
            compared.acknowledged
        ),
    );
    service.stop().await;
}

/// Adds an animal with an idempotency key. Returns its identifier, and whether an earlier request had added it.
async fn once(client: &mut Client, key: &str) -> (i64, bool) {
    let response = client.post_once(r#"{"name":"Rex","categoryId":1}"#, key).await.unwrap();
    let pet = response.expect(201);
    (pet["id"].as_i64().unwrap(), response.header("idempotency-replayed").is_some())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_clock_that_is_wrong_for_a_while_removes_no_idempotency_key() {
    const FAULT: &str = "the wall clock is 25 hours ahead, then 25 hours behind, each for a while";
    let Some(library) = library() else {
        return kit::skip(Need::Tool, "libfaketime is not installed (Debian: libfaketime)");
    };
    let directory = WorkDir::new();
    let key = directory.key().await;
    // Stored by another process, so that the next one removes expired keys with its first addition.
    let earlier = directory.serve(&[]).await;
    let mut client = Client::connect(earlier.direct, &key).await.unwrap();
    let (id, is_replayed) = once(&mut client, "first").await;
    assert!(!is_replayed);
    earlier.stop().await;

    let clock = directory.write("clock", "+0h");
    let service = directory
        .serve_with(&[], |command| {
            command.env("LD_PRELOAD", &library).env("FAKETIME_TIMESTAMP_FILE", &clock);
            command.env("FAKETIME_NO_CACHE", "1").env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        })
        .await;
    let mut client = Client::connect(service.direct, &key).await.unwrap();
    fs::rename(directory.write("clock.new", "+25h"), &clock).unwrap();
    // The removal follows the second one, and the third one follows the removal.
    once(&mut client, "second").await;
    once(&mut client, "third").await;
    fs::rename(directory.write("clock.new", "+0h"), &clock).unwrap();
    assert_eq!(once(&mut client, "first").await, (id, true), "the key was removed early");

    fs::rename(directory.write("clock.new", "-25h"), &clock).unwrap();
    let (id, _) = once(&mut client, "fourth").await;
    fs::rename(directory.write("clock.new", "+0h"), &clock).unwrap();
    service.stop().await;
    // Removes by the right clock, which is all that it has seen.
    let service = directory.serve(&[]).await;
    let mut client = Client::connect(service.direct, &key).await.unwrap();
    once(&mut client, "fifth").await;
    once(&mut client, "sixth").await;
    assert_eq!(once(&mut client, "fourth").await, (id, true), "the key has a time that was wrong");
    row(23, FAULT, "nothing", "a repeated addition gets the stored response, also of keys from before");
    service.stop().await;
}
