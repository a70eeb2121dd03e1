//! SIGTERM and SIGINT: requests in progress finish, and the process exits within time limits.

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use kit::program::{Program, TIMEOUT, WorkDir};

const BODY: &str = r#"{"name":"Rex","categoryId":3}"#;

fn head(key: &str) -> String {
    format!(
        "POST /v1/pets HTTP/1.1\r\nHost: animals\r\nAuthorization: Bearer {key}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        BODY.len()
    )
}

async fn connect(service: &Program, bytes: &str) -> TcpStream {
    let mut stream = TcpStream::connect(service.address).await.unwrap();
    stream.write_all(bytes.as_bytes()).await.unwrap();
    stream
}

/// Starts the service with this grace period. The upper limit of a shutdown is tested in `../api/shutdown.rs`, with a
/// clock that the test advances.
async fn serve(directory: &WorkDir, grace: &str) -> Program {
    let config = directory.write("store.toml", format!("shutdown_grace = '{grace}'\n"));
    directory.serve(&["--config", config.to_str().unwrap()]).await
}

/// Waits until the service has read all bytes that were sent before.
async fn all_read(service: &Program, key: &str) {
    service.get(key, "/v1/pets").await.expect(200);
}

async fn stops(signal: Signal) {
    let directory = WorkDir::new();
    let key = directory.key().await;
    // The grace period is not used, because no request is in progress.
    let mut service = serve(&directory, "1h").await;
    all_read(&service, &key).await;
    service.signal(signal);
    assert_eq!(service.exit().await.0, Some(0));
    assert!(TcpStream::connect(service.direct).await.is_err());
}

#[tokio::test]
async fn sigterm_stops_the_service() {
    stops(Signal::TERM).await;
}

#[tokio::test]
async fn sigint_stops_the_service() {
    stops(Signal::INT).await;
}

#[tokio::test]
async fn sigusr1_and_sigusr2_are_ignored() {
    let directory = WorkDir::new();
    let key = directory.key().await;
    let service = serve(&directory, "1h").await;
    for signal in [Signal::USR1, Signal::USR2] {
        service.signal(signal);
        all_read(&service, &key).await;
    }
    service.stop().await;
}

#[tokio::test]
async fn sigterm_stops_the_service_while_the_database_does_not_respond() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("postgres://animals@{}/animals?connect_timeout=600", silent.local_addr().unwrap());
    let directory = WorkDir::new();
    let mut service = directory.start(&["serve", "--bind", "127.0.0.1:0", "--database", &url]);
    let _connection = silent.accept().await.unwrap();
    let id = service.id().expect("it was not reaped before").try_into().unwrap();
    kill_process(Pid::from_raw(id).unwrap(), Signal::TERM).unwrap();
    let ended = timeout(TIMEOUT, service.wait()).await.expect("it ends within the time limit");
    assert!(ended.unwrap().success());
}

#[tokio::test]
async fn a_request_in_progress_is_finished() {
    let directory = WorkDir::new();
    let key = directory.key().await;
    let mut service = serve(&directory, "1h").await;
    let mut stream = connect(&service, &(head(&key) + &BODY[..10])).await;
    all_read(&service, &key).await;
    service.signal(Signal::TERM);
    service.wait_for_log("stopping").await;
    stream.write_all(&BODY.as_bytes()[10..]).await.unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).await.unwrap();
    assert!(response.starts_with("HTTP/1.1 201 "), "{response}");
    assert_eq!(service.exit().await.0, Some(0));

    let service = directory.serve(&[]).await;
    assert_eq!(service.all(&key).await.len(), 1);
}

#[tokio::test]
async fn incomplete_requests_do_not_delay_the_exit() {
    let directory = WorkDir::new();
    let key = directory.key().await;
    let mut service = serve(&directory, "1s").await;
    let _idle = connect(&service, "").await;
    let _incomplete_head = connect(&service, "GET /v1/pets HTTP/1.1\r\nHost:").await;
    let _incomplete_body = connect(&service, &(head(&key) + &BODY[..10])).await;
    all_read(&service, &key).await;
    service.signal(Signal::TERM);
    assert_eq!(service.exit().await.0, Some(0));
}

#[tokio::test]
async fn a_client_that_does_not_read_does_not_delay_the_exit() {
    let directory = WorkDir::new();
    let key = directory.key().await;
    let mut service = serve(&directory, "1s").await;
    for _ in 0..100 {
        service
            .post(&key, &serde_json::json!({ "name": "r".repeat(255), "categoryId": 3 }))
            .await
            .expect(201);
    }
    // Without the proxy, which would read the responses.
    let mut stream = TcpStream::connect(service.direct).await.unwrap();
    let request =
        format!("GET /v1/pets?limit=100 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {key}\r\n\r\n");
    let flood = tokio::spawn(async move { while stream.write_all(request.as_bytes()).await.is_ok() {} });
    all_read(&service, &key).await;
    service.signal(Signal::TERM);
    assert_eq!(service.exit().await.0, Some(0));
    flood.await.unwrap();
}

#[tokio::test]
async fn a_second_signal_has_no_effect() {
    let directory = WorkDir::new();
    let key = directory.key().await;
    let mut service = serve(&directory, "1s").await;
    let _incomplete_body = connect(&service, &(head(&key) + &BODY[..10])).await;
    all_read(&service, &key).await;
    service.signal(Signal::TERM);
    service.wait_for_log("stopping").await;
    service.signal(Signal::INT);
    service.signal(Signal::TERM);
    assert_eq!(service.exit().await.0, Some(0));
}
