//! The language server over the program's standard streams.

use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};

use serde_json::json;

fn frame(body: &[u8]) -> Vec<u8> {
    [format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes(), body].concat()
}

/// Sends bytes to the program. Returns its exit status and what it wrote.
fn program(parts: &[&[u8]]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_contract"));
    let mut child = command.arg("lsp").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = child.stdout.take().unwrap();
    let bytes = parts.concat();
    let writer = std::thread::spawn(move || input.write_all(&bytes));
    let mut said = Vec::new();
    output.read_to_end(&mut said).unwrap();
    // The program may have ended before it read everything.
    let _ = writer.join().unwrap();
    (child.wait().unwrap().code(), String::from_utf8_lossy(&said).into_owned())
}

#[test]
fn messages_that_cannot_be_read_are_skipped() {
    let initialize =
        json!({ "jsonrpc": "2.0", "id": 7, "method": "initialize", "params": { "capabilities": {} } });
    let early = json!({ "jsonrpc": "2.0", "id": 6, "method": "textDocument/hover", "params": {} });
    let shutdown = json!({ "jsonrpc": "2.0", "id": 8, "method": "shutdown" });
    let exit = json!({ "jsonrpc": "2.0", "method": "exit" });
    let [initialize, early, shutdown, exit] =
        [initialize, early, shutdown, exit].map(|it| frame(it.to_string().as_bytes()));
    let (code, said) = program(&[
        b"what is this\r\n\r\n",
        &frame(b"{ not json"),
        &frame(b"\xff\xfe"),
        &frame(b"[1, 2]"),
        &frame(b"{\"id\": 1.5, \"method\": \"initialize\"}"),
        b"Content-Length: many\r\n\r\n",
        b"X-Other: 1\r\n",
        &early,
        &initialize,
        &shutdown,
        &exit,
        &frame(b"{}"),
    ]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("is not JSON") && said.contains("send `initialize` first"), "{said}");
    assert!(said.contains("\"id\":7") && said.contains("\"id\":8"), "{said}");
    // Without a shutdown the status is 1, also at the end of the input in the middle of a message.
    assert_eq!(program(&[&initialize, &exit]).0, Some(1));
    assert_eq!(program(&[&initialize, b"Content-Length: 99999999999\r\n\r\n{"]).0, Some(1));
    assert_eq!(program(&[b""]).0, Some(1));
}
