//! The networks of `trusted_proxies`.

use std::net::IpAddr;

use ipnet::{IpNet, Ipv4Net};
use serde::de::{Error, Unexpected};
use serde::{Deserialize, Deserializer};

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<IpNet>, D::Error> {
    let texts = Vec::<String>::deserialize(deserializer)?;
    let network = |text: &String| {
        parse(text).ok_or_else(|| D::Error::invalid_value(Unexpected::Str(text), &"a network"))
    };
    texts.iter().map(network).collect()
}

/// Parses a network. One of IPv4-mapped addresses (RFC 4291, section 2.5.5.2) becomes one of IPv4, because the addresses
/// that it is compared with do.
fn parse(text: &str) -> Option<IpNet> {
    // `IpNet` reads 010 as 10, others as 8.
    text.split('/').next()?.parse::<IpAddr>().ok()?;
    let network: IpNet = text.parse().ok()?;
    let canonical = match network {
        IpNet::V6(mapped) => mapped.addr().to_ipv4_mapped().zip(mapped.prefix_len().checked_sub(96)),
        IpNet::V4(_) => None,
    };
    Some(
        canonical.and_then(|(address, length)| Ipv4Net::new(address, length).ok()).map_or(network, IpNet::V4),
    )
}

/// Whether each IPv4 or each IPv6 address is in one of the networks.
pub(super) fn cover_everything(networks: &Vec<IpNet>) -> bool {
    IpNet::aggregate(networks).iter().any(|network| network.prefix_len() == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_of_mapped_addresses_are_those_of_ipv4() {
        for (text, expected) in [
            ("10.0.0.0/8", Some("10.0.0.0/8")),
            ("::ffff:10.0.0.0/104", Some("10.0.0.0/8")),
            ("::ffff:0:0/96", Some("0.0.0.0/0")),
            ("::ffff:10.0.0.0/95", Some("::ffff:10.0.0.0/95")),
            ("2001:db8::/32", Some("2001:db8::/32")),
            ("010.0.0.0/8", None),
            ("10.0.0.0", None),
            ("10.0.0.0/33", None),
            ("10.0.0.0/", None),
            ("10.0.0.0/8/8", None),
            ("", None),
        ] {
            assert_eq!(parse(text).map(|network| network.to_string()).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn networks_that_together_have_every_address_cover_everything() {
        for (texts, expected) in [
            (&["0.0.0.0/0"][..], true),
            (&["::/0"], true),
            (&["10.0.0.0/8", "::ffff:0.0.0.0/96"], true),
            (&["0.0.0.0/1", "128.0.0.0/1"], true),
            (&["0.0.0.0/1", "2001:db8::/32"], false),
            (&[], false),
        ] {
            let networks = texts.iter().map(|text| parse(text).unwrap()).collect();
            assert_eq!(cover_everything(&networks), expected, "{texts:?}");
        }
    }
}
