//! Both servers answer a request, so that a benchmark compares the service with something.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

/// Starts a server and returns its response to a request.
fn response(program: &str) -> String {
    let mut server = Command::new(program).stdout(Stdio::piped()).spawn().unwrap();
    let mut ready = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut ready).unwrap();
    let mut stream = TcpStream::connect(ready.trim().trim_start_matches("ready: http://")).unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    server.kill().unwrap();
    server.wait().unwrap();
    response
}

#[test]
fn both_answer() {
    for program in [env!("CARGO_BIN_EXE_bare-hyper"), env!("CARGO_BIN_EXE_bare-dropshot")] {
        let response = response(program);
        assert!(response.starts_with("HTTP/1.1 200 ") && response.contains("hello"), "{program}: {response}");
    }
}
