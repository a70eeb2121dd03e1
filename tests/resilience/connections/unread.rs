//! Clients that do not read their responses.

use tokio::time::sleep;

use crate::connections::clients::hostile::{Kind, PAGE, closed};
use crate::connections::service::{POLL, Service, in_time};

/// More pages than fit into the buffers of the kernel.
const PAGES: usize = 100;

/// Checks that the service closes the connection of a client that takes nothing.
async fn is_closed(service: Service, kind: Kind) {
    // The longest name of an animal, so that a page takes 104 KB.
    service.add_page(&"🦊".repeat(255)).await;
    let connection = service.held(kind).await.unwrap();
    let ended = async {
        while service.timed_out("send").await + service.timed_out("idle").await == 0 {
            sleep(POLL).await;
        }
    };
    in_time("the time limit", ended).await;
    in_time("the end of the connection", closed(connection)).await;
    // TLS may hold the end of the last response, which then no longer waits: the connection is idle.
    assert_eq!(service.timed_out("send").await + service.timed_out("idle").await, 1);
    service.answers().await;
    service.stop().await;
}

macro_rules! is_closed {
    ($($name:ident: $start:ident $kind:expr;)*) => {$(
        #[tokio::test]
        async fn $name() {
            is_closed(Service::$start(&[("send_timeout", "2s"), ("idle_timeout", "2s")]).await, $kind).await;
        }
    )*};
}

is_closed! {
    over_http1: start Kind::UnreadHttp1(PAGE, PAGES);
    over_http1_with_tls: start_tls Kind::UnreadHttp1(PAGE, PAGES);
    one_page_over_http2_with_a_window_of_zero: start_tls Kind::UnreadHttp2(1);
    more_pages_over_http2_than_streams: start_tls Kind::UnreadHttp2(PAGES);
    an_error_over_http2_with_a_window_of_zero: start_tls Kind::UnreadErrors(1);
}
