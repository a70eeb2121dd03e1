//! Heads of requests and bodies over HTTP/1.1, byte by byte: what is accepted, refused, or the last of its connection.

use std::time::Instant;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::connections::clients::hostile::MAX_HEAD;
use crate::connections::service::{Service, in_time};

const BODY: &str = r#"{"name":"Rex","categoryId":3}"#;

/// Sends bytes, in which `KEY` stands for the key. Closes the sending side if `half_closes`. Returns everything that the
/// service sends until it closes the connection.
async fn exchange(service: &Service, bytes: &str, half_closes: bool) -> String {
    let mut stream = TcpStream::connect(service.direct()).await.unwrap();
    stream.write_all(bytes.replace("KEY", &service.key).as_bytes()).await.unwrap();
    if half_closes {
        stream.shutdown().await.unwrap();
    }
    let mut responses = Vec::new();
    // A reset ends the connection, too.
    let _ = in_time("the end of the connection", stream.read_to_end(&mut responses)).await;
    String::from_utf8(responses).unwrap()
}

/// Returns the number of stored animals.
async fn animals(service: &Service) -> usize {
    let (_, pets) = service.connect(false).await.get("/v1/pets").await.unwrap();
    String::from_utf8_lossy(&pets).matches("\"id\":").count()
}

/// Returns a chunked addition with these trailers.
fn chunked(key: &str, trailers: &str) -> String {
    format!(
        "POST /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\n\
         Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{BODY}\r\n0\r\n{trailers}",
        BODY.len()
    )
}

/// hyper ends trailers at CRLF, so that it takes the head of the next request for trailers, and its body for a request.
#[tokio::test]
async fn a_chunked_request_is_the_last_of_its_connection() {
    let service = Service::start(&[]).await;
    let smuggled = chunked("KEY", "\r\n");
    let hidden = format!(
        "POST /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer KEY\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{smuggled}",
        smuggled.replace("KEY", &service.key).len()
    );
    for (key, trailers, added) in
        [("KEY", "X-Trailer: a\n\n", 1), ("KEY", "\r\n", 1), ("none", "X-Trailer: a\n\n", 0)]
    {
        let before = animals(&service).await;
        let responses = exchange(&service, &(chunked(key, trailers) + &hidden), false).await;
        assert_eq!(responses.matches("HTTP/1.1 ").count(), 1, "{trailers:?}: {responses}");
        assert!(responses.contains("connection: close"), "{trailers:?}: {responses}");
        assert_eq!(animals(&service).await, before + added, "{trailers:?}");
    }
    service.stop().await;
}

/// As `nc -N` and some probes do.
#[tokio::test]
async fn a_client_that_closes_its_sending_side_gets_its_response() {
    let service = Service::start_with(&[], &[], |command| {
        command.env("ANIMAL_STORE_LOCK_TIMEOUT", "60s").env("ANIMAL_STORE_REQUEST_TIMEOUT", "60s");
    })
    .await;
    // The first use of the key is written before the lock is taken.
    service.answers().await;
    service.wait_for_metric("store_write_queue_depth", |depth| depth == 0).await;
    let lock = rusqlite::Connection::open(service.database()).unwrap();
    lock.busy_timeout(crate::connections::service::TIMEOUT).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    let addition = format!(
        "POST /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer KEY\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{BODY}",
        BODY.len()
    );
    let mut stream = TcpStream::connect(service.direct()).await.unwrap();
    stream.write_all(addition.replace("KEY", &service.key).as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
    // The service has seen the end of the sending side when later clients have their responses.
    service.answers().await;
    lock.execute_batch("ROLLBACK").unwrap();
    let mut responses = String::new();
    in_time("a response", stream.read_to_string(&mut responses)).await.unwrap();
    assert!(responses.starts_with("HTTP/1.1 201 "), "{responses}");
    service.stop().await;
}

#[tokio::test]
async fn a_head_of_32_kib_is_accepted_and_a_longer_one_is_not() {
    let service = Service::start(&[]).await;
    let head = |length: usize| {
        let start = format!(
            "GET /v1/pets HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer {}\r\nX-Long: ",
            service.key
        );
        let end = "\r\n\r\n";
        let filling = "a".repeat(length - start.len() - end.len());
        start + &filling + end
    };
    for (length, status) in [(MAX_HEAD, "200"), (MAX_HEAD + 1, "431"), (MAX_HEAD * 3 / 2, "431")] {
        let response = exchange(&service, &head(length), false).await;
        assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{length} bytes: {response}");
    }
    service.stop().await;
}

#[tokio::test]
async fn what_is_not_a_request_is_counted_and_logged_once_a_second() {
    let service = Service::start(&[]).await;
    let start = Instant::now();
    let long = "a".repeat(2 * MAX_HEAD);
    let refused = [
        "PROXY TCP4 192.0.2.1 192.0.2.2 4711 80\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "\x16\x03\x01\x00\x05hello",
        "GET / HTTP/1.1\r\nHost : a\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        &format!("GET / HTTP/1.1\r\nHost: a\r\nX-Long: {long}"),
        "GET /KEY HTTP/9.9\r\nHost: a\r\n\r\n",
    ];
    for bytes in refused {
        let response = exchange(&service, bytes, false).await;
        assert!(response.is_empty() || response.starts_with("HTTP/1.1 4"), "{bytes:.40}: {response}");
    }
    let count = refused.len() as u64;
    service.wait_for_metric("connections_malformed_total", |refused| refused == count).await;
    service.program.wait_for_log("refused what is not a request").await;
    let log = service.program.log();
    let lines = log.matches("refused what is not a request").count();
    assert!(lines as u64 <= start.elapsed().as_secs() + 1 && !log.contains(&service.key), "{log}");
    assert!(log.contains("peer=127.0.0.1"), "{log}");
    service.stop().await;
}
