//! The operators' listener: health checks and metrics.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::{Command, Stdio};

use animal_store::keys::NewKey;
use jiff::Timestamp;
use reqwest::Method;
use rustix::process::Signal;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use kit::postgres::free_port;
use kit::program::{Program, TIMEOUT, WorkDir};
use kit::recorder::contract::Contract;
use kit::recorder::request::RequestExt as _;

/// Returns the value of a series; 0 if the page does not contain it.
pub fn value(page: &str, series: &str) -> f64 {
    let line = page.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    line.map_or(0.0, |value| value.parse().unwrap())
}

async fn page(service: &Program) -> String {
    let (status, page) = service.ops("/metrics").await;
    assert_eq!(status, 200);
    assert!(page.ends_with("# EOF\n"), "{page}");
    page
}

/// Returns the number of counted responses.
fn responses(page: &str, method: &str, route: &str, status: u16) -> f64 {
    let labels = format!(
        r#"http_request_method="{method}",http_route="{route}",http_response_status_code="{status}""#
    );
    let count = value(page, &format!("http_server_request_duration_seconds_count{{{labels}}}"));
    let all = format!(r#"http_server_request_duration_seconds_bucket{{le="+Inf",{labels}}}"#);
    assert_eq!(value(page, &all), count);
    count
}

#[tokio::test]
async fn a_running_service_is_alive_and_ready() {
    let directory = WorkDir::new();
    let service = directory.serve(&["--ops-bind", "127.0.0.1:0"]).await;
    assert_eq!(service.ops("/livez").await, (200, "alive\n".to_owned()));
    let version = directory.run(&["--version"]).await.success();
    assert_eq!(service.wait_for_readiness(200).await, format!("ready: {version}"));
    assert_eq!(service.ops("/v1/pets").await.0, 404, "the operators' listener serves an operation");
}

/// Returns the addresses that a process listens on, in hexadecimal and native byte order as in `/proc/net/tcp`.
fn listeners(service: &Program) -> Vec<String> {
    let process = format!("/proc/{}", service.pid());
    let links = std::fs::read_dir(format!("{process}/fd")).unwrap();
    let open: Vec<_> = links.flatten().flat_map(|link| std::fs::read_link(link.path())).collect();
    let sockets = std::fs::read_to_string(format!("{process}/net/tcp")).unwrap();
    let listens = |line: &str| {
        let fields: Vec<_> = line.split_whitespace().collect();
        let inode = std::path::PathBuf::from(format!("socket:[{}]", fields[9]));
        let address = fields[1].split(':').next().unwrap().to_owned();
        (fields[3] == "0A" && open.contains(&inode)).then_some((inode, address))
    };
    // A socket is listed twice if others are opened or closed while the file is read.
    let listening: BTreeMap<_, _> = sockets.lines().skip(1).filter_map(listens).collect();
    listening.into_values().collect()
}

#[tokio::test]
async fn a_port_without_an_address_binds_to_loopback_and_the_listener_is_optional() {
    let directory = WorkDir::new();
    assert_eq!(listeners(&directory.serve(&["--ops-bind", "127.0.0.1:0"]).await), ["0100007F", "0100007F"]);
    assert_eq!(listeners(&directory.serve(&[]).await), ["0100007F"]);
}

#[tokio::test]
async fn the_public_listener_does_not_serve_it() {
    let directory = WorkDir::new();
    let key = directory.key().await;
    let service = directory.serve(&["--ops-bind", "127.0.0.1:0"]).await;
    for target in ["/metrics", "/livez", "/readyz", "/v1/metrics"] {
        service.get(&key, target).await.expect_error(404, "not_found");
    }
}

#[tokio::test]
async fn requests_are_counted_by_method_route_and_status() {
    let directory = WorkDir::new();
    let key = directory.key().await;
    let service = directory.serve(&["--ops-bind", "127.0.0.1:0"]).await;
    let before = page(&service).await;
    assert_eq!(responses(&before, "GET", "/v1/pets", 200), 0.0);
    let added = service.add(&key, 3).await;
    service.get(&key, "/v1/pets").await.expect(200);
    service.get(&key, "/v1/pets?limit=1").await.expect(200);
    service.get(&key, "/v1/pets?limit=0").await.expect_error(400, "invalid_parameter");
    service.get(&key, &format!("/v1/pets/{}", added[0])).await.expect(200);
    service.get(&key, "/v1/pets/999").await.expect_error(404, "not_found");
    service.get(&key, "/v1/nothing").await.expect_error(404, "not_found");
    service.request(Method::HEAD, &key, "/v1/pets").response().await;
    let wrong = Contract::get().unused_methods("/v1/pets").next().unwrap();
    let request = service.request(wrong.parse().unwrap(), &key, "/v1/pets");
    request.response().await.expect_error(405, "method_not_allowed");

    let page = page(&service).await;
    for (method, route, status, count) in [
        ("POST", "/v1/pets", 201, 3.0),
        ("GET", "/v1/pets", 200, 2.0),
        ("GET", "/v1/pets", 400, 1.0),
        ("GET", "/v1/pets/{petId}", 200, 1.0),
        ("GET", "/v1/pets/{petId}", 404, 1.0),
        ("HEAD", "/v1/pets", 200, 1.0),
        ("GET", "", 404, 1.0),
        (wrong, "", 405, 1.0),
    ] {
        assert_eq!(responses(&page, method, route, status), count, "{method} {route} {status}\n{page}");
    }
    // Each operation has a series from the start.
    let series = page.lines().filter(|line| line.starts_with("http_server_request_duration_seconds_count"));
    assert_eq!(series.filter(|line| !line.ends_with(" 0")).count(), 8, "{page}");
}

#[tokio::test]
async fn each_failed_authentication_is_counted_by_reason_and_none_is_limited() {
    let directory = WorkDir::new();
    let key = directory.key().await;
    let unknown = NewKey::generate("unknown", None, Timestamp::now(), None).secret;
    let service = directory.serve(&["--ops-bind", "127.0.0.1:0"]).await;
    for _ in 0..100 {
        service.get("nonsense", "/v1/pets").await.expect_error(401, "unauthorized");
        service.get(&unknown, "/v1/pets").await.expect_error(401, "unauthorized");
    }
    service.get(&key, "/v1/pets").await.expect(200);
    for _ in 0..2 {
        let response = reqwest::get(format!("http://{}/v1/pets", service.address)).await.unwrap();
        assert_eq!(response.status(), 401);
    }
    let page = page(&service).await;
    assert_eq!(value(&page, r#"authentication_failures_total{reason="invalid"}"#), 200.0, "{page}");
    assert_eq!(value(&page, r#"authentication_failures_total{reason="missing"}"#), 2.0, "{page}");
}

#[tokio::test]
async fn calls_of_deprecated_operations_are_counted_by_key() {
    let directory = WorkDir::new();
    let keys = [directory.key().await, directory.key().await];
    let list = directory.run(&["key", "list"]).await.success();
    let ids: Vec<_> = list.lines().skip(1).map(|line| line.split_whitespace().next().unwrap()).collect();
    let service = directory.serve(&["--ops-bind", "127.0.0.1:0"]).await;
    for key in [&keys[0], &keys[0], &keys[1]] {
        service.get(key, "/v1/pets/1").await.expect_error(404, "not_found");
    }
    service.get(&keys[1], "/v1/pets").await.expect(200);
    service.get("nonsense", "/v1/pets/1").await.expect_error(401, "unauthorized");
    let page = page(&service).await;
    let calls = |id: &str| {
        value(&page, &format!(r#"deprecated_operation_calls_total{{operation="getPet",key_id="{id}"}}"#))
    };
    assert_eq!((calls(ids[0]), calls(ids[1])), (2.0, 1.0), "{page}");
    assert_eq!(page.matches("deprecated_operation_calls_total{").count(), 2, "{page}");
}

#[tokio::test]
async fn the_page_has_every_metric_and_no_api_key() {
    let directory = WorkDir::new();
    let key = directory.key().await;
    let service = directory.serve(&["--ops-bind", "127.0.0.1:0"]).await;
    service.add(&key, 2).await;
    service.get(&key, "/v1/pets/1").await.expect(200);
    service.get(&key, &format!("/v1/{key}")).await.expect_error(404, "not_found");
    service.get(&format!("{key}x"), "/v1/pets").await.expect_error(401, "unauthorized");
    let lock = rusqlite::Connection::open(directory.path("animal-store.db")).unwrap();
    // The service may still store the use of the key.
    lock.busy_timeout(TIMEOUT).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    service.post(&key, &json!({ "name": "Rex", "categoryId": 3 })).await.expect_error(503, "unavailable");
    lock.execute_batch("ROLLBACK").unwrap();
    let page = page(&service).await;
    for family in [
        "http_server_request_duration_seconds histogram",
        "authentication_failures counter",
        "deprecated_operation_calls counter",
        "store_write_queue_depth gauge",
        "store_write_batch_size histogram",
        "database_errors counter",
        "log_write_errors counter",
        "log_records_dropped counter",
        "process_open_fds gauge",
        "build info",
    ] {
        assert!(page.contains(&format!("# TYPE {family}\n")), "{family} is not in:\n{page}");
    }
    // Two animals, and the use of the key, which is stored again when the hour changes.
    assert!([3.0, 4.0].contains(&value(&page, "store_write_batch_size_sum")), "{page}");
    assert_eq!(value(&page, "store_write_queue_depth"), 0.0, "{page}");
    let locked = r#"{db_system_name="sqlite",db_operation_name="write",error_type="locked"}"#;
    assert_eq!(value(&page, &format!("database_errors_total{locked}")), 1.0, "{page}");
    assert!(!page.contains("ask_") && !page.contains(&key[4..]), "{page}");
}

/// Returns the content type of the metrics and the metrics, for this `Accept`.
async fn accepted(service: &Program, accept: &str) -> (String, String) {
    let url = format!("http://{}/metrics", service.ops_address().await);
    let response = reqwest::Client::new().get(url).header("accept", accept).send().await.unwrap();
    (response.headers()["content-type"].to_str().unwrap().to_owned(), response.text().await.unwrap())
}

#[tokio::test]
async fn prometheus_reads_both_text_formats_of_the_metrics() {
    if !kit::is_installed("promtool", "prometheus") {
        return;
    }
    let directory = WorkDir::new();
    let key = directory.key().await;
    let service = directory.serve(&["--ops-bind", "127.0.0.1:0"]).await;
    service.add(&key, 1).await;
    let newest = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.2,*/*;q=0.1";
    for accept in [newest, "*/*"] {
        let (content_type, page) = accepted(&service, accept).await;
        assert!(content_type.starts_with("application/openmetrics-text; version=1.0.0"), "{content_type}");
        assert!(page.ends_with("# EOF\n"), "{page}");
    }
    let (content_type, page) = accepted(&service, "text/plain; version=0.0.4").await;
    assert_eq!(content_type, "text/plain; version=0.0.4; charset=utf-8");
    let mut check = Command::new("promtool");
    check.args(["check", "metrics"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut check = check.spawn().unwrap();
    check.stdin.take().unwrap().write_all(page.as_bytes()).unwrap();
    let output = check.wait_with_output().unwrap();
    let found =
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{found}\n{page}");
    assert!(page.contains("# TYPE process_cpu_seconds_total counter\n"), "{page}");
    assert!(page.contains("# TYPE build_info gauge\n"), "{page}");
}

#[tokio::test]
async fn during_shutdown_the_service_is_alive_and_not_ready() {
    let directory = WorkDir::new();
    let key = directory.key().await;
    directory.write("store.toml", "shutdown_grace = '1h'\n");
    let mut service = directory.serve(&["--ops-bind", "127.0.0.1:0", "--config", "store.toml"]).await;
    // An incomplete request keeps the service from exiting.
    let mut incomplete = TcpStream::connect(service.address).await.unwrap();
    let head = format!(
        "POST /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {key}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: 29\r\n\r\n"
    );
    incomplete.write_all(head.as_bytes()).await.unwrap();
    service.get(&key, "/v1/pets").await.expect(200);
    service.wait_for_readiness(200).await;
    service.signal(Signal::TERM);
    assert_eq!(service.wait_for_readiness(503).await, "stopping\n");
    assert_eq!(service.ops("/livez").await.0, 200);
    incomplete.write_all(br#"{"name":"Rex","categoryId":3}"#).await.unwrap();
    assert_eq!(service.exit().await.0, Some(0));
}

#[tokio::test]
async fn the_page_has_the_version_and_the_metrics_of_the_process() {
    let directory = WorkDir::new();
    let service = directory.serve(&["--ops-bind", "127.0.0.1:0"]).await;
    let before = page(&service).await;
    let version = directory.run(&["--version"]).await.success();
    let versions = version.trim().trim_start_matches("animal-store ");
    let (version, api_version) = versions.split_once(", API ").unwrap();
    let series = format!("build_info{{version=\"{version}\",api_version=\"{api_version}\"}}");
    assert_eq!(value(&before, &series), 1.0, "{before}");
    let (resident, virtual_memory) =
        (value(&before, "process_resident_memory_bytes"), value(&before, "process_virtual_memory_bytes"));
    assert!(1e6 < resident && resident < virtual_memory, "{before}");
    assert!(value(&before, "process_cpu_seconds_total") > 0.0, "{before}");
    let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs_f64();
    assert!((now - 3600.0..=now).contains(&value(&before, "process_start_time_seconds")), "{before}");
    // The service has no certificate.
    assert!(!before.contains("\ntls_certificate_not_after_seconds"), "{before}");

    let open = value(&before, "process_open_fds");
    assert!(open < value(&before, "process_max_fds"), "{before}");
    let mut connections = Vec::new();
    for _ in 0..20 {
        let mut connection = TcpStream::connect(service.direct).await.unwrap();
        connection.write_all(b"GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
        // The first byte of the response: the connection was accepted.
        tokio::io::AsyncReadExt::read_u8(&mut connection).await.unwrap();
        connections.push(connection);
    }
    let more = value(&page(&service).await, "process_open_fds");
    assert!(more >= open + 15.0, "{more} after {open}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn failed_writes_of_the_log_are_counted() {
    let directory = WorkDir::new();
    let free = format!("127.0.0.1:{}", free_port());
    // Each write fails with "no space left on device".
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let service = directory
        .serve_with(&["--ops-bind", &free], |command| {
            command.stderr(full);
        })
        .await;
    let url = format!("http://{free}/metrics");
    let start = std::time::Instant::now();
    loop {
        // The listener closes a connection on which a busy machine sends the request too late.
        let page = async { reqwest::get(&url).await?.text().await }.await.unwrap_or_default();
        if value(&page, "log_write_errors_total") >= 1.0 {
            break;
        }
        assert!(start.elapsed() < TIMEOUT, "{page}");
    }
    service.stop().await;
}

#[tokio::test]
async fn a_service_that_stops_is_not_ready_and_accepts_connections_for_a_while() {
    let directory = WorkDir::new();
    let key = directory.key().await;
    let delay = |command: &mut tokio::process::Command| {
        command.env("ANIMAL_STORE_SHUTDOWN_DELAY", "1h");
    };
    let service = directory.serve_with(&["--ops-bind", "127.0.0.1:0"], delay).await;
    service.wait_for_readiness(200).await;
    service.signal(Signal::TERM);
    assert_eq!(service.wait_for_readiness(503).await, "stopping\n");
    let response = service.get(&key, "/v1/pets").await;
    response.expect(200);
    assert_eq!(response.header("connection"), Some("close"));
}

/// Sends the lines of a request without a body on a connection of its own. Returns the status of the response. If a busy
/// machine sends the request so late that the service closes the connection, it is sent again.
async fn exchange(address: &str, request: &str) -> u16 {
    let request = format!("{request}Connection: close\r\n\r\n");
    let start = std::time::Instant::now();
    loop {
        let attempt = std::time::Instant::now();
        let mut stream = TcpStream::connect(address).await.unwrap();
        let mut response = String::new();
        if stream.write_all(request.as_bytes()).await.is_ok() {
            let _ = stream.read_to_string(&mut response).await;
        }
        if let Some(status) = response.split_whitespace().nth(1) {
            return status.parse().unwrap();
        }
        // The listener gives a client two seconds.
        assert!(attempt.elapsed().as_secs() >= 1 && start.elapsed() < TIMEOUT, "closed without a response");
    }
}

#[tokio::test]
async fn connections_without_a_request_make_room_for_operators() {
    let directory = WorkDir::new();
    let service = directory.serve(&["--ops-bind", "127.0.0.1:0"]).await;
    let address = service.ops_address().await;
    let mut silent = Vec::new();
    for number in 0..40 {
        let mut stream = TcpStream::connect(&address).await.unwrap();
        if number % 2 == 0 {
            stream.write_all(b"GET /livez HTTP/1.1\r\nHost: loc").await.unwrap();
        }
        silent.push(stream);
    }
    for _ in 0..10 {
        assert_eq!(exchange(&address, "GET /livez HTTP/1.1\r\nHost: localhost\r\n").await, 200);
    }
    // The others are closed, too: a client has two seconds for its request.
    for mut stream in silent {
        // The rest of a head that was not read resets the connection.
        let _ = stream.read_to_end(&mut Vec::new()).await;
    }
}

#[tokio::test]
async fn operators_are_answered_only_under_known_host_names() {
    let directory = WorkDir::new();
    let names = |command: &mut tokio::process::Command| {
        command.env("ANIMAL_STORE_OPS_HOSTS", "[store.internal]");
    };
    let service = directory.serve_with(&["--ops-bind", "127.0.0.1:0"], names).await;
    let address = service.ops_address().await;
    for (host, status) in [
        ("127.0.0.1:9090", 200),
        ("[::1]", 200),
        ("localhost:9090", 200),
        ("store.internal", 200),
        ("Store.Internal:80", 200),
        ("evil.example", 421),
        ("localhost.evil.example", 421),
        ("evil@localhost", 421),
        ("", 421),
    ] {
        let request = format!("GET /livez HTTP/1.1\r\nHost: {host}\r\n");
        assert_eq!(exchange(&address, &request).await, status, "{request}");
    }
    for (request, status) in [
        ("GET http://localhost/livez HTTP/1.1\r\nHost: localhost\r\n", 200),
        ("GET http://evil.example/livez HTTP/1.1\r\nHost: localhost\r\n", 421),
        ("GET /livez HTTP/1.0\r\nHost: localhost\r\n", 200),
        ("GET /livez HTTP/1.0\r\nHost: evil@localhost\r\n", 421),
        // Health checks of Kubernetes, AWS and Google, then those over HTTP/1.0; the last one is that of HAProxy.
        (
            "GET /readyz HTTP/1.1\r\nHost: 10.1.2.3:9090\r\nUser-Agent: kube-probe/1.31\r\nAccept: */*\r\n",
            200,
        ),
        ("GET /readyz HTTP/1.1\r\nHost: 10.1.2.3:9090\r\nUser-Agent: ELB-HealthChecker/2.0\r\n", 200),
        ("GET /readyz HTTP/1.1\r\nHost: 10.1.2.3\r\nUser-Agent: GoogleHC/1.0\r\n", 200),
        ("GET /livez HTTP/1.0\r\n", 200),
        ("GET /readyz HTTP/1.0\r\n", 200),
        ("OPTIONS / HTTP/1.0\r\n", 200),
        ("OPTIONS /livez HTTP/1.0\r\n", 405),
    ] {
        assert_eq!(exchange(&address, request).await, status, "{request}");
    }
}
