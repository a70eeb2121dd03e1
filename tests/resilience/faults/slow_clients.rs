//! Two thousand slow or idle clients, beside one normal client.

use std::fs;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::{TcpSocket, TcpStream};

use crate::faults::connections::{all_accepted, possible};
use crate::row::{exclusive, grouped, measured, milliseconds, percentile, resident, row};
use kit::client::{Client, get, post_head};
use kit::program::WorkDir;

const OF_EACH_KIND: usize = 500;
/// The animals on the page that is not read. Each has a name of maximum length, so that a page takes 104 KB.
const ANIMALS: usize = 100;
/// The number of pages requested by a client that does not read: more than fits into the kernel's buffers.
const PAGES: usize = 4;

#[derive(Clone, Copy)]
enum Slow {
    NoRequest,
    IncompleteHeader,
    IncompleteBody,
    DoesNotRead,
}

impl Slow {
    const ALL: [Self; 4] = [Self::NoRequest, Self::IncompleteHeader, Self::IncompleteBody, Self::DoesNotRead];

    async fn connect(self, address: SocketAddr, key: &str) -> TcpStream {
        let socket = TcpSocket::new_v4().unwrap();
        if matches!(self, Self::DoesNotRead) {
            socket.set_recv_buffer_size(4096).unwrap();
        }
        let mut stream = socket.connect(address).await.unwrap();
        let bytes = match self {
            Self::NoRequest => String::new(),
            Self::IncompleteHeader => "GET /v1/pets HTTP/1.1\r\nHost: ani".to_owned(),
            Self::IncompleteBody => post_head(key, 29) + r#"{"name":"#,
            // Responses of 416 KB that the client does not read.
            Self::DoesNotRead => get("/v1/pets?limit=100", key).repeat(PAGES),
        };
        stream.write_all(bytes.as_bytes()).await.unwrap();
        stream
    }
}

/// Returns how many connections have responses in the kernel that their clients do not read (`/proc/net/tcp`, proc(5)).
fn unread(service: SocketAddr) -> usize {
    let table = fs::read_to_string("/proc/net/tcp").unwrap();
    let port = format!(":{:04X}", service.port());
    let rows = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    rows.filter(|row| row[1].ends_with(&port) && !row[4].starts_with("00000000")).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_clients_do_not_delay_a_normal_client() {
    let _turn = exclusive().await;
    let (rounds, round) =
        if kit::is_long() { (7, Duration::from_secs(4)) } else { (3, Duration::from_secs(1)) };
    // Those of a round that is over may still be open; the fifth part is spare.
    let of_each = OF_EACH_KIND.min(possible(rounds * 5 * OF_EACH_KIND) / (rounds * 5));
    let connections = (rounds * 5 * of_each).to_string();
    let directory = WorkDir::new();
    let key = directory.key().await;
    // A busy machine takes longer than the time limits to serve so many clients.
    let service = directory
        .serve_with(&[], |command| {
            command.env("ANIMAL_STORE_REQUEST_TIMEOUT", "1h");
            command.env("ANIMAL_STORE_CONNECTIONS__MAX", &connections);
            command.env("ANIMAL_STORE_CONNECTIONS__MAX_REQUESTS", &connections);
            for limit in ["SEND", "HEADER", "IDLE"] {
                command.env(format!("ANIMAL_STORE_CONNECTIONS__{limit}_TIMEOUT"), "1h");
            }
        })
        .await;
    let mut normal = Client::connect(service.direct, &key).await.unwrap();
    for number in 0..ANIMALS {
        let body = format!(r#"{{"name":"{}","categoryId":{number}}}"#, "🦊".repeat(255));
        assert_eq!(normal.post(&body).await.unwrap().status, 201);
    }
    normal.response_times("/v1/pets?limit=20", round).await;
    let before = resident(service.pid());

    // Rounds alternate between both cases, so that other load on the machine affects both alike.
    let (mut quiet, mut loaded, mut most) = (Vec::new(), Vec::new(), 0);
    for _ in 0..rounds {
        quiet.push(percentile(&mut normal.response_times("/v1/pets?limit=20", round).await, 99));
        let mut slow = Vec::new();
        for _ in 0..of_each {
            for kind in Slow::ALL {
                slow.push(kind.connect(service.direct, &key).await);
            }
        }
        all_accepted(&service, &key).await;
        while unread(service.direct) < of_each {
            tokio::task::yield_now().await;
        }
        let added = normal.post(r#"{"name":"Rex","categoryId":1}"#).await.unwrap();
        assert_eq!(added.status, 201);
        loaded.push(percentile(&mut normal.response_times("/v1/pets?limit=20", round).await, 99));
        most = most.max(resident(service.pid()));
    }
    let (quiet, loaded) = (percentile(&mut quiet, 50), percentile(&mut loaded, 50));
    let times = loaded.as_secs_f64() / quiet.as_secs_f64();
    assert!(!measured() || times <= 5.0, "p99 goes from {quiet:?} to {loaded:?}, {times:.1} times");
    // No incomplete body was stored.
    assert_eq!(service.all(&key).await.len(), ANIMALS + rounds);
    row(
        11,
        &format!(
            "{} slow clients: incomplete header, incomplete body, no request, response not read; {of_each} of each",
            grouped(4 * of_each)
        ),
        &format!(
            "a normal client's p99 goes from {} to {}, {times:.1} times (medians of {rounds} alternating rounds)",
            milliseconds(quiet),
            milliseconds(loaded)
        ),
        &format!(
            "no incomplete body is stored; resident memory {} MiB before, {} MiB at most",
            before / 1024,
            most / 1024
        ),
    );
    service.stop().await;
}
