//! A stream that tells its [`Connection`] when bytes arrive and whether bytes can be sent, and counts frames of HTTP/2.

use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::futures::OwnedNotified;

use super::connection::Connection;
use super::first_request::Protocol;
use super::frame_budget::FrameBudget;

pub(super) struct Monitored<S> {
    stream: S,
    connection: Arc<Connection>,
    /// Whether the kernel had no room at the last attempt to send.
    blocked: bool,
    /// Over HTTP/2.
    frames: Option<FrameBudget>,
    /// What reading waits for while connections hold too much memory.
    freed: Option<Pin<Box<OwnedNotified>>>,
}

impl<S> Monitored<S> {
    pub(super) fn new(stream: S, protocol: Protocol, connection: Arc<Connection>) -> Self {
        let frames = (protocol == Protocol::Http2).then(|| FrameBudget::new(connection.now()));
        Self { stream, connection, blocked: false, frames, freed: None }
    }

    /// Records bytes that arrived.
    ///
    /// # Errors
    /// When the client has sent too many frames without a request.
    fn received(&mut self, bytes: &[u8]) -> io::Result<()> {
        let connection = &self.connection;
        connection.received();
        if let Some(frames) = &mut self.frames
            && !frames.receive(bytes, connection.now())
        {
            connection.exceed_frames();
            return Err(ErrorKind::QuotaExceeded.into());
        }
        Ok(())
    }

    fn sent<T>(&mut self, result: Poll<T>) -> Poll<T> {
        if self.blocked != result.is_pending() {
            self.blocked = result.is_pending();
            self.connection.set_blocked(self.blocked);
        }
        result
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Monitored<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        while let Some(mut freed) = self.freed.take().or_else(|| self.connection.wait_for_memory()) {
            if freed.as_mut().poll(context).is_pending() {
                self.freed = Some(freed);
                return Poll::Pending;
            }
        }
        let read = ready!(Pin::new(&mut self.stream).poll_read(context, buffer));
        let bytes = &buffer.filled()[before..];
        Poll::Ready(if bytes.is_empty() { read } else { self.received(bytes) })
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Monitored<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.sent(result)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.sent(result)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // With TLS, bytes are sent here too.
        let result = Pin::new(&mut self.stream).poll_flush(context);
        if result.is_pending() { self.sent(result) } else { result }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.stream).poll_shutdown(context);
        if result.is_pending() { self.sent(result) } else { result }
    }
}
