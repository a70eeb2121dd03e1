//! A client that sends requests and reads the responses, on one connection.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use http::header::{AUTHORIZATION, HOST};
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use kit::recorder::assert_documented;
use kit::recorder::wire::{RequestLine, Response};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// The certificates that a client trusts.
#[derive(Clone, Debug)]
pub struct Trust(RootCertStore);

impl Trust {
    /// Trusts one certificate.
    pub fn only(certificate: CertificateDer<'static>) -> Result<Self, rustls::Error> {
        let mut roots = RootCertStore::empty();
        roots.add(certificate)?;
        Ok(Self(roots))
    }

    /// Trusts no certificate, for handshakes that do not get that far.
    pub fn nobody() -> Result<Self, rustls::Error> {
        Ok(Self(RootCertStore::empty()))
    }

    /// Returns the configuration of a client that offers HTTP/2 or HTTP/1.1.
    pub fn config(&self, http2: bool) -> Arc<ClientConfig> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("the provider supports TLS 1.2 and 1.3")
            .with_root_certificates(self.0.clone())
            .with_no_client_auth();
        config.alpn_protocols = vec![if http2 { b"h2".to_vec() } else { b"http/1.1".to_vec() }];
        Arc::new(config)
    }

    /// Completes the handshake on a connection.
    ///
    /// # Errors
    /// Those of the connection and the handshake.
    pub async fn connect(&self, stream: TcpStream, http2: bool) -> io::Result<TlsStream<TcpStream>> {
        stream.set_nodelay(true)?;
        let name = ServerName::try_from("localhost").map_err(io::Error::other)?;
        TlsConnector::from(self.config(http2)).connect(name, stream).await
    }
}

/// How the client connects.
#[derive(Clone, Debug)]
pub struct Protocol {
    /// HTTP/2, which needs TLS; else HTTP/1.1.
    pub http2: bool,
    /// Without it there is no TLS.
    pub tls: Option<Trust>,
}

/// A connection.
pub struct Client {
    sender: Sender,
    key: String,
}

enum Sender {
    Http1(http1::SendRequest<Full<Bytes>>),
    Http2(http2::SendRequest<Full<Bytes>>),
}

/// What was wrong with a connection or a response.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

impl Client {
    /// Connects.
    ///
    /// # Errors
    /// Those of the connection and the handshakes.
    pub async fn connect(protocol: &Protocol, address: SocketAddr, key: &str) -> Result<Self, Error> {
        let stream = TcpStream::connect(address).await?;
        let sender = match &protocol.tls {
            None => {
                stream.set_nodelay(true)?;
                handshake(false, stream).await?
            }
            Some(trust) => handshake(protocol.http2, trust.connect(stream, protocol.http2).await?).await?,
        };
        Ok(Self { sender, key: key.to_owned() })
    }

    /// Sends a GET request. Returns the status and the body.
    ///
    /// # Errors
    /// When the connection ends before the response is complete.
    pub async fn get(&mut self, target: &str) -> Result<(StatusCode, Bytes), Error> {
        let request = Request::get(self.uri(target)).header(AUTHORIZATION, format!("Bearer {}", self.key));
        self.send(request.header(HOST, "animals").body(Full::default())?).await
    }

    /// Sends a POST request with a JSON body. Returns the status and the body.
    ///
    /// # Errors
    /// As [`Self::get`].
    pub async fn post(&mut self, target: &str, body: impl Into<Bytes>) -> Result<(StatusCode, Bytes), Error> {
        let request = Request::post(self.uri(target)).header(AUTHORIZATION, format!("Bearer {}", self.key));
        let request = request.header(HOST, "animals").header("content-type", "application/json");
        self.send(request.body(Full::new(body.into()))?).await
    }

    /// HTTP/2 needs scheme and authority.
    fn uri(&self, target: &str) -> String {
        match self.sender {
            Sender::Http1(_) => target.to_owned(),
            Sender::Http2(_) => format!("http://animals{target}"),
        }
    }

    async fn send(&mut self, mut request: Request<Full<Bytes>>) -> Result<(StatusCode, Bytes), Error> {
        let target = request.uri().path_and_query().map_or("/", |target| target.as_str()).to_owned();
        let line = RequestLine { method: request.method().to_string(), target, is_malformed: false };
        let response = match &mut self.sender {
            Sender::Http1(sender) => {
                sender.ready().await?;
                sender.send_request(request).await?
            }
            Sender::Http2(sender) => {
                request.headers_mut().remove(HOST);
                sender.ready().await?;
                sender.send_request(request).await?
            }
        };
        let (parts, body) = response.into_parts();
        let body = body.collect().await?.to_bytes();
        let response =
            Response { status: parts.status.as_u16(), headers: parts.headers, body: body.clone().into() };
        assert_documented(&line, &response);
        Ok((parts.status, body))
    }
}

async fn handshake<S>(http2: bool, stream: S) -> Result<Sender, Error>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let io = TokioIo::new(stream);
    // How the connection ended is known from the next request.
    Ok(if http2 {
        let (sender, connection) = http2::handshake(TokioExecutor::new(), io).await?;
        tokio::spawn(async { drop(connection.await) });
        Sender::Http2(sender)
    } else {
        let (sender, connection) = http1::handshake(io).await?;
        tokio::spawn(async { drop(connection.await) });
        Sender::Http1(sender)
    })
}
