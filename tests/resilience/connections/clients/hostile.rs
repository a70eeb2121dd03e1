//! Clients that hold a connection and send or read nothing more.

use std::io;
use std::net::SocketAddr;

use kit::client;
use rustls::ClientConnection;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpSocket;

use super::frames::{
    Connection, DATA, END_HEADERS, END_STREAM, HEADERS, PREFACE, frame, get, get_headers, header_block,
    preface, stream,
};
use super::good::Trust;

/// What the client does before it does nothing more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing.
    Silent,
    /// Sends the first message of a TLS handshake.
    HalfHandshake,
    /// Completes a TLS handshake, and nothing else.
    Handshake { http2: bool },
    /// Sends half of the preface of HTTP/2.
    HalfPreface,
    /// Sends the whole preface of HTTP/2, with its SETTINGS.
    Preface,
    /// Sends half of a request's header.
    HalfHeader,
    /// Sends all but the end of a head of almost the maximum size.
    LongHeader,
    /// Sends a HEADERS frame without its end over HTTP/2.
    HalfHeaderHttp2,
    /// Reads a response over HTTP/1.1.
    IdleHttp1,
    /// Reads a response over HTTP/2, and does not answer PING.
    IdleHttp2,
    /// Asks for this target so often over HTTP/1.1, and reads nothing.
    UnreadHttp1(&'static str, usize),
    /// Asks for this many pages in HTTP/2 with a window of zero.
    UnreadHttp2(usize),
    /// Sends this many requests without a key in HTTP/2 with a window of zero, and gets no byte of the errors. Each has
    /// many headers.
    UnreadErrors(usize),
    /// Begins an addition over HTTP/1.1, and sends a part of its body.
    OpenBody,
    /// Begins this many additions in HTTP/2, and sends a part of each body.
    OpenBodies(usize),
    /// The same without a key.
    OpenBodiesWithoutKey(usize),
}

/// A connection that the client holds.
pub type Held = Box<dyn Stream>;

/// What carries bytes in both directions.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// A request for the largest page.
pub const PAGE: &str = "/v1/pets?limit=100";
/// The limit of a head over HTTP/1.1.
pub const MAX_HEAD: usize = 32 * 1024;

impl Kind {
    /// Whether the client speaks HTTP/2, which needs TLS.
    fn is_http2(self) -> bool {
        use Kind::*;
        match self {
            Handshake { http2 } => http2,
            HalfPreface | Preface | HalfHeaderHttp2 | IdleHttp2 => true,
            UnreadHttp2(_) | UnreadErrors(_) | OpenBodies(_) | OpenBodiesWithoutKey(_) => true,
            Silent | HalfHandshake | HalfHeader | LongHeader | IdleHttp1 | UnreadHttp1(..) | OpenBody => {
                false
            }
        }
    }

    /// Connects, with TLS if there is a `trust` and the client does not stop before.
    ///
    /// # Errors
    /// When the server closes the connection before the client has done its part.
    pub async fn connect(self, address: SocketAddr, trust: Option<&Trust>, key: &str) -> io::Result<Held> {
        let socket = TcpSocket::new_v4()?;
        if matches!(self, Self::UnreadHttp1(..)) {
            socket.set_recv_buffer_size(4096)?;
        }
        let tcp = socket.connect(address).await?;
        let trust = trust.filter(|_| !matches!(self, Self::Silent | Self::HalfHandshake));
        let mut stream: Held = match trust {
            Some(trust) if self == Self::IdleHttp2 => {
                let mut frames = Connection::from(trust.connect(tcp, true).await?);
                frames.send(&self.bytes(key)?).await?;
                let end = frames.find(|frame| frame.stream == 1 && frame.kind == DATA).await;
                end.ok_or(io::ErrorKind::UnexpectedEof)?;
                return Ok(Box::new(frames.stream));
            }
            Some(trust) => Box::new(trust.connect(tcp, self.is_http2()).await?),
            None => Box::new(tcp),
        };
        stream.write_all(&self.bytes(key)?).await?;
        stream.flush().await?;
        if self == Self::IdleHttp1 && stream.read(&mut [0; 1024]).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(stream)
    }

    /// Returns what the client sends.
    fn bytes(self, key: &str) -> io::Result<Vec<u8>> {
        // The requests of one HTTP/2 connection.
        let requests = |count: usize| (0..count).flat_map(|number| get(stream(number), PAGE, key));
        Ok(match self {
            Self::Silent | Self::Handshake { .. } => Vec::new(),
            Self::HalfHandshake => {
                let name = ServerName::try_from("localhost").map_err(io::Error::other)?;
                let config = Trust::nobody().map_err(io::Error::other)?;
                let mut tls = ClientConnection::new(config.config(true), name).map_err(io::Error::other)?;
                let mut hello = Vec::new();
                tls.write_tls(&mut hello)?;
                hello
            }
            Self::HalfPreface => PREFACE[..PREFACE.len() / 2].to_vec(),
            Self::Preface => preface(65_535),
            Self::HalfHeader => b"GET /v1/pets HTTP/1.1\r\nHost: ani".to_vec(),
            Self::LongHeader => {
                let mut head = b"GET /v1/pets HTTP/1.1\r\nHost: animals\r\nX-Long: ".to_vec();
                head.resize(MAX_HEAD - 1, b'a');
                head
            }
            Self::HalfHeaderHttp2 => [preface(65_535), frame(HEADERS, 0, 1, &[0x82])].concat(),
            // An error, whose response is small.
            Self::IdleHttp1 => client::get("/v1/pets/0", key).into_bytes(),
            Self::IdleHttp2 => [preface(65_535), get(1, "/v1/pets/0", key)].concat(),
            Self::UnreadHttp1(target, count) => client::get(target, key).repeat(count).into_bytes(),
            Self::UnreadHttp2(pages) => preface(0).into_iter().chain(requests(pages)).collect(),
            Self::UnreadErrors(count) => {
                let mut headers = get_headers("/v1/pets", "none");
                // Each counts 34 of the 16 KiB that the headers of a request may have.
                headers.extend([("a", "b"); 400]);
                let request = header_block(&headers);
                let requests = (0..count)
                    .map(|number| frame(HEADERS, END_STREAM | END_HEADERS, stream(number), &request));
                [preface(0)].into_iter().chain(requests).flatten().collect()
            }
            Self::OpenBody => format!(
                "POST /v1/pets HTTP/1.1\r\nHost: animals\r\nAuthorization: Bearer {key}\r\n\
                 Content-Type: application/json\r\nContent-Length: 65536\r\n\r\n{}",
                " ".repeat(65_000)
            )
            .into_bytes(),
            Self::OpenBodies(count) => additions(count, &format!("Bearer {key}")),
            Self::OpenBodiesWithoutKey(count) => additions(count, "none"),
        })
    }
}

/// Returns the begins of additions on as many streams.
fn additions(count: usize, authorization: &str) -> Vec<u8> {
    let mut headers = get_headers("/v1/pets", authorization);
    headers[0].1 = "POST";
    headers.extend([("content-type", "application/json"), ("content-length", "65536")]);
    let request = header_block(&headers);
    let addition = |number| {
        let head = frame(HEADERS, END_HEADERS, stream(number), &request);
        [head, frame(DATA, 0, stream(number), &[b' '; 500])].concat()
    };
    [preface(65_535)].into_iter().chain((0..count).map(addition)).flatten().collect()
}

/// Reads until the server has closed the connection.
pub async fn closed(mut connection: Held) {
    // A reset ends the connection too.
    let mut bytes = vec![0; 4096];
    while let Ok(1..) = connection.read(&mut bytes).await {}
}
