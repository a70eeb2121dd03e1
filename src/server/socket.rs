//! The socket of a connection: one half carries the bytes, the other shows what the client has taken of them.
//!
//! A kernel buffers up to several MB for a client, and reports room for more only when a third of that is free. So the
//! bytes that it accepts say little about a slow client. The bytes that the client acknowledged do (TCP_INFO, tcp(7)).

use std::io::{self, ErrorKind, IoSlice};
use std::net::Shutdown;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

/// The half that carries bytes in both directions.
pub(super) struct Socket(OwnedReadHalf);

/// The half that the register of connections looks at.
pub(super) struct Observed(OwnedWriteHalf);

/// What a client has taken.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Taken {
    /// The bytes that it has acknowledged since it connected.
    pub(super) bytes: u64,
    /// Whether the kernel has more for it.
    pub(super) more: bool,
}

/// Returns the halves of a socket.
pub(super) fn split(stream: TcpStream) -> (Socket, Observed) {
    let (read, write) = stream.into_split();
    (Socket(read), Observed(write))
}

impl Socket {
    pub(super) fn stream(&self) -> &TcpStream {
        self.0.as_ref()
    }

    /// Calls `write` when the kernel has room.
    fn write(
        &self,
        context: &mut Context<'_>,
        write: impl Fn(&TcpStream) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        let stream = self.stream();
        loop {
            ready!(stream.poll_write_ready(context))?;
            match write(stream) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                written => return Poll::Ready(written),
            }
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.write(context, |stream| stream.try_write(bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.write(context, |stream| stream.try_write_vectored(bytes))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(SockRef::from(self.stream()).shutdown(Shutdown::Write))
    }
}

impl Observed {
    /// Returns what the client has taken; nothing, and nothing more to take, if the kernel does not say.
    pub(super) fn taken(&self) -> Taken {
        use nix::sys::socket::GetSockOpt;
        use tcp_info::{BYTES_ACKED, NOTSENT_BYTES, TcpInfo, UNACKED};
        let Ok(info) = TcpInfo.get(self.0.as_ref()) else { return Taken::default() };
        let [low, high] = [info[BYTES_ACKED], info[BYTES_ACKED + 1]].map(u32::to_ne_bytes);
        let mut bytes = [0; 8];
        bytes[..4].copy_from_slice(&low);
        bytes[4..].copy_from_slice(&high);
        let more = info[UNACKED] > 0 || info[NOTSENT_BYTES] > 0;
        Taken { bytes: u64::from_ne_bytes(bytes), more }
    }
}

/// The socket option `TCP_INFO`. Its structure grows at the end, so its beginning is read as numbers of 32 bits: the
/// fields up to `tcpi_min_rtt`, which Linux has since 4.9.
mod tcp_info {
    use nix::getsockopt_impl;
    use nix::libc;
    use nix::sys::socket::sockopt::GetStruct;

    const FIELDS: usize = 38;
    /// The indices of `tcpi_unacked`, `tcpi_bytes_acked` (64 bits) and `tcpi_notsent_bytes`.
    pub(super) const UNACKED: usize = 6;
    pub(super) const BYTES_ACKED: usize = 30;
    pub(super) const NOTSENT_BYTES: usize = 36;

    #[derive(Clone, Copy)]
    pub(super) struct TcpInfo;

    getsockopt_impl!(TcpInfo, libc::IPPROTO_TCP, libc::TCP_INFO, [u32; FIELDS], GetStruct<[u32; FIELDS]>);
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpSocket};

    use super::*;

    #[tokio::test]
    async fn the_kernel_says_what_a_client_has_taken() {
        const BYTES: usize = 1 << 20;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpSocket::new_v4().unwrap();
        client.set_recv_buffer_size(4096).unwrap();
        let mut client = client.connect(listener.local_addr().unwrap()).await.unwrap();
        let (mut socket, observed) = split(listener.accept().await.unwrap().0);
        let start = observed.taken();
        assert!(!start.more);
        let write = tokio::spawn(async move { socket.write_all(&[0; BYTES]).await.map(|()| socket) });
        let mut bytes = vec![0; BYTES];
        client.read_exact(&mut bytes[..1000]).await.unwrap();
        let some = observed.taken();
        assert!(some.more && some.bytes > start.bytes && some.bytes < BYTES as u64, "{some:?}");
        client.read_exact(&mut bytes[1000..]).await.unwrap();
        let _socket = write.await.unwrap().unwrap();
        // The client's kernel may acknowledge the last bytes a little later.
        let all = loop {
            let taken = observed.taken();
            if !taken.more {
                break taken;
            }
            tokio::task::yield_now().await;
        };
        assert_eq!(all.bytes, start.bytes + BYTES as u64);
    }
}
