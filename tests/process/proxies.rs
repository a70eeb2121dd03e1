//! Client addresses behind proxies: which header counts, and warnings about settings that let clients choose theirs.

use reqwest::Method;
use rustix::process::Signal;
use serde_json::Value;

use crate::program::WorkDir;
use crate::recorder::request::RequestExt as _;

/// A header of a request and its value.
type Header = (&'static str, &'static str);

/// Sends requests to a service with these settings. Returns the client address of each in the log, and the warnings.
async fn addresses(settings: &str, requests: &[&[Header]]) -> (Vec<String>, Vec<String>) {
    let directory = WorkDir::new();
    directory.write("store.toml", format!("{settings}\n[log]\nformat = 'json'\n"));
    let key = directory.key().await;
    let mut service = directory.serve(&["--config", "store.toml"]).await;
    for headers in requests {
        let mut request = service.request(Method::GET, &key, "/v1/pets");
        for (name, value) in *headers {
            request = request.header(*name, *value);
        }
        request.response().await.expect(200);
    }
    service.signal(Signal::TERM);
    service.exit().await;
    let log = service.log();
    let records: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let responses = records.iter().filter(|record| record["body"] == "response");
    let clients = responses.map(|record| text(&record["client.address"]));
    let warnings = records.iter().filter(|record| record["severity_text"] == "WARN");
    // On a slow disk, the use of the key may still be written at the end.
    let warnings = warnings.filter(|record| record["body"] != "the store did not close in time");
    (clients.collect(), warnings.map(|record| text(&record["body"])).collect())
}

#[tokio::test]
async fn a_client_does_not_hide_its_address_with_a_header_that_its_proxy_does_not_know() {
    let (proxy, client) = (("x-forwarded-for", "198.51.100.7"), ("forwarded", "for=192.0.2.66"));
    let (clients, warnings) = addresses("trusted_proxies = ['127.0.0.0/8']", &[&[proxy, client]]).await;
    assert_eq!((clients, warnings), (vec!["198.51.100.7".to_owned()], vec![]));
    let settings = "trusted_proxies = ['127.0.0.0/8']\nclient_address_header = 'Forwarded'";
    let (clients, warnings) = addresses(settings, &[&[client, proxy]]).await;
    assert_eq!((clients, warnings), (vec!["192.0.2.66".to_owned()], vec![]));
}

#[tokio::test]
async fn an_address_that_is_ignored_is_warned_about_once() {
    let x_forwarded_for: &[Header] = &[("x-forwarded-for", "198.51.100.7")];
    let forwarded: &[Header] = &[("forwarded", "for=198.51.100.7")];
    for (settings, headers, expected) in [
        (
            "",
            x_forwarded_for,
            "ignored `x-forwarded-for` from 127.0.0.1, because it is not in `trusted_proxies`",
        ),
        ("", forwarded, "ignored `forwarded` from 127.0.0.1, because it is not in `trusted_proxies`"),
        (
            "trusted_proxies = ['127.0.0.0/8']",
            forwarded,
            "ignored `forwarded` from 127.0.0.1, because `client_address_header` is x-forwarded-for",
        ),
    ] {
        let (clients, warnings) = addresses(settings, &[&[], headers, headers]).await;
        assert_eq!(clients, ["127.0.0.1"; 3]);
        assert!(matches!(&*warnings, [only] if only.starts_with(expected)), "{settings}: {warnings:?}");
    }
}

#[tokio::test]
async fn networks_with_every_address_are_warned_about() {
    let directory = WorkDir::new();
    for networks in ["['0.0.0.0/0']", "['10.0.0.0/8', '::/0']", "['0.0.0.0/1', '128.0.0.0/1']"] {
        directory.write("store.toml", format!("trusted_proxies = {networks}\n"));
        for command in ["config", "check-config"] {
            let finished = directory.run(&[command, "--config", "store.toml"]).await;
            let expected =
                "warning: `trusted_proxies` in store.toml, line 1: the networks contain every address";
            assert!(
                finished.code == Some(0) && finished.stderr.starts_with(expected),
                "{networks}: {}",
                finished.stderr
            );
        }
    }
    let (_, warnings) = addresses("trusted_proxies = ['0.0.0.0/0']", &[]).await;
    assert!(warnings[0].starts_with("`trusted_proxies` in store.toml, line 1: "), "{warnings:?}");
}
