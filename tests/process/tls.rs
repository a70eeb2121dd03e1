//! TLS of the public listener, and a new certificate without a new process.

use std::sync::Arc;
use std::time::Duration;

use rcgen::{CertifiedKey, KeyPair};
use rustix::process::Signal;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::program::{Place, Program};
use crate::recorder::wire::{Response, Responses};

/// The longest that anything may take; no test waits so long unless it fails.
const PATIENCE: Duration = Duration::from_secs(60);
const BODY: &str = r#"{"name":"Rex","categoryId":3}"#;

fn certificate() -> CertifiedKey<KeyPair> {
    rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap()
}

fn install(place: &Place, made: &CertifiedKey<KeyPair>) {
    place.write("certificate.pem", made.cert.pem());
    place.write("key.pem", made.signing_key.serialize_pem());
}

/// A service with this certificate, and a key.
async fn serve(place: &Place, made: &CertifiedKey<KeyPair>) -> (Program, String) {
    install(place, made);
    place.write("store.toml", "[tls]\ncertificate = 'certificate.pem'\nprivate_key = 'key.pem'\n");
    let key = place.key().await;
    (place.serve(&["--config", "store.toml"]).await, key)
}

/// A connection that is kept.
struct Connection {
    stream: TlsStream<TcpStream>,
    responses: Responses,
    key: String,
}

impl Connection {
    /// Connects as a client that trusts `trusted` alone. The error is that of the handshake.
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
        Ok(Self { stream, responses: Responses::default(), key: key.to_owned() })
    }

    /// What the server said it is.
    fn certificate(&self) -> CertificateDer<'static> {
        self.stream.get_ref().1.peer_certificates().unwrap()[0].clone().into_owned()
    }

    async fn send(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).await.unwrap();
        self.stream.flush().await.unwrap();
    }

    async fn receive(&mut self) -> Response {
        let mut bytes = [0; 4096];
        loop {
            let count = timeout(PATIENCE, self.stream.read(&mut bytes)).await.expect("an answer in time");
            let count = count.expect("an answer");
            assert!(count > 0, "the connection was dropped");
            if let Some(response) = self.responses.feed(&bytes[..count], || false).unwrap().pop() {
                return response;
            }
        }
    }

    /// Sends the beginning of a request that adds an animal.
    async fn begin(&mut self) {
        let (key, length) = (&self.key, BODY.len());
        let head = format!(
            "POST /v1/pets HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{{"
        );
        self.send(&head).await;
    }

    /// Sends the rest of it.
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
async fn a_new_certificate_is_read_on_sighup_and_no_connection_is_dropped() {
    let (old, new) = (certificate(), certificate());
    let place = Place::new();
    let (mut service, key) = serve(&place, &old).await;
    let mut idle = Connection::open(&service, &key, &old, &[]).await.unwrap();
    assert_eq!(idle.get().await, serde_json::json!([]));
    let mut amid = Connection::open(&service, &key, &old, &[]).await.unwrap();
    amid.begin().await;
    assert!(Connection::open(&service, &key, &new, &[]).await.is_err(), "that certificate is not in use yet");

    install(&place, &new);
    service.signal(Signal::HUP);
    service.logs("certificate reloaded").await;
    let mut after = Connection::open(&service, &key, &new, &[]).await.unwrap();
    assert_eq!(after.certificate(), *new.cert.der());
    assert!(Connection::open(&service, &key, &old, &[]).await.is_err(), "the old one is still in use");

    // The connections from before go on, one of them in the middle of its request.
    let added = amid.end().await;
    assert_eq!(amid.get().await[0], added);
    assert_eq!(idle.get().await[0], added);
    assert_eq!(after.get().await[0], added);
    service.stop().await;
}

#[tokio::test]
async fn a_new_certificate_that_cannot_be_used_leaves_the_old_one_and_says_why() {
    let (old, other) = (certificate(), certificate());
    let place = Place::new();
    let (mut service, key) = serve(&place, &old).await;
    let mut kept = Connection::open(&service, &key, &old, &[]).await.unwrap();
    kept.get().await;

    place.write("certificate.pem", other.cert.pem());
    service.signal(Signal::HUP);
    service.logs("does not belong to certificate.pem").await;
    let log = service.log();
    let line = log.lines().find(|line| line.contains("does not belong")).unwrap();
    assert!(line.contains("WARN  the certificate stays as it was") && line.contains("key.pem"), "{line}");
    std::fs::remove_file(place.path("key.pem")).unwrap();
    service.signal(Signal::HUP);
    service.logs("key.pem: cannot be read").await;

    kept.get().await;
    let mut next = Connection::open(&service, &key, &old, &[]).await.unwrap();
    assert_eq!(next.certificate(), *old.cert.der());
    next.get().await;

    // Mended, it is taken.
    install(&place, &other);
    service.signal(Signal::HUP);
    service.logs("certificate reloaded").await;
    assert!(Connection::open(&service, &key, &other, &[]).await.is_ok());
    service.stop().await;
}

#[tokio::test]
async fn the_protocol_is_agreed_upon_with_tls() {
    let made = certificate();
    let place = Place::new();
    let (service, key) = serve(&place, &made).await;
    for protocol in [&b"h2"[..], b"http/1.1"] {
        let connection = Connection::open(&service, &key, &made, &[protocol]).await.unwrap();
        assert_eq!(connection.stream.get_ref().1.alpn_protocol(), Some(protocol));
    }
    assert!(Connection::open(&service, &key, &made, &[b"smtp"]).await.is_err());
}

#[tokio::test]
async fn a_plaintext_request_gets_no_response() {
    let made = certificate();
    let place = Place::new();
    let (service, key) = serve(&place, &made).await;
    let mut plain = TcpStream::connect(service.direct).await.unwrap();
    let head = format!("GET /v1/pets HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n\r\n");
    plain.write_all(head.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    // A reset is no answer either.
    let _ = timeout(PATIENCE, plain.read_to_end(&mut answer)).await.expect("an end in time");
    assert!(!answer.starts_with(b"HTTP"), "{}", String::from_utf8_lossy(&answer));
    Connection::open(&service, &key, &made, &[]).await.unwrap().get().await;
}

#[tokio::test]
async fn without_tls_sighup_is_ignored() {
    let place = Place::new();
    let key = place.key().await;
    let service = place.serve(&[]).await;
    service.get(&key, "/v1/pets").await.expect(200);
    service.signal(Signal::HUP);
    for _ in 0..20 {
        service.get(&key, "/v1/pets").await.expect(200);
    }
    service.stop().await;
}
