//! The memory that clients can make the service hold, with and without a valid key.

use crate::clients::frames::{Connection, PING, frame};
use crate::clients::hostile::Kind;
use crate::clients::possible;
use crate::service::{Service, exclusive, in_time};

/// More than fit into the limits, and than would fit into [`MAX_MEMORY`] without them.
const CONNECTIONS: usize = 1_000;
/// Good clients send a request after this many hostile connections.
const EVERY: usize = 20;
const STREAMS: usize = 100;
/// The maximum of resident memory of the process, in KiB: the build of the tests has larger tasks.
const MAX_MEMORY: usize = 200 * 1024;
const LIMITS: &[(&str, &str)] =
    &[("memory_mib", "64"), ("memory_without_key_mib", "32"), ("send_timeout", "1h")];

/// Starts a service that does not log a hundred thousand requests.
async fn start() -> Service {
    Service::start_with(LIMITS, &[], |command| {
        command.env("ANIMAL_STORE_LOG__ONE_IN", "0");
    })
    .await
}

/// Opens connections, while good clients send requests on theirs.
async fn is_bounded(kind: Kind) {
    let _turn = exclusive().await;
    let service = start().await;
    service.add_page("Rex").await;
    let mut good = [service.connect(false).await, service.connect(true).await];
    let mut hostile = Vec::new();
    for number in 0..possible(CONNECTIONS) {
        // It may be closed before it has sent all.
        hostile.extend(kind.connect(number, service.direct(), &service.key).await);
        if number % EVERY == 0 {
            for client in &mut good {
                assert_eq!(client.get("/v1/pets?limit=20").await.unwrap().0, 200);
            }
        }
    }
    service.answers_again().await;
    let most = service.memory("VmHWM");
    println!("resident memory: {} MiB at most", most / 1024);
    assert!(most < MAX_MEMORY, "resident memory is {most} KiB at most");
    service.wait_for_metric("connections_closed_total{reason=\"memory\"}", |closed| closed > 0).await;
    drop((good, hostile));
    service.wait_for_metric("connections_open", |open| open == 0).await;
    service.stop().await;
}

macro_rules! is_bounded {
    ($($name:ident: $kind:expr;)*) => {$(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $name() {
            is_bounded($kind).await;
        }
    )*};
}

is_bounded! {
    errors_that_are_not_read: Kind::UnreadErrors(STREAMS);
    bodies_that_do_not_end: Kind::OpenBodies(STREAMS);
    bodies_that_do_not_end_without_a_key: Kind::OpenBodiesWithoutKey(STREAMS);
}

/// A client without a key cannot close the connections of those who have one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_with_a_key_keep_their_connections() {
    let _turn = exclusive().await;
    let service = start().await;
    service.add_page(&"🦊".repeat(255)).await;
    // Two pages of 104 KB and 98 requests wait for this client: more than the service holds for any other.
    let slow = Kind::UnreadHttp2(STREAMS).connect(0, service.direct(), &service.key).await.unwrap();
    let mut hostile = Vec::new();
    for number in 1..possible(CONNECTIONS / 2) {
        hostile.extend(Kind::UnreadErrors(STREAMS).connect(number, service.direct(), &service.key).await);
    }
    service.wait_for_metric("connections_closed_total{reason=\"memory\"}", |closed| closed > 0).await;
    let mut slow = Connection::from(slow);
    slow.send(&frame(PING, 0, 0, b"are you?")).await.unwrap();
    let answer = in_time("the answer to PING", slow.find(|frame| frame.kind == PING)).await;
    assert!(answer.is_some(), "the connection of a client with a key was closed");
    drop(hostile);
    service.stop().await;
}
