//! Clients that do not read their responses.

use crate::clients::hostile::{Kind, closed};
use crate::service::{Service, exclusive, in_time};

const LIMITS: &[(&str, &str)] = &[("send_timeout", "2s")];
/// The maximum of resident memory of the process, in KiB.
const MAX_MEMORY: usize = 200 * 1024;
/// More pages than fit into the buffers of the kernel: 10 MB.
const PAGES: usize = 100;

/// The longest name of an animal, so that a page takes 104 KB.
fn longest_name() -> String {
    "🦊".repeat(255)
}

async fn is_closed(kind: Kind) {
    let service = Service::start(LIMITS).await;
    service.add_page(&longest_name()).await;
    let connection = kind.connect(0, service.direct(), &service.key).await.unwrap();
    service.wait_for_metric("connections_timed_out_total{timeout=\"send\"}", |count| count == 1).await;
    in_time("the end of the connection", closed(connection)).await;
    service.all_timed_out("send", 1).await;
    service.answers().await;
    service.stop().await;
}

#[tokio::test]
async fn over_http1() {
    is_closed(Kind::UnreadHttp1(PAGES)).await;
}

#[tokio::test]
async fn over_http2_with_a_window_of_zero() {
    is_closed(Kind::UnreadHttp2(1)).await;
}

#[tokio::test]
async fn over_http2_with_more_than_the_limit_of_a_connection() {
    is_closed(Kind::UnreadHttp2(PAGES)).await;
}

/// The responses to a list.
const LISTS: &str = "http_server_request_duration_seconds_count{http_request_method=\"GET\",\
                     http_route=\"/v1/pets\",http_response_status_code=\"200\"}";

/// So a good client waits for few pages of others.
#[tokio::test]
async fn two_pages_are_read_for_a_client_that_takes_none() {
    const CONNECTIONS: u64 = 10;
    let service = Service::start(&[]).await;
    service.add_page(&longest_name()).await;
    let mut unread = Vec::new();
    for number in 0..CONNECTIONS as usize {
        let client = Kind::UnreadHttp2(PAGES).connect(number, service.direct(), &service.key);
        unread.push(client.await.unwrap());
    }
    service.wait_for_metric(LISTS, |pages| pages >= 2 * CONNECTIONS).await;
    // These wait for the reads that came before.
    service.answers().await;
    assert_eq!(service.metric(LISTS).await, 2 * CONNECTIONS + 2);
    service.stop().await;
}

/// Clients open connections with a window of zero, and ask for a page on each of 200 streams. Good clients are
/// answered meanwhile.
async fn memory_is_bounded(name: &str) {
    const CONNECTIONS: usize = 40;
    const STREAMS: usize = 200;
    let _turn = exclusive().await;
    let service = Service::start(LIMITS).await;
    service.add_page(name).await;
    let mut good = [service.connect(false).await, service.connect(true).await];
    let before = service.memory("VmRSS");
    let mut hostile = Vec::new();
    for number in 0..CONNECTIONS {
        hostile
            .push(Kind::UnreadHttp2(STREAMS).connect(number, service.direct(), &service.key).await.unwrap());
        for client in &mut good {
            assert_eq!(client.get("/v1/pets?limit=20").await.unwrap().0, 200);
        }
    }
    let closed_for_reading = "connections_timed_out_total{timeout=\"send\"}";
    while service.metric(closed_for_reading).await < CONNECTIONS as u64 {
        for client in &mut good {
            assert_eq!(client.get("/v1/pets?limit=20").await.unwrap().0, 200);
        }
    }
    for connection in hostile {
        in_time("the end of a connection", closed(connection)).await;
    }
    let most = service.memory("VmHWM");
    println!("resident memory: {} MiB before, {} MiB at most", before / 1024, most / 1024);
    assert!(most < MAX_MEMORY, "resident memory is {before} KiB before and {most} KiB at most");
    assert_eq!(service.metric(closed_for_reading).await, CONNECTIONS as u64, "each is counted once");
    drop(good);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_is_bounded_with_common_names() {
    memory_is_bounded("Wotan von der Mühlenbachaue").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_is_bounded_with_the_longest_names() {
    memory_is_bounded(&longest_name()).await;
}
