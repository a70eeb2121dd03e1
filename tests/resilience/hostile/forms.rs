//! Generates malformed requests, each from a seed.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::hostile::fragments::Fragments;
use kit::client::{get, post_head};

/// Returns the malformed request of a seed.
pub fn malformed(seed: u64, key: &str) -> Vec<u8> {
    const FORMS: [fn(&mut Fragments) -> Vec<u8>; 11] = [
        request_line,
        fields,
        smuggled,
        chunks,
        oversized,
        invalid_request,
        pipelined,
        other_protocol,
        bad_body,
        mutated,
        random,
    ];
    let mut fragments = Fragments { random: StdRng::seed_from_u64(seed), key: key.to_owned() };
    FORMS[fragments.number(0..FORMS.len())](&mut fragments)
}

fn request_line(m: &mut Fragments) -> Vec<u8> {
    let method = m.one(&[
        "GET", "get", "G\0T", "", "GET GET", "BREW", "POST", "DELETE", "CONNECT", "OPTIONS", "{}", "HEAD",
        "TRACE",
    ]);
    let space = m.one(&[" ", " ", " ", "  ", "\t", "", "\u{b}", "\r"]);
    let version = m.one(&[
        "HTTP/1.1",
        "HTTP/1.1",
        "HTTP/1.0",
        "HTTP/9.9",
        "HTTP/1.1x",
        "HTTP/0.9",
        "http/1.1",
        "HTTP/",
        "",
        "HTTP/1.10",
    ]);
    let (target, end) = (m.target(), m.end());
    let mut bytes = format!("{method}{space}{target}{space}{version}{end}Host: a\r\n").into_bytes();
    if m.once_in(3) {
        bytes.extend(format!("Authorization: Bearer {}\r\n", m.key).bytes());
    }
    bytes.extend(m.end().bytes());
    bytes
}

fn fields(m: &mut Fragments) -> Vec<u8> {
    let mut bytes = format!("{} {} HTTP/1.1\r\n", m.one(&["GET", "POST", "HEAD"]), m.target()).into_bytes();
    bytes.extend(m.fields());
    bytes.extend(b"\r\n");
    bytes.extend(m.bytes(20));
    bytes
}

/// Request smuggling: bytes that one parser reads as one request and another as two (RFC 9112, section 11.2).
fn smuggled(m: &mut Fragments) -> Vec<u8> {
    let inner = get(&m.target(), &m.key.clone());
    let (length, coding) = (
        m.one(&["0", "4", "5", "6", "44", "99999"]),
        m.one(&["chunked", "identity", "xchunked", "chunked, x"]),
    );
    let chunk = format!("{:x}\r\n{inner}\r\n", inner.len());
    let (lengths, codings, body) = match m.number(0..6) {
        0 => (
            format!("Content-Length: {length}\r\n"),
            format!("Transfer-Encoding: {coding}\r\n"),
            format!("0\r\n\r\n{inner}"),
        ),
        1 => (format!("Content-Length: {length}\r\nContent-Length: 0\r\n"), String::new(), inner),
        2 => (String::new(), format!("Transfer-Encoding: {coding}\r\nTransfer-encoding: chunked\r\n"), chunk),
        3 => (format!("Content-Length : {length}\r\n"), String::new(), inner),
        4 => (format!("Content-Length: {length}\n"), format!("Transfer-Encoding:\u{b}{coding}\r\n"), chunk),
        _ => (
            format!("X: a\r\n Content-Length: {length}\r\n"),
            "Transfer-Encoding\r\n: chunked\r\n".to_owned(),
            inner,
        ),
    };
    let version = m.one(&["HTTP/1.1", "HTTP/1.0"]);
    let key = &m.key;
    format!(
        "POST /v1/pets {version}\r\nHost: a\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\n\
         {lengths}{codings}\r\n{body}"
    )
    .into_bytes()
}

fn chunks(m: &mut Fragments) -> Vec<u8> {
    let mut bytes = format!(
        "POST /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
         Transfer-Encoding: chunked\r\n\r\n",
        m.key
    )
    .into_bytes();
    for _ in 0..m.number(1..8) {
        let size = m.one(&[
            "5",
            "0",
            "g",
            "-1",
            "FFFFFFFFFFFFFFFF",
            "FFFFFFFFFFFFFFFFF",
            "0x5",
            " 5",
            "5 ",
            "+5",
            "",
            "00000000000000000005",
        ]);
        bytes.extend(size.bytes());
        if m.once_in(4) {
            bytes.extend(format!(";{}", "e".repeat(m.length())).bytes());
        }
        bytes.extend(m.end().bytes());
        bytes.extend(m.one(&["{\"a\":", "12345", "", "1234567"]).bytes());
        bytes.extend(m.end().bytes());
    }
    if m.once_in(2) {
        bytes.extend(b"0\r\n");
        bytes.extend(m.fields());
        bytes.extend(b"\r\n");
    }
    bytes
}

fn oversized(m: &mut Fragments) -> Vec<u8> {
    let size = m.number(10_000..200_000);
    let key = m.key.clone();
    match m.number(0..7) {
        0 => format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "a".repeat(size)),
        1 => format!("{} / HTTP/1.1\r\nHost: a\r\n\r\n", "A".repeat(size)),
        2 => format!("GET / HTTP/1.1\r\nHost: {}\r\n\r\n", "a".repeat(size)),
        3 => format!("GET /v1/pets HTTP/1.1\r\nHost: a\r\n{}\r\n", "X-Many: 1\r\n".repeat(size / 11)),
        4 => format!(
            "GET /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ask_{}\r\n\r\n",
            "a".repeat(size)
        ),
        5 => post_head(&key, size) + &"x".repeat(size),
        _ => post_head(&key, size) + &format!("{{\"name\":\"{}\"", "n".repeat(size)),
    }
    .into_bytes()
}

/// Valid HTTP with a request that the service should reject.
fn invalid_request(m: &mut Fragments) -> Vec<u8> {
    let (method, target) = (m.one(&["GET", "HEAD", "PUT", "OPTIONS", "PATCH", "DELETE"]), m.target());
    let key = if m.once_in(2) { m.key.clone() } else { String::from_utf8_lossy(&m.bytes(40)).into_owned() };
    format!("{method} {target} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {key}\r\n\r\n").into_bytes()
}

fn pipelined(m: &mut Fragments) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..m.number(2..20) {
        bytes.extend(match m.number(0..4) {
            0 => get("/v1/pets?limit=1", &m.key.clone()).into_bytes(),
            1 => request_line(m),
            2 => invalid_request(m),
            _ => bad_body(m),
        });
    }
    bytes
}

fn other_protocol(m: &mut Fragments) -> Vec<u8> {
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    match m.number(0..6) {
        0 => preface[..m.number(1..preface.len())].to_vec(),
        1 => [&preface[..], &m.bytes(200)].concat(),
        2 => {
            // Well-formed frames (RFC 9113, section 4.1) of random types, flags and payloads.
            let mut bytes = [&preface[..], &[0, 0, 0, 4, 0, 0, 0, 0, 0]].concat();
            for _ in 0..m.number(1..20) {
                let payload = m.bytes(60);
                let head =
                    [0, 0, payload.len() as u8, m.number(0..12) as u8, m.number(0..256) as u8, 0, 0, 0];
                bytes.extend(head);
                bytes.push(m.number(0..8) as u8);
                bytes.extend(payload);
            }
            bytes
        }
        3 => [&b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..], &m.bytes(300)].concat(),
        4 => b"GET /v1/pets\r\n".to_vec(),
        _ => m
            .one(&["EHLO a\r\n", "SSH-2.0-x\r\n", "\0\0\0\x0c", "*1\r\n$4\r\nPING\r\n", "\r\n\r\n\r\n", "\n"])
            .into(),
    }
}

fn bad_body(m: &mut Fragments) -> Vec<u8> {
    let length = m.length();
    let body = match m.number(0..9) {
        0 => "[".repeat(length),
        1 => "{\"name\":".repeat(length / 8),
        2 => format!("{{\"name\":\"{}\",\"categoryId\":1}}", "\\u0000"),
        3 => format!("{{\"name\":\"{}\",\"categoryId\":1}}", "\\ud800"),
        4 => format!(
            "{{\"name\":\"Rex\",\"categoryId\":{}}}",
            m.one(&["1e999", "9223372036854775808", "-0.0", "1.5", "NaN", "\"1\"", "0x1"])
        ),
        5 => format!("{{\"name\":\"Rex\",\"categoryId\":1,\"{}\":1}}", m.key),
        6 => "{\"name\":\"Rex\",\"name\":\"Rex\",\"categoryId\":1}".to_owned(),
        7 => "{\"name\":\"'); DELETE FROM x; --\",\"categoryId\":1,\"status\":\"'\"}".to_owned(),
        _ => String::new(),
    };
    let mut body = body.into_bytes();
    if m.once_in(3) {
        body.extend(m.bytes(30));
    }
    let key = m.key.clone();
    [post_head(&key, body.len()).into_bytes(), body].concat()
}

/// A valid request with some bytes changed, inserted, removed or repeated.
fn mutated(m: &mut Fragments) -> Vec<u8> {
    let body = r#"{"name":"Rex","categoryId":1,"colour":"red"}"#;
    let key = m.key.clone();
    let mut bytes = (post_head(&key, body.len()) + body).into_bytes();
    for _ in 0..m.number(1..6) {
        let at = m.number(0..bytes.len());
        match m.number(0..4) {
            0 => bytes[at] = m.random.random(),
            1 => bytes.insert(at, m.random.random()),
            2 => drop(bytes.remove(at)),
            _ => {
                let again = bytes[at..(at + 20).min(bytes.len())].to_vec();
                bytes.splice(at..at, again);
            }
        }
    }
    bytes
}

fn random(m: &mut Fragments) -> Vec<u8> {
    m.bytes(400)
}
