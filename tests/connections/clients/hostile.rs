//! Clients that hold a connection and send or read nothing more.

use std::io;
use std::net::SocketAddr;

use rustls::ClientConnection;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use super::frames::{
    Connection, DATA, END_HEADERS, END_STREAM, HEADERS, PREFACE, frame, get, get_headers, header_block,
    preface, stream,
};
use super::good::{Trust, http1_get};

/// What the client does before it does nothing more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing.
    Silent,
    /// Sends half of the preface of HTTP/2.
    HalfPreface,
    /// Sends the whole preface of HTTP/2, with its SETTINGS.
    Preface,
    /// Sends half of a request's header.
    HalfHeader,
    /// Sends the first message of a TLS handshake.
    HalfHandshake,
    /// Reads a response over HTTP/1.1.
    IdleHttp1,
    /// Reads a response over HTTP/2, and does not answer PING.
    IdleHttp2,
    /// Asks for this many pages in HTTP/1.1, and reads none.
    UnreadHttp1(usize),
    /// Asks for this many pages in HTTP/2 with a window of zero.
    UnreadHttp2(usize),
    /// Sends this many requests without a key in HTTP/2 with a window of zero, and gets no byte of the errors.
    UnreadErrors(usize),
    /// Begins this many additions in HTTP/2, and sends a part of each body.
    OpenBodies(usize),
    /// The same without a key.
    OpenBodiesWithoutKey(usize),
}

/// A request for the largest page.
pub const PAGE: &str = "/v1/pets?limit=100";
/// The number of connections from one loopback address, which has fewer than 30,000 ports.
const FROM_ONE_ADDRESS: usize = 5_000;

impl Kind {
    /// Connects. `number` is different for each connection of a test, and selects the client's address.
    ///
    /// # Errors
    /// When the server closes the connection before the client has done its part.
    pub async fn connect(self, number: usize, address: SocketAddr, key: &str) -> io::Result<TcpStream> {
        let socket = TcpSocket::new_v4()?;
        if matches!(self, Self::UnreadHttp1(_)) {
            socket.set_recv_buffer_size(4096)?;
        }
        let source = u8::try_from(2 + number / FROM_ONE_ADDRESS).map_err(io::Error::other)?;
        socket.bind(SocketAddr::from(([127, 0, 0, source], 0)))?;
        let mut connection = socket.connect(address).await?;
        connection.write_all(&self.bytes(key)?).await?;
        match self {
            Self::IdleHttp1 => {
                let mut response = [0; 1024];
                if connection.read(&mut response).await? == 0 {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
            Self::IdleHttp2 => {
                let mut frames = Connection::from(connection);
                let end = frames.find(|frame| frame.stream == 1 && frame.kind == super::frames::DATA).await;
                end.ok_or(io::ErrorKind::UnexpectedEof)?;
                connection = frames.stream;
            }
            _ => {}
        }
        Ok(connection)
    }

    /// Returns what the client sends.
    fn bytes(self, key: &str) -> io::Result<Vec<u8>> {
        // The requests of one HTTP/2 connection.
        let requests = |count: usize| (0..count).flat_map(|number| get(stream(number), PAGE, key));
        Ok(match self {
            Self::Silent => Vec::new(),
            Self::HalfPreface => PREFACE[..PREFACE.len() / 2].to_vec(),
            Self::Preface => preface(65_535),
            Self::HalfHeader => b"GET /v1/pets HTTP/1.1\r\nHost: ani".to_vec(),
            Self::HalfHandshake => {
                let name = ServerName::try_from("localhost").map_err(io::Error::other)?;
                let config = Trust::nobody().map_err(io::Error::other)?;
                let mut tls = ClientConnection::new(config.config(true), name).map_err(io::Error::other)?;
                let mut hello = Vec::new();
                tls.write_tls(&mut hello)?;
                hello
            }
            // An error, whose response is small.
            Self::IdleHttp1 => http1_get("/v1/pets/0", key).into_bytes(),
            Self::IdleHttp2 => [preface(65_535), get(1, "/v1/pets/0", key)].concat(),
            Self::UnreadHttp1(pages) => http1_get(PAGE, key).repeat(pages).into_bytes(),
            Self::UnreadHttp2(pages) => preface(0).into_iter().chain(requests(pages)).collect(),
            Self::UnreadErrors(count) => {
                let mut headers = get_headers("/v1/pets", "none");
                headers[0].1 = "DELETE";
                let request = header_block(&headers);
                let requests = (0..count)
                    .map(|number| frame(HEADERS, END_STREAM | END_HEADERS, stream(number), &request));
                [preface(0)].into_iter().chain(requests).flatten().collect()
            }
            Self::OpenBodies(count) => additions(count, &format!("Bearer {key}")),
            Self::OpenBodiesWithoutKey(count) => additions(count, "none"),
        })
    }
}

/// Returns the begins of additions on as many streams.
fn additions(count: usize, authorization: &str) -> Vec<u8> {
    let mut headers = get_headers("/v1/pets", authorization);
    headers[0].1 = "POST";
    headers.push(("content-type", "application/json"));
    let request = header_block(&headers);
    let addition = |number| {
        let head = frame(HEADERS, END_HEADERS, stream(number), &request);
        [head, frame(DATA, 0, stream(number), &[b' '; 500])].concat()
    };
    [preface(65_535)].into_iter().chain((0..count).map(addition)).flatten().collect()
}

/// Reads until the server has closed the connection.
pub async fn closed(mut connection: TcpStream) {
    let mut bytes = vec![0; 4096];
    // A reset ends the connection too.
    while let Ok(1..) = connection.read(&mut bytes).await {}
}
