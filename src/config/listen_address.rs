//! The address of a listener, as an operator writes it.

use std::net::SocketAddr;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// `ADDRESS:PORT`, `localhost:PORT` or `PORT`. A port without an address binds to 127.0.0.1, and so does
/// `localhost`. No other name is resolved: it may have several addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "Written")]
pub struct ListenAddress(pub SocketAddr);

impl FromStr for ListenAddress {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let port = text.strip_prefix("localhost:").unwrap_or(text);
        let address = match port.parse() {
            Ok(port) => Ok(SocketAddr::from(([127, 0, 0, 1], port))),
            Err(_) => text.parse(),
        };
        address.map(Self).map_err(|_| "expected an address such as 127.0.0.1:8080, or a port such as 8080")
    }
}

/// How an address is written: a port is a number in TOML and in the environment.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected an address such as 127.0.0.1:8080, or a port such as 8080")]
pub(super) enum Written {
    Port(u16),
    Address(String),
}

impl TryFrom<Written> for ListenAddress {
    type Error = &'static str;

    fn try_from(written: Written) -> Result<Self, Self::Error> {
        match written {
            Written::Port(port) => port.to_string().parse(),
            Written::Address(address) => address.parse(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_may_be_a_port_or_localhost() {
        let address = |text: &str| text.parse().map(|ListenAddress(address)| address.to_string()).ok();
        for (text, expected) in [
            ("8080", Some("127.0.0.1:8080")),
            ("0", Some("127.0.0.1:0")),
            ("localhost:8080", Some("127.0.0.1:8080")),
            ("0.0.0.0:80", Some("0.0.0.0:80")),
            ("[::1]:80", Some("[::1]:80")),
            ("localhost", None),
            ("localhost:127.0.0.1:80", None),
            ("127.0.0.1", None),
            ("example.org:80", None),
            ("65536", None),
            (":80", None),
            ("", None),
        ] {
            assert_eq!(address(text).as_deref(), expected, "{text}");
        }
    }
}
