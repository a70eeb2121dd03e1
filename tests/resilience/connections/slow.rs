//! Clients that read slowly: those that take bytes get the whole response, however long it takes.

use std::time::{Duration, Instant};

use animal_store::DOCUMENT;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::sleep;

use crate::connections::clients::hostile::closed;
use crate::connections::link::on_slow_link;
use crate::connections::service::{Service, in_time};

/// Returns the path of the largest published file: 1.5 MB, which the service keeps once for all clients.
fn file() -> String {
    let largest = DOCUMENT.unwrap().files.iter().max_by_key(|file| file.content.len());
    format!("/{}", largest.unwrap().path)
}

/// 1.5 MB at 400 kbit/s take 30 seconds, four times as long as a response may go without bytes. A handshake on a busy machine
/// may take long.
const LIMITS: &[(&str, &str)] = &[("send_timeout", "7s 500ms"), ("header_timeout", "5m")];

/// Gets the file over the slow link.
async fn gets_the_file(http2: bool) {
    let service = Service::start_tls(LIMITS).await;
    let mut client = service.connect(http2).await;
    let (status, file) = in_time("the file", client.get(&file())).await.unwrap();
    assert!(status == 200 && file.len() > 1_400_000, "{status}, {} bytes", file.len());
    assert_eq!(service.timed_out("send").await, 0);
    drop(client);
    service.stop().await;
}

#[test]
fn over_http1_at_400_kbit_a_second() {
    on_slow_link(|| gets_the_file(false));
}

#[test]
fn over_http2_at_400_kbit_a_second() {
    on_slow_link(|| gets_the_file(true));
}

/// More than the kernel buffers for a client.
const FILES: usize = 4;

/// Connects with a small buffer, and asks for the file several times over HTTP/1.1.
async fn ask_for_files(service: &Service) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut client = socket.connect(service.direct()).await.unwrap();
    let file = file();
    let request = format!("GET {file} HTTP/1.1\r\nHost: animals\r\n\r\n").repeat(FILES - 1);
    let last = format!("GET {file} HTTP/1.1\r\nHost: animals\r\nConnection: close\r\n\r\n");
    client.write_all((request + &last).as_bytes()).await.unwrap();
    client
}

/// Takes 25 kB a second for six seconds, then 500 kB. If the kernel of the service made room only when a third of its buffer
/// is free, there would be no progress for 2.6 s.
#[tokio::test]
async fn a_client_that_pauses_gets_everything() {
    for _ in 0..20 {
        let service = Service::start(&[("send_timeout", "2s")]).await;
        let mut client = ask_for_files(&service).await;
        let (mut received, mut part) = (0, Vec::new());
        let (mut last, mut longest) = (Instant::now(), Duration::ZERO);
        loop {
            sleep(Duration::from_millis(100)).await;
            let size = if received < 150_000 { 2_500 } else { 50_000 };
            let mut client = (&mut client).take(size);
            part.clear();
            let count = in_time("bytes", client.read_to_end(&mut part)).await.unwrap_or_default();
            longest = longest.max(last.elapsed());
            last = Instant::now();
            if count == 0 {
                break;
            }
            received += part.len();
        }
        let timed_out = service.timed_out("send").await;
        service.stop().await;
        if timed_out == 0 && received > FILES * 1_400_000 {
            return;
        }
        // A busy machine may stop this client for as long as the time limit; then it is tried again.
        assert!(longest > Duration::from_millis(1_400), "the connection ended after {received} bytes");
    }
    panic!("this client was stopped in every attempt");
}

#[tokio::test]
async fn a_client_that_takes_100_bytes_a_second_is_closed() {
    let service = Service::start(&[("send_timeout", "5s")]).await;
    let mut client = ask_for_files(&service).await;
    let slow = async {
        let mut buffer = [0; 100];
        while service.timed_out("send").await == 0 {
            let _ = client.read(&mut buffer).await;
            sleep(Duration::from_secs(1)).await;
        }
    };
    in_time("the end of the connection", slow).await;
    in_time("the end of the connection", closed(Box::new(client))).await;
    service.stop().await;
}
