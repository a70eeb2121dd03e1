//! Waits for the first request of a connection without reading it.
//!
//! hyper allocates its buffers before it reads. The bytes stay in the kernel until there is something for hyper to
//! do, so a client that sends nothing or a part of a head costs a socket and no buffers.

use std::io::{self, ErrorKind};

use httparse::Status;
use rustix::net::{RecvFlags, recv};
use tokio::io::Interest;
use tokio::net::TcpStream;

/// The version of HTTP that a connection uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // The names say it.
pub enum Protocol {
    Http1,
    Http2,
}

/// What the client of a connection over HTTP/2 sends first (RFC 9113, section 3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// A head that is longer than this is for hyper, complete or not.
const MAX_PEEKED: usize = 4096;
const MAX_HEADERS: usize = 64;

/// Waits until the client has sent a complete head over HTTP/1, the preface of HTTP/2, an error, or the end of its
/// bytes.
///
/// # Errors
/// When the connection is broken.
pub(super) async fn first_request(stream: &TcpStream) -> io::Result<Protocol> {
    loop {
        let ready = stream.ready(Interest::READABLE).await?;
        let peeked = stream.try_io(Interest::READABLE, || {
            let mut buffer = [0; MAX_PEEKED];
            let (length, _) = recv(stream, &mut buffer, RecvFlags::PEEK)?;
            // After WouldBlock, tokio waits for more bytes.
            protocol(&buffer[..length]).ok_or_else(|| ErrorKind::WouldBlock.into())
        });
        match peeked {
            // More bytes will not come.
            Err(error) if error.kind() == ErrorKind::WouldBlock && ready.is_read_closed() => {
                return Ok(Protocol::Http1);
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            peeked => return peeked,
        }
    }
}

/// Returns the version of HTTP of a connection that begins with these bytes; `None` if more are needed.
pub fn protocol(bytes: &[u8]) -> Option<Protocol> {
    if bytes.starts_with(PREFACE) {
        return Some(Protocol::Http2);
    }
    if PREFACE.starts_with(bytes) && !bytes.is_empty() {
        return None;
    }
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let head = httparse::Request::new(&mut headers).parse(bytes);
    // hyper answers errors. An empty slice is the end of the connection.
    let incomplete = head == Ok(Status::Partial) && !bytes.is_empty() && bytes.len() < MAX_PEEKED;
    (!incomplete).then_some(Protocol::Http1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_a_head_needs_more_bytes() {
        let head = b"GET /v1/pets HTTP/1.1\r\nHost: animals\r\n\r\n";
        for length in 1..head.len() {
            assert_eq!(protocol(&head[..length]), None, "{length} bytes");
        }
        assert_eq!(protocol(head), Some(Protocol::Http1));
    }

    #[test]
    fn every_part_of_the_preface_needs_more_bytes() {
        for length in 1..PREFACE.len() {
            assert_eq!(protocol(&PREFACE[..length]), None, "{length} bytes");
        }
        assert_eq!(protocol(PREFACE), Some(Protocol::Http2));
    }

    #[test]
    fn errors_and_long_heads_need_no_more_bytes() {
        let mut long = b"GET / HTTP/1.1\r\nA: ".to_vec();
        long.resize(MAX_PEEKED, b'a');
        for bytes in [b"".as_slice(), b"\x16\x03\x01", b"GET / HTTP/3", b"PRI * HTTP/2.0\r\n\r\nXX", &long] {
            assert_eq!(protocol(bytes), Some(Protocol::Http1), "{}", bytes.escape_ascii());
        }
    }
}
