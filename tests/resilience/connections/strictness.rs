//! What RFC 9112 forbids and hyper accepts. `src/server/README.md` lists it under "Known limits", and these tests
//! notice a change. The tests of what is refused are in `tests/http/paths.rs` and `tests/http/known_limits.rs`.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use crate::connections::service::{Service, TIMEOUT};

const BODY: &str = r#"{"name":"Rex","categoryId":3}"#;

/// Sends bytes. Returns the status of the response.
async fn status(service: &Service, request: &str) -> u16 {
    let (address, request) = (service.direct(), request.replace("KEY", &service.key));
    let exchange = move || {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut line = [0; 12];
        stream.read_exact(&mut line).unwrap();
        std::str::from_utf8(&line[9..]).unwrap().parse().unwrap()
    };
    tokio::task::spawn_blocking(exchange).await.unwrap()
}

macro_rules! accepted {
    ($($name:ident: $request:expr => $status:literal;)*) => {$(
        #[tokio::test]
        async fn $name() {
            let service = Service::start(&[]).await;
            assert_eq!(status(&service, &$request).await, $status);
            service.stop().await;
        }
    )*};
}

accepted! {
    line_feeds_without_carriage_returns:
        "GET /v1/pets HTTP/1.1\nHost: a\nAuthorization: Bearer KEY\n\n" => 200;
    a_line_feed_before_the_request_line:
        "\nGET /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer KEY\r\n\r\n" => 200;
    a_fragment_in_the_target:
        "GET /v1/pets#fragment HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer KEY\r\n\r\n" => 200;
    http_1_0_without_host:
        "GET /v1/pets HTTP/1.0\r\nAuthorization: Bearer KEY\r\n\r\n" => 200;
    a_port_that_does_not_exist:
        "GET /v1/pets HTTP/1.1\r\nHost: a:99999\r\nAuthorization: Bearer KEY\r\n\r\n" => 200;
    a_content_length_beside_a_transfer_encoding:
        format!("POST /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer KEY\r\nContent-Type: application/json\r\n\
                 Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{BODY}\r\n0\r\n\r\n", BODY.len()) => 201;
    a_space_after_the_size_of_a_chunk:
        format!("POST /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer KEY\r\nContent-Type: application/json\r\n\
                 Transfer-Encoding: chunked\r\n\r\n{:x} \r\n{BODY}\r\n0\r\n\r\n", BODY.len()) => 201;
}

#[tokio::test]
async fn methods_hosts_and_transfer_encodings_are_refused() {
    let service = Service::start(&[]).await;
    let post = |method: &str, fields: &str| {
        format!(
            "{method} /v1/pets HTTP/1.1\r\nAuthorization: Bearer KEY\r\nContent-Type: application/json\r\n\
             {fields}\r\n{:x}\r\n{BODY}\r\n0\r\n\r\n",
            BODY.len()
        )
    };
    let chunked = "Transfer-Encoding: chunked\r\n";
    for (request, expected) in [
        (post("post", &format!("Host: a\r\n{chunked}")), 405),
        (post("POST", chunked), 400),
        (post("POST", &format!("Host: a\r\nHost: a\r\n{chunked}")), 400),
        (post("POST", &format!("Host: a b\r\n{chunked}")), 400),
        (post("POST", &format!("Host: a, b\r\n{chunked}")), 400),
        (post("POST", "Host: a\r\nTransfer-Encoding: gzip, chunked\r\n"), 400),
        (post("POST", "Host: a\r\nTransfer-Encoding: chunked, gzip\r\n"), 400),
        (post("POST", &format!("Host: a\r\n{chunked}{chunked}")), 400),
    ] {
        assert_eq!(status(&service, &request).await, expected, "{request}");
    }
    let (_, pets) = service.connect(false).await.get("/v1/pets").await.unwrap();
    assert_eq!(&pets[..], b"[]", "nothing is stored");
    service.stop().await;
}
