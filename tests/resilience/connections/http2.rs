//! Requests over HTTP/2 that a client library would not send (RFC 9113).

use crate::connections::clients::frames::{
    CONTINUATION, Connection, DATA, END_HEADERS, END_STREAM, Frame, HEADERS, REFUSED_STREAM, RST_STREAM,
    SETTINGS, frame, get, get_headers, header_block, preface, reset, stream,
};
use crate::connections::clients::hostile::PAGE;
use crate::connections::service::{Service, in_time};

/// The number of streams that the service allows at the same time.
const STREAMS: usize = 32;
const WINDOW: u32 = 65_535;
const BODY: &[u8] = br#"{"name":"Rex","categoryId":3}"#;
/// Error codes (section 7).
const PROTOCOL_ERROR: u32 = 1;
const ENHANCE_YOUR_CALM: u32 = 11;

async fn open(service: &Service, window: u32) -> Connection {
    service.frames(window).await
}

/// Reads until the next frame that fits.
async fn find(connection: &mut Connection, what: &str, fits: impl Fn(&Frame) -> bool) -> Frame {
    in_time(what, connection.find(fits))
        .await
        .unwrap_or_else(|| panic!("the connection ended before: {what}"))
}

/// Checks that a request on a new stream gets 200.
async fn still_answers(connection: &mut Connection, service: &Service, stream: u32) {
    connection.send(&get(stream, "/v1/pets", &service.key)).await.unwrap();
    let response = find(connection, "a response", |frame| frame.stream == stream).await;
    assert!(response.is_ok(), "{response:?}");
}

/// Returns the HEADERS frame of a request that adds an animal; its body must follow.
fn post(stream: u32, key: &str, fields: &[(&str, &str)]) -> Vec<u8> {
    let authorization = format!("Bearer {key}");
    let mut headers = get_headers("/v1/pets", &authorization);
    headers[0].1 = "POST";
    headers.push(("content-type", "application/json"));
    headers.extend(fields);
    frame(HEADERS, END_HEADERS, stream, &header_block(&headers))
}

#[tokio::test]
async fn streams_above_the_limit_are_refused_and_the_others_answered() {
    let service = Service::start_tls(&[]).await;
    service.add_page("Rex").await;
    let mut client = open(&service, 0).await;
    let settings = find(&mut client, "SETTINGS", |frame| frame.kind == SETTINGS).await;
    // SETTINGS_MAX_CONCURRENT_STREAMS (section 6.5.2).
    let max = settings.payload.chunks(6).find(|setting| setting.starts_with(&[0, 3])).unwrap();
    assert_eq!(max[2..], u32::try_from(STREAMS).unwrap().to_be_bytes());

    let requests: Vec<u8> =
        (0..STREAMS + 50).flat_map(|number| get(stream(number), PAGE, &service.key)).collect();
    client.send(&requests).await.unwrap();
    for _ in 0..50 {
        let refused = find(&mut client, "RST_STREAM", |frame| frame.kind == RST_STREAM).await;
        assert_eq!(refused.error_code(), Some(REFUSED_STREAM));
        assert!(refused.stream >= stream(STREAMS), "a stream within the limit is refused: {refused:?}");
    }
    // The window of each stream and of the connection.
    const WINDOW_UPDATE: u8 = 8;
    let settings = preface(1 << 20).split_off(crate::connections::clients::frames::PREFACE.len());
    let update = frame(WINDOW_UPDATE, 0, 0, &(1_u32 << 28).to_be_bytes());
    client.send(&[settings, update].concat()).await.unwrap();
    let mut complete = 0;
    while complete < STREAMS {
        let end =
            find(&mut client, "a page", |frame| frame.kind == DATA && frame.flags & END_STREAM != 0).await;
        assert!(end.stream < stream(STREAMS));
        complete += 1;
    }
    service.stop().await;
}

#[tokio::test]
async fn requests_in_progress_that_are_reset_are_logged_and_counted() {
    let service = Service::start_tls_with(&[], |command| {
        command.env("ANIMAL_STORE_LOCK_TIMEOUT", "200s").env("ANIMAL_STORE_REQUEST_TIMEOUT", "200s");
    })
    .await;
    // Additions wait while another process holds the lock for writing.
    let lock = rusqlite::Connection::open(service.database()).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    // The first use of the key is written too: the writer takes it, and then waits for the lock.
    service.answers().await;
    service.wait_for_metric("store_write_queue_depth", |depth| depth == 0).await;
    let mut client = open(&service, WINDOW).await;
    for number in 0..5 {
        client.send(&post(stream(number), &service.key, &[])).await.unwrap();
        client.send(&frame(DATA, END_STREAM, stream(number), BODY)).await.unwrap();
    }
    service.wait_for_metric("store_write_queue_depth", |depth| depth == 5).await;
    for number in 0..5 {
        client.send(&reset(stream(number))).await.unwrap();
    }
    still_answers(&mut client, &service, stream(6)).await;
    let counted = service.wait_for_metric(&posts(499), |count| count >= 5).await;
    service.program.wait_for_log_times("POST /v1/pets 499", usize::try_from(counted).unwrap()).await;
    lock.execute_batch("ROLLBACK").unwrap();
    drop(client);
    service.stop().await;
}

#[tokio::test]
async fn requests_whose_body_is_cut_off_are_logged_and_not_stored() {
    let service = Service::start_tls(&[]).await;
    let mut client = open(&service, WINDOW).await;
    for number in 0..5 {
        client.send(&post(stream(number), &service.key, &[])).await.unwrap();
        client.send(&frame(DATA, 0, stream(number), &BODY[..10])).await.unwrap();
    }
    still_answers(&mut client, &service, stream(5)).await;
    for number in 0..5 {
        client.send(&reset(stream(number))).await.unwrap();
    }
    // A body that is not complete, or, where the service was not ready to read it, a client that is gone.
    service.program.wait_for_log_times("POST /v1/pets 4", 5).await;
    let log = service.program.log();
    let lines = log.lines().filter(|line| line.contains("POST /v1/pets"));
    let is_right =
        |line: &str| line.contains(" 400 ") && line.contains("invalid_body") || line.contains(" 499 ");
    assert!(lines.clone().count() == 5 && lines.clone().all(is_right), "{log}");
    let (_, pets) = service.connect(true).await.get("/v1/pets").await.unwrap();
    assert_eq!(&pets[..], b"[]");
    service.stop().await;
}

/// Returns the name of the metric that counts responses to additions with this status.
fn posts(status: u16) -> String {
    format!(
        "http_server_request_duration_seconds_count{{http_request_method=\"POST\",\
         http_route=\"/v1/pets\",http_response_status_code=\"{status}\"}}"
    )
}

#[tokio::test]
async fn a_rapid_reset_ends_the_connection() {
    let service = Service::start_tls(&[]).await;
    let mut good = service.connect(true).await;
    let mut client = open(&service, WINDOW).await;
    let before = service.memory("VmHWM");
    let mut ended = false;
    for batch in 0..1_000 {
        let resets = (batch * 100..(batch + 1) * 100).flat_map(|number| {
            let stream = stream(number);
            [get(stream, PAGE, &service.key), reset(stream)].concat()
        });
        let resets: Vec<u8> = resets.collect();
        if in_time("the end of a write", client.send(&resets)).await.is_err() {
            ended = true;
            break;
        }
        assert_eq!(good.get("/v1/pets").await.unwrap().0, 200);
    }
    assert!(ended || in_time("GOAWAY", client.last_error()).await == Some(ENHANCE_YOUR_CALM));
    let most = service.memory("VmHWM");
    assert!(most < before + 64 * 1024, "resident memory grows from {before} to {most} KiB");
    service.answers().await;
    service.stop().await;
}

#[tokio::test]
async fn headers_above_the_limit_are_431_and_the_connection_lives() {
    let service = Service::start_tls(&[]).await;
    let mut client = open(&service, WINDOW).await;
    let authorization = format!("Bearer {}", service.key);
    let value = "a".repeat(20 * 1024);
    let mut headers = get_headers("/v1/pets", &authorization);
    headers.push(("x-long", &value));
    let block = header_block(&headers);
    let (first, rest) = block.split_at(16 * 1024);
    let mut request = frame(HEADERS, END_STREAM, 1, first);
    request.extend(frame(CONTINUATION, END_HEADERS, 1, rest));
    client.send(&request).await.unwrap();
    let response = find(&mut client, "a response", |frame| frame.stream == 1).await;
    assert_eq!(response.kind, HEADERS, "{response:?}");
    // `:status` is a literal with the name of index 8, and `431` in Huffman code (RFC 7541, sections 5.2 and 6.2).
    assert!(response.payload.starts_with(b"\x48\x83\x69\x90\xff"), "{response:x?}");
    still_answers(&mut client, &service, 3).await;
    service.stop().await;
}

#[tokio::test]
async fn headers_of_a_connection_are_refused_and_the_connection_lives() {
    let service = Service::start_tls(&[]).await;
    let mut client = open(&service, WINDOW).await;
    let fields = [
        ("connection", "close"),
        ("keep-alive", "5"),
        ("proxy-connection", "close"),
        ("transfer-encoding", "chunked"),
        ("upgrade", "h2c"),
        ("te", "gzip"),
    ];
    for (number, field) in fields.into_iter().enumerate() {
        let stream = stream(number);
        client.send(&post(stream, &service.key, &[field])).await.unwrap();
        let refused = find(&mut client, field.0, |frame| frame.stream == stream).await;
        assert_eq!(refused.error_code(), Some(PROTOCOL_ERROR), "{field:?}: {refused:?}");
    }
    still_answers(&mut client, &service, stream(fields.len())).await;
    service.stop().await;
}

#[tokio::test]
async fn a_header_name_in_upper_case_ends_the_connection() {
    let service = Service::start_tls(&[]).await;
    let mut client = open(&service, WINDOW).await;
    client.send(&post(1, &service.key, &[("X-Upper", "case")])).await.unwrap();
    assert_eq!(in_time("GOAWAY", client.last_error()).await, Some(PROTOCOL_ERROR));
    service.answers().await;
    service.stop().await;
}

#[tokio::test]
async fn a_body_of_another_length_is_refused_and_not_stored() {
    let service = Service::start_tls(&[]).await;
    let mut client = open(&service, WINDOW).await;
    for (number, length) in ["28", "30"].into_iter().enumerate() {
        let stream = stream(number);
        client.send(&post(stream, &service.key, &[("content-length", length)])).await.unwrap();
        client.send(&frame(DATA, END_STREAM, stream, BODY)).await.unwrap();
        let refused = find(&mut client, "RST_STREAM", |frame| frame.stream == stream).await;
        assert_eq!(refused.error_code(), Some(PROTOCOL_ERROR), "{length}: {refused:?}");
    }
    still_answers(&mut client, &service, stream(2)).await;
    let (_, pets) = service.connect(true).await.get("/v1/pets").await.unwrap();
    assert_eq!(&pets[..], b"[]");
    service.stop().await;
}

#[tokio::test]
async fn an_upload_larger_than_the_window_is_read() {
    let service = Service::start_tls(&[]).await;
    // More than the window of a connection in total.
    let mut good = service.connect(true).await;
    let spaces = " ".repeat(60 * 1024);
    for _ in 0..20 {
        let body = format!(r#"{{"name":"Rex",{spaces}"categoryId":3}}"#);
        assert_eq!(good.post("/v1/pets", body).await.unwrap().0, 201);
    }
    // The client library waits for the window, so the service has read what the window does not hold.
    let (status, _) = good.post("/v1/pets", " ".repeat(4 * 1024 * 1024)).await.unwrap();
    assert_eq!(status, 413);

    service.stop().await;
}

/// `:authority` is the host (section 8.3.1); a `host` beside it must be the same.
#[tokio::test]
async fn two_hosts_that_disagree_are_refused() {
    let service = Service::start_tls(&[]).await;
    let mut client = open(&service, WINDOW).await;
    for (number, (hosts, is_ok)) in [
        (&["other"][..], false),
        (&["animals", "other"], false),
        (&["animals", "animals"], false),
        (&["animals"], true),
    ]
    .into_iter()
    .enumerate()
    {
        let authorization = format!("Bearer {}", service.key);
        let mut headers = get_headers("/v1/pets", &authorization);
        headers.extend(hosts.iter().map(|host| ("host", *host)));
        let stream = stream(number);
        let request = frame(HEADERS, END_STREAM | END_HEADERS, stream, &header_block(&headers));
        client.send(&request).await.unwrap();
        let response = find(&mut client, "a response", |frame| frame.stream == stream).await;
        assert_eq!(response.is_ok(), is_ok, "{hosts:?}");
        if !is_ok {
            // Index 12 of the static table of HPACK is status 400.
            assert_eq!(response.payload.first(), Some(&0x8c), "{hosts:?}: {response:?}");
        }
    }
    service.stop().await;
}

/// Floods that the library bounds: the connection ends, and the service answers others meanwhile.
#[tokio::test]
async fn continuation_frames_without_end_end_the_connection() {
    let service = Service::start_tls(&[]).await;
    let mut good = service.connect(true).await;
    let mut client = open(&service, WINDOW).await;
    client.send(&frame(HEADERS, END_STREAM, 1, &[])).await.unwrap();
    let more = frame(CONTINUATION, 0, 1, &header_block(&[("x-more", "a")])).repeat(100);
    let flood = async { while client.send(&more).await.is_ok() {} };
    in_time("the end of the connection", flood).await;
    assert_eq!(good.get("/v1/pets").await.unwrap().0, 200);
    service.stop().await;
}
