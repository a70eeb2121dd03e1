//! The parts that malformed requests are assembled from.

use std::fmt::Write;

use rand::RngExt;
use rand::rngs::StdRng;

/// A source of random parts, and the API key that some of them contain.
pub struct Fragments {
    pub random: StdRng,
    pub key: String,
}

impl Fragments {
    /// Returns one of `of`.
    pub fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.random.random_range(0..of.len())]
    }

    /// Returns a number in a range.
    pub fn number(&mut self, range: std::ops::Range<usize>) -> usize {
        self.random.random_range(range)
    }

    /// Returns `true` with a probability of one in `times`.
    pub fn once_in(&mut self, times: u32) -> bool {
        self.random.random_ratio(1, times)
    }

    /// Returns fewer than `most` random bytes.
    pub fn bytes(&mut self, most: usize) -> Vec<u8> {
        (0..self.number(0..most)).map(|_| self.random.random()).collect()
    }

    /// Returns a length: usually below 300, sometimes more than one read returns, rarely up to a million.
    pub fn length(&mut self) -> usize {
        match self.number(0..100) {
            0 => self.number(100_000..1_000_000),
            1..=5 => self.number(5_000..100_000),
            _ => self.number(0..300),
        }
    }

    /// Returns a request target, usually an invalid one.
    pub fn target(&mut self) -> String {
        let key = self.key.clone();
        match self.number(0..12) {
            0 => format!(
                "/v1/pets/{}",
                self.one(&["-1", "+1", "01", "1e3", "9223372036854775808", "0x10", "٣"])
            ),
            1 => format!("/v1/pets?{}", self.query()),
            2 => self
                .one(&[
                    "/v1/pets/../../etc/passwd",
                    "/v1/..%2f..%2f",
                    "/v1/%2e%2e/x",
                    "/v1/pets/.",
                    "//",
                    "/",
                ])
                .to_owned(),
            3 => format!(
                "/v1/pets/{}",
                self.one(&["%", "%f", "%ff", "%00", "%c0%af", "%zz", "%u0041", "1%00"])
            ),
            4 => format!(
                "http://{}/v1/pets",
                self.one(&["example.org", "", "a b", "[::1", "user:pw@host:0", "127.0.0.1:99999"])
            ),
            5 => self
                .one(&[
                    "*",
                    "example.org:443",
                    "?",
                    "#",
                    "/v1/pets#x",
                    "v1/pets",
                    "\\v1\\pets",
                    "/v1/pets;x=1",
                ])
                .to_owned(),
            6 => format!("/v1/pets/{key}"),
            7 => format!("/v1/pets?{key}={key}&cursor={key}"),
            8 => "/v1/pets/1%20OR%201%3D1;--".to_owned(),
            9 => format!("/{}", "a/".repeat(self.length() / 2)),
            10 => format!("/v1/pets?limit={}", "9".repeat(self.length())),
            _ => "/v1/pets".to_owned(),
        }
    }

    /// Returns a query string, usually an invalid one.
    pub fn query(&mut self) -> String {
        let mut query = String::new();
        for _ in 0..self.number(1..6) {
            let name = self.one(&["limit", "status", "cursor", "LIMIT", "", "a[b]", "%00", "limit%00"]);
            let value = self.one(&[
                "0",
                "101",
                "-1",
                "1.0",
                "1e1",
                "",
                "%",
                "%ff",
                "available",
                "sold,pending",
                "'--",
                "\"",
                "null",
                "٣",
                "+5",
                "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
                "%F0%9F%A6%8A",
                "${7*7}",
                "<script>",
            ]);
            let _ = write!(query, "{}{name}={value}", self.one(&["&", "&&", ";", ""]));
        }
        query
    }

    /// Returns header fields with line ends, usually invalid ones.
    pub fn fields(&mut self) -> Vec<u8> {
        let mut fields = Vec::new();
        for _ in 0..self.number(0..6) {
            let field = match self.number(0..16) {
                0 => format!("Authorization: Bearer {}", self.key),
                1 => format!("Authorization: {} {}", self.one(&["Basic", "bearer", "Bearer ", "Bearer,", ""]), self.key),
                2 => "Host: a\r\nHost: b".to_owned(),
                3 => format!("Content-Length: {}", self.one(&[
                    "+5", "-1", "0x5", "5, 5", "5, 6", "5 5", "99999999999999999999", "18446744073709551615", "", "٣",
                ])),
                4 => format!("Transfer-Encoding: {}", self.one(&[
                    "chunked, identity", "identity, chunked", "xchunked", "chunked, chunked", "gzip, chunked", "\u{b}chunked",
                    "chunked\t", "\"chunked\"", "", "CHUNKED",
                ])),
                5 => "Transfer-Encoding : chunked".to_owned(),
                6 => " folded: value\r\n and more".to_owned(),
                7 => "no colon".to_owned(),
                8 => ": no name".to_owned(),
                9 => format!("X-{}: 1", "a".repeat(self.length())),
                10 => format!("X-Long: {}", "v".repeat(self.length())),
                11 => "X-A: b\r\n".repeat(self.number(1..300)).trim_end().to_owned(),
                12 => format!("Expect: {}", self.one(&["100-continue", "200-ok", ""])),
                13 => self.one(&["Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA",
                    "Upgrade: websocket\r\nConnection: upgrade", "Connection: close, keep-alive, Host"]).to_owned(),
                14 => format!("Content-Type: {}", self.one(&["application/json", "application/json; charset=", "text/xml", ";", "a/b/c"])),
                _ => "traceparent: 00-00000000000000000000000000000000-0000000000000000-00".to_owned(),
            };
            fields.extend(field.as_bytes());
            if self.once_in(20) {
                fields.extend(self.bytes(8));
            }
            fields.extend(self.end().as_bytes());
        }
        fields
    }

    /// Returns a line end, usually CRLF.
    pub fn end(&mut self) -> &'static str {
        if self.once_in(15) {
            self.one(&["\n", "\r", "\r\r\n", "\n\r", "\0\r\n", "\u{b}\r\n"])
        } else {
            "\r\n"
        }
    }
}
