//! The memory that clients can make the program hold with the default limits: the table "Memory" in
//! `xtask/dist/README.md`.

use animal_store::DOCUMENT;
use animal_store::config::{Config, Flags};
use animal_store::server::reserve_descriptors;

use crate::connections::clients::hostile::{Kind, PAGE};
use crate::connections::service::Service;
use crate::row::exclusive;

/// The requests at the same time on a connection over HTTP/2.
const STREAMS: usize = 32;
/// What clients may hold, in MiB: without a key, and all together.
const WITHOUT_KEY: usize = 256;
const ALL: usize = 512;
/// The requests of the good client during which the memory must no longer grow.
const SETTLED: usize = 100;

/// Returns the path of the largest published file, which needs no key.
fn file() -> &'static str {
    let largest = DOCUMENT.unwrap().files.iter().max_by_key(|file| file.content.len());
    format!("/{}", largest.unwrap().path).leak()
}

/// Opens as many connections of this kind as there may be, and compares the growth of the resident memory with the limit
/// in MiB. A good client is served meanwhile. Each connection without a key has a limit of its own, so in short runs a
/// quarter of them may hold a quarter; what clients with a key hold has one limit for all of them.
async fn is_bounded(kind: Kind, limit: usize) {
    let share = if limit == WITHOUT_KEY && !kit::is_long() { 4 } else { 1 };
    let _turn = exclusive().await;
    reserve_descriptors(&Config::load(&Flags::default()).unwrap(), 0).unwrap();
    // A busy machine must not close connections before they hold most.
    let limits = ["header", "idle", "send"].map(|name| format!("{name}_timeout"));
    let limits: Vec<_> = limits.iter().map(|name| (name.as_str(), "1h")).collect();
    let service = Service::start_tls_with(&limits, |command| {
        command.env("ANIMAL_STORE_REQUEST_TIMEOUT", "1h");
    })
    .await;
    // The longest names in JSON: six bytes for each character.
    service.add_page(&"\\u0001".repeat(255)).await;
    let mut good = service.connect(false).await;
    assert_eq!(good.get(PAGE).await.unwrap().0, 200);
    let before = service.memory("VmRSS");
    let mut held = Vec::new();
    // All but the one of the good client.
    let connections = (Config::load(&Flags::default()).unwrap().connections.max - 1) / share;
    for _ in 0..connections {
        held.push(service.held(kind).await.unwrap());
    }
    let (mut most, mut since) = (0, 0);
    while since < SETTLED {
        // Without a permit left, this would wait.
        assert_eq!(service.program.ops("/livez").await.0, 200);
        let now = service.memory("VmHWM");
        since = if now > most { 0 } else { since + 1 };
        most = most.max(now);
    }
    let grown = (most - before) / 1024;
    println!("{kind:?}: {connections} connections hold {grown} MiB at most");
    assert!(grown < limit / share, "{kind:?}: {grown} MiB");
    drop(held);
    // What was held is free for others.
    assert_eq!(good.get(PAGE).await.unwrap().0, 200);
    service.stop().await;
}

macro_rules! is_bounded {
    ($($name:ident: $kind:expr => $limit:ident;)*) => {$(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $name() {
            is_bounded($kind, $limit).await;
        }
    )*};
}

is_bounded! {
    silent_clients: Kind::Silent => WITHOUT_KEY;
    halves_of_handshakes: Kind::HalfHandshake => WITHOUT_KEY;
    heads_without_end: Kind::LongHeader => WITHOUT_KEY;
    unread_files: Kind::UnreadHttp1(file(), 100) => WITHOUT_KEY;
    unread_errors_over_http2: Kind::UnreadErrors(STREAMS) => WITHOUT_KEY;
    bodies_without_end_and_key_over_http2: Kind::OpenBodiesWithoutKey(STREAMS) => WITHOUT_KEY;
    unread_pages: Kind::UnreadHttp1(PAGE, 100) => ALL;
    unread_pages_over_http2: Kind::UnreadHttp2(STREAMS) => ALL;
    bodies_without_end: Kind::OpenBody => ALL;
    bodies_without_end_over_http2: Kind::OpenBodies(STREAMS) => ALL;
}
