//! A wall clock that jumps ten years.

use std::fs;
use std::path::PathBuf;

use crate::client::Client;
use crate::ledger::Ledger;
use crate::program::Place;
use crate::row::{alone, row};
use crate::tools::leave_out;

const FAULT: &str = "the wall clock jumps ten years ahead, then ten back from now";

/// libfaketime, where Debian and its kin put it.
fn library() -> Option<PathBuf> {
    let directories = fs::read_dir("/usr/lib").ok()?.flatten().map(|entry| entry.path());
    directories.map(|path| path.join("faketime/libfaketimeMT.so.1")).find(|path| path.exists())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_wall_clock_jumps() {
    let _turn = alone().await;
    let Some(library) = library() else {
        return leave_out(13, FAULT, "libfaketime is not installed");
    };
    let place = Place::new();
    let key = place.key().await;
    let expiring =
        place.run(&["key", "create", "short", "--expires-in", "90d"]).await.printed().trim_end().to_owned();
    let clock = place.write("clock", "+0y");
    let service = place
        .serve_with(&[], |command| {
            command.env("LD_PRELOAD", &library).env("FAKETIME_TIMESTAMP_FILE", &clock);
            command.env("FAKETIME_NO_CACHE", "1").env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        })
        .await;
    let ledger = Ledger::default();
    let mut client = Client::connect(service.direct, &key).await.unwrap();
    let mut guest = Client::connect(service.direct, &expiring).await.unwrap();
    let mut stays = Vec::new();
    let mut dates = Vec::new();
    for (jump, guest_status) in [("+0y", 200), ("+10y", 401), ("-10y", 200), ("+0y", 200)] {
        // Renamed into place: half a file would be no time at all.
        fs::rename(place.write("clock.new", jump), &clock).unwrap();
        for _ in 0..20 {
            assert_eq!(ledger.add(&mut client).await.unwrap(), 201);
        }
        let page = client.get("/v1/pets?limit=10").await.unwrap();
        assert_eq!(page.status, 200);
        dates.push(page.header("date").unwrap().to_owned());
        let next =
            page.header("link").unwrap().strip_prefix('<').unwrap().split_once('>').unwrap().0.to_owned();
        // A cursor of another decade is as good.
        stays.push(next);
        for cursor in &stays {
            assert_eq!(client.get(cursor).await.unwrap().status, 200);
        }
        assert_eq!(guest.get("/v1/pets").await.unwrap().status, guest_status, "at {jump}");
    }
    let year = |date: &str| date.split(' ').nth(3).unwrap().parse::<i32>().unwrap();
    let [begun, ahead, back, end] = [0, 1, 2, 3].map(|jump| year(&dates[jump]));
    assert_eq!(ahead - begun, 10, "the clock did not jump: {dates:?}");
    // hyper keeps the header until its second is over, by the clock that has just gone back.
    let date = if (back, end) == (begun - 10, begun) {
        "the `Date` header follows"
    } else {
        "after a jump back the `Date` header stays where it was, in hyper's cache, until a restart"
    };
    let all = service.all(&key).await;
    let ids: Vec<_> = all.iter().map(|pet| pet["id"].as_i64().unwrap()).collect();
    assert!(ids.is_sorted());
    let compared = ledger.compare(&all);
    row(
        13,
        FAULT,
        "nothing, but for keys that expire: one of 90 days is answered 401 in ten years, and 200 again after",
        &format!(
            "time-outs and limits go on; cursors stay good; {} acknowledged, 0 lost, identifiers ascending; \
             {date}",
            compared.acknowledged
        ),
    );
    service.stop().await;
}
