//! The language server over the program's standard streams.

use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::json;

use super::edited;
use super::revision::repository;

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
    let writer = thread::spawn(move || input.write_all(&bytes));
    let mut said = Vec::new();
    output.read_to_end(&mut said).unwrap();
    // The program may have ended before it read everything.
    let _ = writer.join().unwrap();
    (child.wait().unwrap().code(), String::from_utf8_lossy(&said).into_owned())
}

#[test]
fn the_status_tells_whether_the_session_was_shut_down() {
    let initialize =
        json!({ "jsonrpc": "2.0", "id": 7, "method": "initialize", "params": { "capabilities": {} } });
    let early = json!({ "jsonrpc": "2.0", "id": 6, "method": "textDocument/hover", "params": {} });
    let shutdown = json!({ "jsonrpc": "2.0", "id": 8, "method": "shutdown" });
    let exit = json!({ "jsonrpc": "2.0", "method": "exit" });
    let [initialize, early, shutdown, exit] =
        [initialize, early, shutdown, exit].map(|it| frame(it.to_string().as_bytes()));
    let (code, said) = program(&[&early, &initialize, &shutdown, &exit]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("\"id\":6,\"error\"") && said.contains("\"id\":7,\"result\""), "{said}");
    assert!(said.contains("\"id\":8,\"result\""), "{said}");
    // Without a shutdown the status is 1, also after a message that cannot be read.
    assert_eq!(program(&[&initialize, &exit]).0, Some(1));
    assert_eq!(program(&[&initialize, &frame(b"{ not json"), &shutdown, &exit]).0, Some(1));
    assert_eq!(program(&[&initialize, b"Content-Length: 99\r\n\r\n{"]).0, Some(1));
    assert_eq!(program(&[b""]).0, Some(1));
}

#[test]
fn the_base_can_be_in_a_revision_of_git() {
    let workplace = repository();
    let mut command =
        workplace.command(&["lsp", "--base", "HEAD:library.yaml", "--document", "library.yaml"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut input, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(number @ 1..) = output.read(&mut bytes) {
            // The test ends before the server does.
            let _ = sender.send(String::from_utf8_lossy(&bytes[..number]).into_owned());
        }
    });
    let uri = format!("file://{}", workplace.path("library.yaml").canonicalize().unwrap().display());
    let text = edited("maximum: 100\n", "maximum: 50\n");
    let document = json!({ "uri": uri, "languageId": "yaml", "version": 1, "text": text });
    for message in [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "capabilities": {} } }),
        json!({ "jsonrpc": "2.0", "method": "initialized", "params": {} }),
        json!({ "jsonrpc": "2.0", "method": "textDocument/didOpen", "params": { "textDocument": document } }),
    ] {
        input.write_all(&frame(message.to_string().as_bytes())).unwrap();
    }
    let mut said = String::new();
    while !said.contains("request-max-decreased") {
        said += &receiver.recv_timeout(Duration::from_secs(600)).expect(&said);
    }
    drop(input);
    child.wait().unwrap();
}
