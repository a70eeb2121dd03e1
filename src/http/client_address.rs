//! The address of a client behind trusted proxies.
//!
//! A proxy appends the address of its own client to `X-Forwarded-For` or `Forwarded` (RFC 7239). What a proxy
//! did not append, a client can forge. So the addresses are read from the right, from the peer of the
//! connection on, for as long as each one belongs to a trusted proxy. The first one that does not is the
//! client; so is the last valid one before a malformed value.
//!
//! A client can also send the header that its proxy does not know, and the proxy passes it on. So only one of them is
//! read.

use std::net::{IpAddr, SocketAddr};
use std::sync::Once;

use http::HeaderMap;
use http::header::{FORWARDED, HeaderName};
use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use slog::{Logger, warn};

pub(crate) const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The proxies that report the addresses of their clients.
#[derive(Clone, Debug, Default)]
pub struct TrustedProxies {
    /// Their networks. IPv4 is not written as IPv6.
    pub networks: Vec<IpNet>,
    /// The header to which they append.
    pub header: AddressHeader,
}

/// A header with client addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub enum AddressHeader {
    /// The header of most proxies.
    #[default]
    #[serde(rename = "X-Forwarded-For", alias = "x-forwarded-for")]
    XForwardedFor,
    /// That of RFC 7239.
    #[serde(alias = "forwarded")]
    Forwarded,
}

impl AddressHeader {
    const fn name(self) -> HeaderName {
        match self {
            Self::XForwardedFor => X_FORWARDED_FOR,
            Self::Forwarded => FORWARDED,
        }
    }

    fn parse(self, element: &str) -> Option<IpAddr> {
        match self {
            Self::XForwardedFor => node(element),
            Self::Forwarded => forwarded_for(element),
        }
    }
}

impl TrustedProxies {
    fn contain(&self, address: IpAddr) -> bool {
        self.networks.iter().any(|network| network.contains(&address))
    }

    /// Reads the addresses of the header from the right, where `peer`, a proxy, appended one.
    fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let mut client = peer;
        // Not every iterator over the values of a header can be reversed.
        let lines = headers.get_all(self.header.name()).iter();
        let lines: Vec<_> = lines.map(|value| value.to_str().unwrap_or_default()).collect();
        // A comma in a quoted string is not respected: a client that opens a quote could hide what proxies append.
        for element in lines.iter().rev().flat_map(|line| line.rsplit(',')) {
            let Some(address) = self.header.parse(element.trim()) else { break };
            client = address.to_canonical();
            if !self.contain(client) {
                break;
            }
        }
        client
    }
}

/// Determines the addresses of clients, and warns once of a header that it ignores.
pub struct ClientAddresses {
    proxies: TrustedProxies,
    warning: Once,
    log: Logger,
}

impl ClientAddresses {
    /// Creates one that logs its warning to `log`.
    pub fn new(proxies: TrustedProxies, log: Logger) -> Self {
        Self { proxies, warning: Once::new(), log }
    }

    /// Returns the address of the client whose request arrived from `peer`: what its headers say if `peer` is a trusted
    /// proxy, else `peer`.
    pub fn of(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let peer = peer.to_canonical();
        let trusted = self.proxies.contain(peer);
        if trusted && headers.contains_key(self.proxies.header.name()) {
            return self.proxies.client(peer, headers);
        }
        let ignored = || [X_FORWARDED_FOR, FORWARDED].into_iter().find(|name| headers.contains_key(name));
        if !self.warning.is_completed()
            && let Some(ignored) = ignored()
        {
            self.warning.call_once(|| self.warn(&ignored, peer, trusted));
        }
        peer
    }

    fn warn(&self, ignored: &HeaderName, peer: IpAddr, trusted: bool) {
        let reason = match trusted {
            true => format!("`client_address_header` is {}", self.proxies.header.name()),
            false => "it is not in `trusted_proxies`".to_owned(),
        };
        warn!(
            self.log,
            "ignored `{}` from {}, because {}; if that is a proxy, change the setting, or all of its clients count as \
             one (logged once)",
            ignored,
            peer,
            reason
        );
    }
}

/// Returns the address in the only `for` of an element such as `for="[2001:db8::1]:4711";proto=https`.
fn forwarded_for(element: &str) -> Option<IpAddr> {
    let pairs = element.split(';').filter_map(|pair| pair.split_once('='));
    let mut values = pairs.filter(|(name, _)| name.trim().eq_ignore_ascii_case("for"));
    let (Some((_, value)), None) = (values.next(), values.next()) else { return None };
    let value = value.trim();
    match value.strip_prefix('"') {
        Some(quoted) => node(quoted.strip_suffix('"')?),
        None => node(value),
    }
}

/// Returns the address of a node: IPv4, or IPv6 with or without brackets, each with or without a port; `None`
/// for `unknown` and for a name that hides an address (RFC 7239, section 6.3).
fn node(text: &str) -> Option<IpAddr> {
    let bracketed = || text.strip_prefix('[')?.strip_suffix(']')?.parse().ok().map(IpAddr::V6);
    let with_port = || text.parse::<SocketAddr>().ok().map(|address| address.ip());
    text.parse().ok().or_else(bracketed).or_else(with_port)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use proptest::prelude::*;

    use super::*;

    /// The proxies of these tests.
    fn trusted() -> Vec<IpNet> {
        ["10.0.0.0/8", "2001:db8:1::/48"].map(|network| network.parse().unwrap()).to_vec()
    }

    /// Returns the client of a request with these headers. The first of them is the one that the proxies use.
    fn client(peer: &str, lines: &[(&'static str, &str)]) -> String {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, HeaderValue::from_str(value).unwrap());
        }
        let header = match lines.first() {
            Some(("forwarded", _)) => AddressHeader::Forwarded,
            _ => AddressHeader::XForwardedFor,
        };
        let proxies = TrustedProxies { networks: trusted(), header };
        ClientAddresses::new(proxies, Logger::root(slog::Discard, slog::o!()))
            .of(peer.parse().unwrap(), &headers)
            .to_string()
    }

    #[test]
    fn headers_of_an_untrusted_peer_are_ignored() {
        assert_eq!(client("192.0.2.1", &[("forwarded", "for=198.51.100.7")]), "192.0.2.1");
        assert_eq!(client("192.0.2.1", &[("x-forwarded-for", "198.51.100.7")]), "192.0.2.1");
        assert_eq!(client("::ffff:192.0.2.1", &[]), "192.0.2.1");
        assert_eq!(client("10.0.0.1", &[]), "10.0.0.1");
    }

    #[test]
    fn the_first_untrusted_address_from_the_right_is_the_client() {
        for (value, expected) in [
            ("for=198.51.100.7", "198.51.100.7"),
            ("For=198.51.100.7;proto=https;by=10.0.0.1", "198.51.100.7"),
            ("proto=https; for = \"198.51.100.7:4711\"", "198.51.100.7"),
            ("for=\"[2001:db8::7]\"", "2001:db8::7"),
            ("for=\"[2001:db8::7]:4711\"", "2001:db8::7"),
            ("for=192.0.2.66, for=198.51.100.7, for=10.0.0.2", "198.51.100.7"),
            ("for=198.51.100.7,for=\"[2001:db8:1::5]\",for=10.0.0.2", "198.51.100.7"),
            // Only proxies.
            ("for=10.0.0.3, for=10.0.0.2", "10.0.0.3"),
        ] {
            assert_eq!(client("10.0.0.1", &[("forwarded", value)]), expected, "{value}");
            assert_eq!(client("::ffff:10.0.0.1", &[("forwarded", value)]), expected, "{value}");
        }
        for (value, expected) in [
            ("198.51.100.7", "198.51.100.7"),
            ("192.0.2.66, 198.51.100.7,10.0.0.2", "198.51.100.7"),
            ("2001:db8::7", "2001:db8::7"),
            ("[2001:db8::7]:4711", "2001:db8::7"),
            ("198.51.100.7:4711", "198.51.100.7"),
            ("::ffff:198.51.100.7", "198.51.100.7"),
        ] {
            assert_eq!(client("10.0.0.1", &[("x-forwarded-for", value)]), expected, "{value}");
        }
        let lines = [("x-forwarded-for", "192.0.2.66"), ("x-forwarded-for", "198.51.100.7")];
        assert_eq!(client("10.0.0.1", &lines), "198.51.100.7");
    }

    #[test]
    fn a_malformed_value_ends_at_the_last_valid_address() {
        for value in [
            "unknown",
            "_hidden",
            "",
            "198.51.100.7;for=198.51.100.8",
            "\"198.51.100.7",
            "198.51.100",
            "\\\"a",
        ] {
            let line = format!("for=192.0.2.66, for={value}, for=10.0.0.2");
            assert_eq!(client("10.0.0.1", &[("forwarded", &line)]), "10.0.0.2", "{line}");
        }
        for value in ["unknown", "", "a, ,", "198.51.100.7:x", "for=198.51.100.7"] {
            assert_eq!(client("10.0.0.1", &[("x-forwarded-for", value)]), "10.0.0.1", "{value}");
        }
        assert_eq!(client("10.0.0.1", &[("forwarded", "by=10.0.0.1;proto=https")]), "10.0.0.1");
        // A quote that a client opened does not hide what its proxy appended.
        assert_eq!(client("10.0.0.1", &[("forwarded", "for=\"x, for=198.51.100.7")]), "198.51.100.7");
    }

    #[test]
    fn only_the_header_of_the_proxies_is_read() {
        let (forwarded, x_forwarded_for) =
            (("forwarded", "for=198.51.100.7"), ("x-forwarded-for", "192.0.2.66"));
        assert_eq!(client("10.0.0.1", &[forwarded, x_forwarded_for]), "198.51.100.7");
        assert_eq!(client("10.0.0.1", &[x_forwarded_for, forwarded]), "192.0.2.66");
    }

    proptest! {
        #[test]
        fn no_header_changes_the_address_behind_the_one_that_a_proxy_appended(forged in "[ -~]{0,80}") {
            for (name, appended) in [("forwarded", "for=198.51.100.7"), ("x-forwarded-for", "198.51.100.7")] {
                prop_assert_eq!(client("10.0.0.1", &[(name, &format!("{forged}, {appended}"))]), "198.51.100.7");
                prop_assert_eq!(client("10.0.0.1", &[(name, &forged), (name, appended)]), "198.51.100.7");
            }
        }
    }
}
