//! HTTP/2 frames over TLS (RFC 9113), for what a client library would not send.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

use super::good::Trust;

/// The first bytes of a client (section 3.4). A SETTINGS frame must follow.
pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const RST_STREAM: u8 = 3;
pub const SETTINGS: u8 = 4;
pub const PING: u8 = 6;
pub const GOAWAY: u8 = 7;
pub const CONTINUATION: u8 = 9;

/// A flag of SETTINGS and PING.
pub const ACK: u8 = 1;
/// A flag of DATA and HEADERS.
pub const END_STREAM: u8 = 1;
/// A flag of HEADERS and CONTINUATION.
pub const END_HEADERS: u8 = 4;

/// SETTINGS_INITIAL_WINDOW_SIZE (section 6.5.2).
const INITIAL_WINDOW_SIZE: u16 = 4;
/// An error code (section 7): the request was not processed.
pub const REFUSED_STREAM: u32 = 7;
/// An error code: the request is no longer wanted.
pub const CANCEL: u32 = 8;

/// Returns the bytes of a frame.
pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap_or(u32::MAX).to_be_bytes();
    let mut bytes = vec![length[1], length[2], length[3], kind, flags];
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
    bytes
}

/// Returns the preface and a SETTINGS frame with this window for each response.
pub fn preface(window: u32) -> Vec<u8> {
    let mut setting = INITIAL_WINDOW_SIZE.to_be_bytes().to_vec();
    setting.extend(window.to_be_bytes());
    [PREFACE, &frame(SETTINGS, 0, 0, &setting)].concat()
}

/// Returns the identifier of the client's stream with this number, from 0 (section 5.1.1).
pub fn stream(number: usize) -> u32 {
    u32::try_from(2 * number + 1).unwrap_or(u32::MAX)
}

/// Encodes headers as literals without indexing (RFC 7541, section 6.2.2).
pub fn header_block(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in fields {
        block.push(0);
        for text in [name, value] {
            length(&mut block, text.len());
            block.extend(text.as_bytes());
        }
    }
    block
}

/// Encodes the length of a string without Huffman coding (RFC 7541, sections 5.1 and 5.2).
fn length(block: &mut Vec<u8>, length: usize) {
    const PREFIX: usize = 127;
    if length < PREFIX {
        block.push(length as u8);
        return;
    }
    block.push(PREFIX as u8);
    let mut rest = length - PREFIX;
    while rest >= 128 {
        block.push((rest % 128) as u8 | 128);
        rest /= 128;
    }
    block.push(rest as u8);
}

/// Returns the headers of a GET request for `target`.
pub fn get_headers<'a>(target: &'a str, authorization: &'a str) -> Vec<(&'a str, &'a str)> {
    vec![
        (":method", "GET"),
        (":scheme", "http"),
        (":authority", "animals"),
        (":path", target),
        ("authorization", authorization),
    ]
}

/// Returns a complete GET request for `target`.
pub fn get(stream: u32, target: &str, key: &str) -> Vec<u8> {
    let block = header_block(&get_headers(target, &format!("Bearer {key}")));
    frame(HEADERS, END_STREAM | END_HEADERS, stream, &block)
}

/// Returns a frame that resets a stream.
pub fn reset(stream: u32) -> Vec<u8> {
    frame(RST_STREAM, 0, stream, &CANCEL.to_be_bytes())
}

/// A frame that the server sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
    pub payload: Vec<u8>,
}

impl Frame {
    /// The error code of a RST_STREAM frame.
    pub fn error_code(&self) -> Option<u32> {
        let code = (self.kind == RST_STREAM).then_some(self.payload.as_slice())?;
        Some(u32::from_be_bytes(code.try_into().ok()?))
    }

    /// Whether this is the HEADERS frame of a response with status 200: index 8 of the static table (RFC 7541,
    /// appendix A).
    pub fn is_ok(&self) -> bool {
        self.kind == HEADERS && self.payload.first() == Some(&0x88)
    }
}

/// The bytes of frames, of which the last one may be incomplete.
#[derive(Default)]
pub struct Frames(Vec<u8>);

impl Frames {
    /// Adds bytes, and returns the frames that are complete.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Frame> {
        self.0.extend(bytes);
        std::iter::from_fn(|| self.take()).collect()
    }

    fn take(&mut self) -> Option<Frame> {
        let head: [u8; 9] = self.0.get(..9)?.try_into().ok()?;
        let end = 9 + u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        let payload = self.0.get(9..end)?.to_vec();
        self.0.drain(..end);
        let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        Some(Frame { kind: head[3], flags: head[4], stream, payload })
    }
}

/// A connection that sends arbitrary bytes and reads frames.
pub struct Connection {
    pub stream: TlsStream<TcpStream>,
    received: Frames,
}

impl From<TlsStream<TcpStream>> for Connection {
    fn from(stream: TlsStream<TcpStream>) -> Self {
        Self { stream, received: Frames::default() }
    }
}

impl Connection {
    /// Connects, and sends the preface with this window for each response.
    pub async fn open(address: SocketAddr, trust: &Trust, window: u32) -> io::Result<Self> {
        let mut stream = trust.connect(TcpStream::connect(address).await?, true).await?;
        stream.write_all(&preface(window)).await?;
        Ok(stream.into())
    }

    /// Sends bytes, and reads meanwhile, because a server that is not read stops to read. Fails when the
    /// connection has ended.
    pub async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let (mut reader, mut writer) = tokio::io::split(&mut self.stream);
        let (received, mut buffer) = (&mut self.received, vec![0; 16 * 1024]);
        let mut writing = std::pin::pin!(async {
            writer.write_all(bytes).await?;
            writer.flush().await
        });
        loop {
            tokio::select! {
                biased;
                written = &mut writing => return written,
                count = reader.read(&mut buffer) => match count? {
                    0 => return Err(ErrorKind::UnexpectedEof.into()),
                    count => received.0.extend(&buffer[..count]),
                },
            }
        }
    }

    /// Returns the next frame; `None` at the end of the connection.
    pub async fn next(&mut self) -> Option<Frame> {
        let mut bytes = vec![0; 64 * 1024];
        loop {
            if let Some(frame) = self.received.take() {
                return Some(frame);
            }
            match self.stream.read(&mut bytes).await {
                // A reset ends the connection too.
                Ok(0) | Err(_) => return None,
                Ok(count) => self.received.0.extend(&bytes[..count]),
            }
        }
    }

    /// Reads until the next frame that fits; `None` if the connection ends before.
    pub async fn find(&mut self, fits: impl Fn(&Frame) -> bool) -> Option<Frame> {
        loop {
            let frame = self.next().await?;
            if fits(&frame) {
                return Some(frame);
            }
        }
    }

    /// Reads until the end of the connection. Returns the error code of the last GOAWAY frame.
    pub async fn last_error(&mut self) -> Option<u32> {
        let mut code = None;
        while let Some(frame) = self.next().await {
            if frame.kind == GOAWAY {
                code =
                    frame.payload.get(4..8).and_then(|code| Some(u32::from_be_bytes(code.try_into().ok()?)));
            }
        }
        code
    }
}
