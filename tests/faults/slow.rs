//! Two thousand clients that are slow, or worse, and one that is not.

use std::fs;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::{TcpSocket, TcpStream};

use crate::client::{Client, get, post_head};
use crate::many::{possible, settled};
use crate::program::Place;
use crate::row::{alone, grouped, long, measured, milliseconds, percentile, resident, row};

const OF_EACH_KIND: usize = 500;
/// Animals on the page that is not read, each with a name as long as can be: a page is 104 KB.
const ANIMALS: usize = 100;
/// So many pages are more than the kernel keeps for a connection.
const ANSWERS: usize = 4;

#[derive(Clone, Copy)]
enum Slow {
    SendsNothing,
    SendsHalfAHeader,
    SendsHalfABody,
    ReadsNothing,
}

impl Slow {
    const ALL: [Self; 4] =
        [Self::SendsNothing, Self::SendsHalfAHeader, Self::SendsHalfABody, Self::ReadsNothing];

    async fn connect(self, address: SocketAddr, key: &str) -> TcpStream {
        let socket = TcpSocket::new_v4().unwrap();
        if matches!(self, Self::ReadsNothing) {
            socket.set_recv_buffer_size(4096).unwrap();
        }
        let mut stream = socket.connect(address).await.unwrap();
        let bytes = match self {
            Self::SendsNothing => String::new(),
            Self::SendsHalfAHeader => "GET /v1/pets HTTP/1.1\r\nHost: ani".to_owned(),
            Self::SendsHalfABody => post_head(key, 29) + r#"{"name":"#,
            // Answers of a megabyte, which nobody takes.
            Self::ReadsNothing => get("/v1/pets?limit=100", key).repeat(ANSWERS),
        };
        stream.write_all(bytes.as_bytes()).await.unwrap();
        stream
    }
}

/// How many connections hold answers in the kernel that their clients do not take (proc(5), `/proc/net/tcp`).
fn unread(service: SocketAddr) -> usize {
    let table = fs::read_to_string("/proc/net/tcp").unwrap();
    let port = format!(":{:04X}", service.port());
    let rows = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    rows.filter(|row| row[1].ends_with(&port) && !row[4].starts_with("00000000")).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_clients_do_not_slow_a_good_one() {
    let _turn = alone().await;
    let of_each = OF_EACH_KIND.min(possible(4 * OF_EACH_KIND) / 4);
    let (rounds, round) = if long() { (15, Duration::from_secs(2)) } else { (3, Duration::from_secs(1)) };
    let place = Place::new();
    let key = place.key().await;
    let service = place.serve(&[]).await;
    let mut good = Client::connect(service.direct, &key).await.unwrap();
    for number in 0..ANIMALS {
        let body = format!(r#"{{"name":"{}","categoryId":{number}}}"#, "🦊".repeat(255));
        assert_eq!(good.post(&body).await.unwrap().status, 201);
    }
    good.paced("/v1/pets?limit=20", round).await;
    let before = resident(service.pid());

    // In turns, so that what else the machine does meets both alike.
    let (mut quiet, mut loaded, mut most) = (Vec::new(), Vec::new(), 0);
    for _ in 0..rounds {
        quiet.push(percentile(&mut good.paced("/v1/pets?limit=20", round).await, 99));
        let mut slow = Vec::new();
        for _ in 0..of_each {
            for kind in Slow::ALL {
                slow.push(kind.connect(service.direct, &key).await);
            }
        }
        settled(&service, &key).await;
        while unread(service.direct) < of_each {
            tokio::task::yield_now().await;
        }
        let added = good.post(r#"{"name":"Rex","categoryId":1}"#).await.unwrap();
        assert_eq!(added.status, 201);
        loaded.push(percentile(&mut good.paced("/v1/pets?limit=20", round).await, 99));
        most = most.max(resident(service.pid()));
    }
    let (quiet, loaded) = (percentile(&mut quiet, 50), percentile(&mut loaded, 50));
    let times = loaded.as_secs_f64() / quiet.as_secs_f64();
    assert!(!measured() || times <= 5.0, "p99 goes from {quiet:?} to {loaded:?}, {times:.1} times");
    // None of half a body was stored.
    assert_eq!(service.all(&key).await.len(), ANIMALS + rounds);
    row(
        11,
        &format!(
            "{} slow clients: half a header, half a body, nothing at all, reading nothing, {of_each} of each",
            grouped(4 * of_each)
        ),
        &format!(
            "a good client's p99 goes from {} to {}, {times:.1} times (medians of {rounds} rounds in turns)",
            milliseconds(quiet),
            milliseconds(loaded)
        ),
        &format!(
            "no half body is stored; resident memory {} MiB before, {} MiB at most",
            before / 1024,
            most / 1024
        ),
    );
    service.stop().await;
}
