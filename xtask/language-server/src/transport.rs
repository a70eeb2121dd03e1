//! Messages over standard input and output (LSP 3.17, "Base Protocol").
//!
//! The transport of `lsp-server` ends at the first message that it cannot read. This one skips such a message, with an
//! error response.

use std::io::{self, BufRead, Read, Write};
use std::thread::{self, JoinHandle};

use crossbeam_channel::{Receiver, Sender};
use lsp_server::{Connection, ErrorCode, Message};
use serde_json::{Value, json};

/// The limit of bytes of a message. A longer one is skipped.
const MAX_MESSAGE: usize = 512 << 20;
/// The limit of bytes of a line of a header.
const MAX_HEADER: u64 = 8 << 10;

/// The limit of messages that were read and not handled.
const MAX_WAITING: usize = 64;

/// What a client sent.
enum Received {
    Message(Message),
    /// Something else, with the error code and the reason.
    Wrong(ErrorCode, String),
    /// The end of the input.
    End,
}

/// Starts threads that read and write messages. The writer ends when the connection is dropped.
pub(crate) fn stdio() -> (Connection, JoinHandle<()>) {
    let (sender, outgoing) = crossbeam_channel::unbounded();
    // A client that sends faster than the server reads has to wait.
    let (incoming, receiver) = crossbeam_channel::bounded(MAX_WAITING);
    let errors = sender.clone();
    // The reader is not joined, because it may wait for input until the process ends.
    thread::spawn(move || read_all(&mut io::stdin().lock(), &incoming, &errors));
    let writer = thread::spawn(move || write_all(&mut io::stdout().lock(), &outgoing));
    (Connection { sender, receiver }, writer)
}

fn write_all(output: &mut impl Write, outgoing: &Receiver<Message>) {
    for message in outgoing {
        // The client closed the stream; the end of the input follows.
        if message.write(output).is_err() {
            return;
        }
    }
}

/// Reads messages until the end of the input or the notification `exit`.
pub(crate) fn read_all(input: &mut impl BufRead, incoming: &Sender<Message>, errors: &Sender<Message>) {
    loop {
        match read(input) {
            Received::Message(message) => {
                let is_exit = matches!(&message, Message::Notification(it) if it.method == "exit");
                if incoming.send(message).is_err() || is_exit {
                    return;
                }
            }
            Received::Wrong(code, reason) => {
                // The error cannot name a request, and `lsp_server::Response` has no `id: null`.
                let params = json!({ "type": 1, "message": format!("{reason} (error {})", code as i32) });
                let message = lsp_server::Notification { method: "window/logMessage".to_owned(), params };
                if errors.send(message.into()).is_err() {
                    return;
                }
            }
            Received::End => return,
        }
    }
}

fn read(input: &mut impl BufRead) -> Received {
    let length = match header(input) {
        Ok(Some(length)) => length,
        Ok(None) | Err(_) => return Received::End,
    };
    let mut body = Vec::new();
    // `take` allocates only what arrives.
    let mut content = input.by_ref().take(length as u64);
    let read = if length > MAX_MESSAGE {
        io::copy(&mut content, &mut io::sink())
    } else {
        content.read_to_end(&mut body).map(|length| length as u64)
    };
    match read {
        Ok(read) if read == length as u64 => {}
        _ => return Received::End,
    }
    if length > MAX_MESSAGE {
        return Received::Wrong(
            ErrorCode::InvalidRequest,
            format!("a message has {length} bytes, which is too long"),
        );
    }
    let value: Value = match serde_json::from_slice(&body) {
        Ok(value) => value,
        Err(error) => {
            return Received::Wrong(ErrorCode::ParseError, format!("a message is not JSON: {error}"));
        }
    };
    match serde_json::from_value(value) {
        Ok(message) => Received::Message(message),
        Err(_) => {
            let reason = "a message is neither a request, a response nor a notification".to_owned();
            Received::Wrong(ErrorCode::InvalidRequest, reason)
        }
    }
}

/// Returns the length of the next message, or `None` at the end of the input. Skips lines that are not part of a header.
fn header(input: &mut impl BufRead) -> io::Result<Option<usize>> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        if input.by_ref().take(MAX_HEADER).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim();
        match line.split_once(':') {
            Some((name, value)) if name.trim().eq_ignore_ascii_case("content-length") => {
                length = value.trim().parse().ok().or(length);
            }
            None if line.is_empty() && length.is_some() => return Ok(length),
            _ => {}
        }
    }
}
