//! The published document, which needs no key.

use std::collections::BTreeSet;
use std::io::Read as _;

use ::document as yaml;
use animal_store::http::BASE_PATH;
use flate2::read::GzDecoder;
use reqwest::Method;

use crate::service::{DOCUMENT, RequestExt, Service};
use kit::recorder::contract::Contract;
use kit::recorder::wire::Response;

async fn fetch(service: &Service, target: &str) -> Response {
    let response = service.anonymous(Method::GET, target).response().await;
    assert_eq!(response.status, 200, "{target}");
    response
}

#[tokio::test]
async fn the_document_is_served_byte_for_byte_without_a_key() {
    let service = Service::start().await;
    let response = fetch(&service, "/openapi.yaml").await;
    assert_eq!(response.text(), DOCUMENT);
    assert_eq!(response.header("content-type"), Some("application/yaml"));
}

#[tokio::test]
async fn the_document_is_served_as_json_with_the_same_content() {
    let service = Service::start().await;
    let response = fetch(&service, "/openapi.json").await;
    assert_eq!(response.json(), yaml::read(DOCUMENT).unwrap().to_json());
    assert_eq!(response.header("content-type"), Some("application/json"));
}

#[tokio::test]
async fn the_document_is_openapi_3_0_3() {
    let service = Service::start().await;
    assert_eq!(fetch(&service, "/openapi.json").await.json()["openapi"], "3.0.3");
}

#[tokio::test]
async fn every_server_serves_the_base_path() {
    assert_eq!(Contract::get().base_path, BASE_PATH);
}

#[tokio::test]
async fn the_document_has_a_strong_etag_that_stays_the_same() {
    let (service, other) = (Service::start().await, Service::start().await);
    for target in ["/openapi.yaml", "/openapi.json"] {
        let response = fetch(&service, target).await;
        let etag = response.header("etag").unwrap();
        assert!(etag.starts_with('"') && etag.ends_with('"') && etag.len() > 2, "{etag}");
        assert_eq!(fetch(&other, target).await.header("etag"), Some(etag));
    }
}

#[tokio::test]
async fn the_yaml_and_the_json_have_etags_of_their_own() {
    let service = Service::start().await;
    let (yaml, json) = (fetch(&service, "/openapi.yaml").await, fetch(&service, "/openapi.json").await);
    assert_ne!(yaml.header("etag"), json.header("etag"));
}

async fn revalidate(service: &Service, condition: &str) -> Response {
    let request = service.anonymous(Method::GET, "/openapi.yaml");
    request.header("if-none-match", condition).response().await
}

#[tokio::test]
async fn a_matching_etag_gets_304() {
    let service = Service::start().await;
    let etag = fetch(&service, "/openapi.yaml").await.header("etag").unwrap().to_owned();
    for condition in [etag.clone(), format!("W/{etag}"), format!("\"other\", {etag}"), "*".to_owned()] {
        let response = revalidate(&service, &condition).await;
        assert_eq!((response.status, response.body.len()), (304, 0), "{condition}");
        assert_eq!(response.header("etag"), Some(&*etag));
    }
}

#[tokio::test]
async fn another_etag_gets_the_document() {
    let service = Service::start().await;
    let response = revalidate(&service, "\"other\"").await;
    assert_eq!((response.status, response.text()), (200, DOCUMENT));
}

#[tokio::test]
async fn pages_of_other_origins_may_read_the_document() {
    let service = Service::start().await;
    for target in ["/openapi.yaml", "/openapi.json"] {
        let request = service.anonymous(Method::GET, target).header("origin", "https://tools.example");
        assert_eq!(request.response().await.header("access-control-allow-origin"), Some("*"));
    }
}

#[tokio::test]
async fn pages_of_other_origins_may_not_read_animals() {
    let service = Service::start().await;
    let request = service.request(Method::GET, "/v1/pets").header("origin", "https://tools.example");
    assert_eq!(request.response().await.header("access-control-allow-origin"), None);
}

/// Returns the content that a client with this `Accept-Encoding` reads, and the response.
async fn decoded(service: &Service, target: &str, accepted: &str) -> (Vec<u8>, Response) {
    let request = service.anonymous(Method::GET, target).header("accept-encoding", accepted);
    let response = request.response().await;
    assert_eq!((response.status, response.header("vary")), (200, Some("accept-encoding")), "{target}");
    let mut content = Vec::new();
    match response.header("content-encoding") {
        None => content.clone_from(&response.body.to_vec()),
        Some("gzip") => drop(GzDecoder::new(&*response.body).read_to_end(&mut content).unwrap()),
        Some(other) => panic!("{other}"),
    }
    (content, response)
}

#[tokio::test]
async fn each_file_is_the_same_in_all_codings_and_has_an_etag_in_each() {
    let service = Service::start().await;
    for file in animal_store::DOCUMENT.unwrap().files {
        let target = if file.path == "index.html" { "/docs".to_owned() } else { format!("/{}", file.path) };
        if file.path == "missing.html" {
            continue;
        }
        let mut etags = BTreeSet::new();
        let mut codings = BTreeSet::new();
        for accepted in ["identity", "gzip, deflate, br, zstd"] {
            let (content, response) = decoded(&service, &target, accepted).await;
            assert!(content == file.content, "{target}: {accepted}");
            etags.extend(response.header("etag").map(str::to_owned));
            codings.insert(response.header("content-encoding").map(str::to_owned));
            let etag = response.header("etag").unwrap();
            let again = service.anonymous(Method::GET, &target).header("accept-encoding", accepted);
            let again = again.header("if-none-match", etag).response().await;
            assert_eq!((again.status, again.header("vary")), (304, Some("accept-encoding")), "{target}");
            assert_eq!((again.header("etag"), again.header("content-encoding")), (Some(etag), None));
        }
        assert_eq!(etags.len(), codings.len(), "{target}");
        assert!(codings.len() == 2 || file.path.ends_with(".png") || file.content.len() < 1000, "{target}");
    }
}

#[tokio::test]
async fn the_first_page_and_what_it_loads_are_small() {
    let service = Service::start().await;
    let (page, response) = decoded(&service, "/docs", "gzip").await;
    let page = String::from_utf8(page).unwrap();
    let loaded = page.split('"').filter(|value| value.starts_with("docs/"));
    let is_loaded = |path: &&str| [".css", ".js", ".json"].iter().any(|extension| path.ends_with(extension));
    let loaded: BTreeSet<&str> = loaded.filter(is_loaded).collect();
    assert!(loaded.len() >= 4, "{loaded:?}");
    let mut bytes = response.body.len();
    for path in loaded {
        bytes += decoded(&service, &format!("/{path}"), "gzip").await.1.body.len();
    }
    assert!(bytes < 120_000, "{bytes} bytes");
}

#[tokio::test]
async fn head_of_a_file_is_like_get() {
    let service = Service::start().await;
    for target in ["/openapi.yaml", "/docs", "/docs/try.html", "/docs/releases.atom"] {
        let get = fetch(&service, target).await;
        let mut raw = service.raw().await;
        raw.head_without_key(&format!("HEAD {target}"), "").await;
        let head = raw.response().await;
        assert_eq!((head.status, head.body.len()), (200, 0), "{target}");
        for name in ["etag", "content-type", "content-length", "content-security-policy"] {
            assert_eq!(head.header(name), get.header(name), "{target}: {name}");
        }
    }
}

#[tokio::test]
async fn head_with_a_matching_etag_has_no_content_length() {
    let service = Service::start().await;
    let mut raw = service.raw().await;
    raw.head_without_key("HEAD /openapi.yaml", "If-None-Match: *\r\n").await;
    let head = raw.response().await;
    assert_eq!((head.status, head.header("content-length")), (304, None));
}

/// RFC 9110, section 13.1.1 and the order of section 13.2.2.
#[tokio::test]
async fn a_file_is_sent_only_if_it_is_the_expected_one() {
    let service = Service::start().await;
    let etag = fetch(&service, "/openapi.yaml").await.header("etag").unwrap().to_owned();
    for (fields, status) in [
        (format!("If-Match: {etag}\r\n"), 200),
        (format!("If-Match: \"other\", {etag}\r\n"), 200),
        ("If-Match: *\r\n".to_owned(), 200),
        ("If-Match: \"other\"\r\n".to_owned(), 412),
        (format!("If-Match: W/{etag}\r\n"), 412),
        (format!("If-Match: \"other\"\r\nIf-None-Match: {etag}\r\n"), 412),
        (format!("If-Match: {etag}\r\nIf-None-Match: W/{etag}\r\n"), 304),
    ] {
        let mut raw = service.raw().await;
        raw.head_without_key("GET /openapi.yaml", &fields).await;
        assert_eq!(raw.response().await.status, status, "{fields}");
    }
}

#[tokio::test]
async fn the_document_cannot_be_changed() {
    let service = Service::start().await;
    for method in [Method::PUT, Method::POST, Method::DELETE, Method::PATCH] {
        let response = service.request(method, "/openapi.yaml").response().await;
        response.expect_error(405, "method_not_allowed");
        assert_eq!(response.header("allow"), Some("GET, HEAD"));
    }
}

#[tokio::test]
async fn the_document_has_one_path_and_is_not_part_of_the_contract() {
    let service = Service::start().await;
    for target in ["/v1/openapi.yaml", "/openapi", "/openapi.yml", "/openapi.yaml/", "/Openapi.yaml"] {
        service.get(target).await.expect_error(404, "not_found");
    }
}

#[tokio::test]
async fn the_root_and_the_directory_redirect_to_the_page() {
    let service = Service::start().await;
    for line in ["GET /", "HEAD /", "GET /?x=1", "HEAD /?x=1", "GET /docs/", "HEAD /docs/"] {
        let mut raw = service.raw().await;
        raw.head_without_key(line, "").await;
        let response = raw.response().await;
        assert_eq!((response.status, response.header("location")), (303, Some("/docs")), "{line}");
        assert_eq!(response.header("content-length"), Some("0"), "{line}");
    }
    for method in [Method::PUT, Method::POST, Method::DELETE, Method::PATCH, Method::OPTIONS] {
        let response = service.request(method, "/").response().await;
        response.expect_error(405, "method_not_allowed");
        assert_eq!(response.header("allow"), Some("GET, HEAD"));
    }
    for target in ["//", "/%2f", "/."] {
        let mut raw = service.raw().await;
        raw.head(&format!("GET {target}"), "").await;
        assert!((400..=404).contains(&raw.response().await.status), "{target}");
    }
    assert!(service.log.text().contains("http.response.status_code: 303"), "{}", service.log.text());
}

#[tokio::test]
async fn other_files_below_the_page_are_not_found() {
    let service = Service::start().await;
    for target in ["/docs//", "/docs/nothing.js", "/docs/%2e%2e%2fCargo.toml", "/docs/index.html"] {
        let mut raw = service.raw().await;
        raw.head(&format!("GET {target}"), "").await;
        assert!((400..=404).contains(&raw.response().await.status), "{target}");
    }
}
