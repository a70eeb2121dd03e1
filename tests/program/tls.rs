//! TLS on the public listener, and replacing the certificate without a restart.

use std::sync::Arc;
use std::time::Duration;

use rcgen::{CertificateParams, CertifiedKey, KeyPair, date_time_ymd};
use rustix::process::Signal;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use kit::program::{Program, WorkDir};
use kit::recorder::wire::Response;
use kit::recorder::{Exchange, Recorder};

/// The time limit of each read.
const TIMEOUT: Duration = Duration::from_secs(60);
const BODY: &str = r#"{"name":"Rex","categoryId":3}"#;

fn certificate() -> CertifiedKey<KeyPair> {
    rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap()
}

fn install(directory: &WorkDir, made: &CertifiedKey<KeyPair>) {
    directory.write("certificate.pem", made.cert.pem());
    directory.write("key.pem", made.signing_key.serialize_pem());
}

/// Starts a service with this certificate. Returns an API key too.
async fn serve(directory: &WorkDir, made: &CertifiedKey<KeyPair>) -> (Program, String) {
    install(directory, made);
    directory.write("store.toml", "[tls]\ncertificate = 'certificate.pem'\nprivate_key = 'key.pem'\n");
    let key = directory.key().await;
    (directory.serve(&["--config", "store.toml"]).await, key)
}

/// A persistent connection.
struct Connection {
    stream: TlsStream<TcpStream>,
    recorder: Arc<Recorder>,
    exchange: Exchange,
    key: String,
}

impl Connection {
    /// Connects with `trusted` as the only trusted certificate. Returns the error of the handshake.
    async fn open(
        service: &Program,
        key: &str,
        trusted: &CertifiedKey<KeyPair>,
        protocols: &[&[u8]],
    ) -> std::io::Result<Self> {
        let mut roots = RootCertStore::empty();
        roots.add(trusted.cert.der().clone()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let mut config = builder.unwrap().with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
        let tcp = TcpStream::connect(service.direct).await?;
        let name = ServerName::try_from("localhost").unwrap();
        let stream = TlsConnector::from(Arc::new(config)).connect(name, tcp).await?;
        let recorder = Arc::new(Recorder::default());
        let exchange = Exchange::new(Arc::clone(&recorder));
        Ok(Self { stream, recorder, exchange, key: key.to_owned() })
    }

    /// The certificate of the server.
    fn certificate(&self) -> CertificateDer<'static> {
        self.stream.get_ref().1.peer_certificates().unwrap()[0].clone().into_owned()
    }

    async fn send(&mut self, text: &str) {
        self.exchange.sent(text.as_bytes());
        self.stream.write_all(text.as_bytes()).await.unwrap();
        self.stream.flush().await.unwrap();
    }

    async fn receive(&mut self) -> Response {
        let mut bytes = [0; 4096];
        loop {
            let count = timeout(TIMEOUT, self.stream.read(&mut bytes))
                .await
                .expect("a response within the time limit");
            let count = count.expect("a response");
            assert!(count > 0, "the server closed the connection");
            let response = self.exchange.received(&bytes[..count]).pop();
            self.recorder.assert_no_violations();
            if let Some(response) = response {
                return response;
            }
        }
    }

    /// Sends the head of a request that adds an animal, and the first byte of its body.
    async fn begin(&mut self) {
        let (key, length) = (&self.key, BODY.len());
        let head = format!(
            "POST /v1/pets HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{{"
        );
        self.send(&head).await;
    }

    /// Sends the rest of the request of [`Self::begin`].
    async fn end(&mut self) -> Value {
        self.send(&BODY[1..]).await;
        self.receive().await.expect(201)
    }

    async fn get(&mut self) -> Value {
        let key = &self.key;
        let head = format!("GET /v1/pets HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n\r\n");
        self.send(&head).await;
        self.receive().await.expect(200)
    }
}

#[tokio::test]
async fn sighup_reloads_the_certificate_and_keeps_connections() {
    let (old, new) = (certificate(), certificate());
    let directory = WorkDir::new();
    let (service, key) = serve(&directory, &old).await;
    let mut idle = Connection::open(&service, &key, &old, &[]).await.unwrap();
    assert_eq!(idle.get().await, serde_json::json!([]));
    let mut active = Connection::open(&service, &key, &old, &[]).await.unwrap();
    active.begin().await;
    assert!(
        Connection::open(&service, &key, &new, &[]).await.is_err(),
        "the new certificate is in use before SIGHUP"
    );

    install(&directory, &new);
    service.signal(Signal::HUP);
    service.wait_for_log("certificate reloaded").await;
    let mut after = Connection::open(&service, &key, &new, &[]).await.unwrap();
    assert_eq!(after.certificate(), *new.cert.der());
    assert!(
        Connection::open(&service, &key, &old, &[]).await.is_err(),
        "the old certificate is in use after SIGHUP"
    );

    // Connections from before the reload stay open, one of them in the middle of a request.
    let added = active.end().await;
    assert_eq!(active.get().await[0], added);
    assert_eq!(idle.get().await[0], added);
    assert_eq!(after.get().await[0], added);
    service.stop().await;
}

#[tokio::test]
async fn an_invalid_new_certificate_is_logged_and_the_old_one_stays_in_use() {
    let (old, other) = (certificate(), certificate());
    let directory = WorkDir::new();
    let (service, key) = serve(&directory, &old).await;
    let mut kept = Connection::open(&service, &key, &old, &[]).await.unwrap();
    kept.get().await;

    directory.write("certificate.pem", other.cert.pem());
    service.signal(Signal::HUP);
    service.wait_for_log("expected the private key of certificate.pem").await;
    let log = service.log();
    let line = log.lines().find(|line| line.contains("expected the private key")).unwrap();
    assert!(line.contains("WARN  the certificate stays as it was") && line.contains("key.pem"), "{line}");
    std::fs::remove_file(directory.path("key.pem")).unwrap();
    service.signal(Signal::HUP);
    service.wait_for_log("No such file").await;

    kept.get().await;
    let mut next = Connection::open(&service, &key, &old, &[]).await.unwrap();
    assert_eq!(next.certificate(), *old.cert.der());
    next.get().await;

    // After the files are fixed, the reload succeeds.
    install(&directory, &other);
    service.signal(Signal::HUP);
    service.wait_for_log("certificate reloaded").await;
    assert!(Connection::open(&service, &key, &other, &[]).await.is_ok());
    service.stop().await;
}

#[tokio::test]
async fn an_expired_certificate_is_reported() {
    let mut expired = CertificateParams::new(["localhost".to_owned()]).unwrap();
    expired.not_after = date_time_ymd(2020, 1, 2);
    let signing_key = KeyPair::generate().unwrap();
    let cert = expired.self_signed(&signing_key).unwrap();
    let directory = WorkDir::new();
    let (service, _) = serve(&directory, &CertifiedKey { cert, signing_key }).await;
    service.wait_for_log("the certificate has expired at=2020-01-02T00:00:00Z").await;
    service.stop().await;
}

#[tokio::test]
async fn the_protocol_is_negotiated_by_alpn() {
    let made = certificate();
    let directory = WorkDir::new();
    let (service, key) = serve(&directory, &made).await;
    for protocol in [&b"h2"[..], b"http/1.1", b"http/1.0"] {
        let connection = Connection::open(&service, &key, &made, &[protocol]).await.unwrap();
        assert_eq!(connection.stream.get_ref().1.alpn_protocol(), Some(protocol));
    }
    assert!(Connection::open(&service, &key, &made, &[b"smtp"]).await.is_err());
}

#[tokio::test]
async fn plain_http_gets_no_response() {
    let made = certificate();
    let directory = WorkDir::new();
    let (service, key) = serve(&directory, &made).await;
    let mut plain = TcpStream::connect(service.direct).await.unwrap();
    let head = format!("GET /v1/pets HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n\r\n");
    plain.write_all(head.as_bytes()).await.unwrap();
    let mut response = Vec::new();
    // A reset is not a response either.
    let _ = timeout(TIMEOUT, plain.read_to_end(&mut response)).await.expect("the end within the time limit");
    assert!(!response.starts_with(b"HTTP"), "{}", String::from_utf8_lossy(&response));
    Connection::open(&service, &key, &made, &[]).await.unwrap().get().await;
}

#[tokio::test]
async fn without_tls_sighup_is_ignored() {
    let directory = WorkDir::new();
    let key = directory.key().await;
    let service = directory.serve(&[]).await;
    service.get(&key, "/v1/pets").await.expect(200);
    service.signal(Signal::HUP);
    service.wait_for_log("SIGHUP has no effect without a certificate").await;
    service.get(&key, "/v1/pets").await.expect(200);
    service.stop().await;
}
