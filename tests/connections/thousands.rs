//! Thousands of hostile connections of each kind, and good clients, which get all responses.

use crate::clients::hostile::{Kind, closed};
use crate::clients::possible;
use crate::service::{Service, exclusive, in_time};

const CONNECTIONS: usize = 3_000;
/// The number of requests of each good client.
const REQUESTS: usize = 50;
/// The maximum of resident memory of the process, in KiB.
const MAX_MEMORY: usize = 200 * 1024;
const LIMITS: &[(&str, &str)] =
    &[("handshake_timeout", "3s"), ("header_timeout", "3s"), ("send_timeout", "3s"), ("idle_timeout", "10s")];

/// Opens the connections while good clients send requests, and waits until the service has closed them because
/// of the time limit.
async fn beside_good_clients(service: Service, kind: Kind, timeout: &str) {
    let count = possible(CONNECTIONS);
    service.add_page("Rex").await;
    let mut good = [service.connect(false).await, service.connect(true).await];
    let mut hostile = Vec::new();
    for number in 0..count {
        // The time limit may end a connection before a busy machine has sent all.
        hostile.extend(kind.connect(number, service.direct(), &service.key).await);
        if number % (count / REQUESTS).max(1) == 0 {
            for client in &mut good {
                assert_eq!(client.get("/v1/pets?limit=20").await.unwrap().0, 200);
            }
        }
    }
    for client in &mut good {
        assert_eq!(client.get("/v1/pets?limit=20").await.unwrap().0, 200);
    }
    drop(good);
    assert!(hostile.len() > count / 2, "{} of {count} connected", hostile.len());
    service.answers_again().await;
    service.program.wait_for_readiness(200).await;
    // Only then, because reading would let a response through that waits.
    // The service reads no requests while connections hold too much memory, and closes some of them.
    let others: &[&str] = if ["send", "idle"].contains(&timeout) { &["header"] } else { &[] };
    in_time("the time limit", async {
        loop {
            let mut closed = service.metric("connections_closed_total{reason=\"memory\"}").await;
            for timeout in [timeout].iter().chain(others) {
                closed += service.timed_out(timeout).await;
            }
            if closed >= count as u64 {
                break;
            }
        }
    })
    .await;
    for connection in hostile {
        in_time("the end of a connection", closed(connection)).await;
    }
    service.wait_for_metric("connections_open", |open| open == 0).await;
    let most = service.memory("VmHWM");
    println!("resident memory: {} MiB at most", most / 1024);
    assert!(most < MAX_MEMORY, "resident memory is {most} KiB at most");
    service.stop().await;
}

macro_rules! thousands {
    ($($name:ident: $start:ident, $kind:expr, $timeout:literal;)*) => {$(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $name() {
            let _turn = exclusive().await;
            beside_good_clients(Service::$start(LIMITS).await, $kind, $timeout).await;
        }
    )*};
}

thousands! {
    silent_clients: start, Kind::Silent, "header";
    halves_of_the_preface_of_http2: start, Kind::HalfPreface, "header";
    prefaces_of_http2: start, Kind::Preface, "header";
    halves_of_a_header: start, Kind::HalfHeader, "header";
    silent_clients_with_tls: start_tls, Kind::Silent, "handshake";
    halves_of_a_handshake: start_tls, Kind::HalfHandshake, "handshake";
    idle_clients_over_http1: start, Kind::IdleHttp1, "idle";
    idle_clients_over_http2: start, Kind::IdleHttp2, "idle";
    clients_that_do_not_read_over_http2: start, Kind::UnreadHttp2(4), "send";
}
