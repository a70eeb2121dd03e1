//! The pages of the documentation, which need no key.

use animal_store::DocumentFile;
use reqwest::Method;

use crate::service::{RequestExt, Service};
use kit::recorder::wire::Response;

/// Returns the addresses of the pages and the files that they load, with the files.
fn pages() -> impl Iterator<Item = (String, &'static DocumentFile)> {
    let files = animal_store::DOCUMENT.unwrap().files.iter();
    let pages = files.filter(|file| !file.path.starts_with("openapi") && file.path != "missing.html");
    pages.map(|file| match file.path {
        "index.html" => ("/docs".to_owned(), file),
        path => (format!("/{path}"), file),
    })
}

/// Returns those of them that are HTML, with their contents.
fn html() -> impl Iterator<Item = (String, &'static str)> {
    let html = pages().filter(|(target, _)| target == "/docs" || target.ends_with(".html"));
    html.map(|(target, file)| (target, std::str::from_utf8(file.content).unwrap()))
}

const HTML: &str = "text/html; charset=utf-8";
const IMMUTABLE: &str = "public, max-age=31536000, immutable";

async fn fetch(service: &Service, target: &str) -> Response {
    let response = service.anonymous(Method::GET, target).response().await;
    assert_eq!(response.status, 200, "{target}");
    response
}

#[tokio::test]
async fn all_are_served_without_a_key_and_for_this_host_only() {
    let service = Service::start().await;
    let mut seen = Vec::new();
    for (target, file) in pages() {
        let page = fetch(&service, &target).await;
        assert!(page.body == file.content, "{target}");
        let extension = target.rsplit('.').next().unwrap();
        let (kind, cached) = match extension {
            "css" => ("text/css; charset=utf-8", IMMUTABLE),
            "js" => ("text/javascript; charset=utf-8", IMMUTABLE),
            "png" => ("image/png", IMMUTABLE),
            "json" => ("application/json", IMMUTABLE),
            "atom" => ("application/atom+xml; charset=utf-8", "no-cache"),
            "go" | "py" | "rs" | "ts" => ("text/plain; charset=utf-8", "no-cache"),
            _ => (HTML, "no-cache"),
        };
        assert_eq!(page.header("content-type"), Some(kind), "{target}");
        assert_eq!(page.header("cache-control"), Some(cached), "{target}");
        assert_eq!(page.header("access-control-allow-origin"), None, "{target}");
        if kind == HTML {
            let policy = page.header("content-security-policy").unwrap();
            for part in
                ["default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"]
            {
                assert!(policy.contains(part), "{target}: {policy}");
            }
            assert!(!policy.contains("unsafe") && !policy.contains("http"), "{target}: {policy}");
            assert!(!page.text().contains(" style=") && !page.text().contains(" onclick="), "{target}");
        }
        seen.push(target);
    }
    for target in
        ["/docs", "/docs/try.html", "/docs/changelog.html", "/docs/files.html", "/docs/clients.html"]
    {
        assert!(seen.iter().any(|known| known == target), "{target} is not one of {seen:?}");
    }
}

#[tokio::test]
async fn pages_are_the_same_under_every_address() {
    let service = Service::start().await;
    for target in ["/docs", "/docs/1.0.0.html", "/docs/clients.html"] {
        let page = fetch(&service, target).await;
        // Its script replaces this by the address that the reader uses.
        assert!(page.text().contains("https://this-service.invalid/v1"), "{target}");
        let request = service.anonymous(Method::GET, target).header("host", "animals.example.com");
        let other = request.header("x-forwarded-proto", "https").response().await;
        assert!(other.body == page.body && other.header("etag") == page.header("etag"), "{target}");
    }
}

#[tokio::test]
async fn readers_get_a_page_for_other_paths_and_programs_an_error() {
    let service = Service::start().await;
    let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    for target in ["/docs/nothing.html", "/nothing", "/docs/1.0.0.htm"] {
        let request = service.anonymous(Method::GET, target).header("accept", browser);
        let page = request.response().await;
        assert_eq!((page.status, page.header("content-type")), (404, Some(HTML)), "{target}");
        assert_eq!(page.header("vary"), Some("accept, accept-encoding"));
        // Its links must work at any path.
        let links = page.text().split("href=\"").skip(1).filter(|link| !link.starts_with(['/', '#'])).count();
        assert!(page.text().contains("href=\"/docs\"") && links == 0, "{}", page.text());
        let program = service.anonymous(Method::GET, target).header("accept", "*/*").response().await;
        program.expect_error(404, "not_found");
        let request = service.anonymous(Method::POST, target).header("accept", browser);
        request.response().await.expect_error(404, "not_found");
    }
    let request = service.request(Method::GET, "/v1/nothing").header("accept", browser);
    request.response().await.expect_error(404, "not_found");
}

#[tokio::test]
async fn all_links_lead_to_files_of_the_service() {
    let service = Service::start().await;
    let origin = reqwest::Url::parse("http://service").unwrap();
    let mut targets = std::collections::BTreeSet::new();
    for (target, content) in html() {
        let page = origin.join(&target).unwrap();
        for attribute in ["href=\"", "src=\"", "data-document=\"", "data-search=\""] {
            let values = content.split(attribute).skip(1).filter_map(|rest| rest.split('"').next());
            let links =
                values.map(|value| page.join(value).unwrap()).filter(|link| link.host() == origin.host());
            targets.extend(links.map(|link| link.path().to_owned()));
        }
    }
    assert!(targets.len() > 20, "{targets:?}");
    // The name of the first page on other servers redirects.
    assert!(targets.remove("/"));
    for target in targets {
        assert!(!fetch(&service, &target).await.body.is_empty());
    }
}

#[tokio::test]
async fn the_first_page_shows_the_document_as_text() {
    let service = Service::start().await;
    let page = fetch(&service, "/docs").await;
    assert_eq!(page.text().matches("<script").count(), page.text().matches("<script src=").count());
    let document = fetch(&service, "/openapi.json").await.json();
    let items = document["paths"].as_object().unwrap().values();
    let operations: Vec<_> = items.flat_map(|item| item.as_object().unwrap().values()).collect();
    assert!(operations.len() >= 3);
    for operation in operations {
        let id = operation["operationId"].as_str().unwrap();
        assert!(page.text().contains(&format!("id=\"operation-{id}\"")), "{id}");
        for status in operation["responses"].as_object().unwrap().keys() {
            assert!(page.text().contains(&format!("<strong>{status}</strong>")), "{status} of {id}");
        }
    }
    let bounds = |pointer: &str, keywords: [&str; 2]| {
        let schema = document.pointer(pointer).unwrap();
        format!("{} to {}", schema[keywords[0]], schema[keywords[1]])
    };
    let limit = bounds("/paths/~1pets/get/parameters/0/schema", ["minimum", "maximum"]);
    let name = bounds("/components/schemas/NewPet/properties/name", ["minLength", "maxLength"]);
    for bound in [limit, format!("{name} characters"), "integer (int64)".to_owned()] {
        assert!(page.text().contains(&bound), "{bound}");
    }
}

#[tokio::test]
async fn the_changes_of_a_release_never_change_and_the_checksums_do() {
    let service = Service::start().await;
    let changes = fetch(&service, "/openapi/1.1.0.changes.json").await;
    assert_eq!(changes.header("content-type"), Some("application/json"));
    assert_eq!(changes.header("cache-control"), Some("public, max-age=31536000, immutable"));
    let sums = fetch(&service, "/openapi/SHA256SUMS").await;
    assert_eq!(sums.header("content-type"), Some("text/plain; charset=utf-8"));
    assert_eq!(sums.header("cache-control"), Some("no-cache"));
    assert!(sums.text().contains("  1.1.0.changes.json\n"), "{}", sums.text());
}
