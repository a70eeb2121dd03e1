//! Every response of the deprecated `getPet` has the `Deprecation`, `Sunset` and `Link` headers.

use std::time::Duration;

use animal_store::Deprecation;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use reqwest::Method;

use crate::declared_statuses::wrong_method;
use crate::failing_store::{Fault, Step};
use crate::service::{RequestExt, Service};
use kit::recorder::contract::Contract;
use kit::recorder::wire::Response;

#[track_caller]
fn is_deprecated(response: &Response, status: u16) {
    assert_eq!(response.status, status);
    let sunset = jiff::fmt::rfc2822::parse(response.header("sunset").unwrap()).unwrap();
    assert_eq!(sunset.timestamp(), midnight("x-sunset"));
    let since = midnight("x-deprecated-since").as_second();
    assert_eq!(response.header("deprecation"), Some(&*format!("@{since}")));
    let successor = format!("</v1{}>; rel=\"successor-version\"", keyword("x-successor"));
    assert_eq!(response.header("link"), Some(&*successor));
}

/// Returns the value of a keyword of the operation.
fn keyword(keyword: &str) -> &'static str {
    Contract::get().operation("getPet").object[keyword].as_str().unwrap()
}

fn midnight(name: &str) -> Timestamp {
    keyword(name).parse::<Date>().unwrap().to_zoned(TimeZone::UTC).unwrap().timestamp()
}

#[track_caller]
fn is_not_deprecated(response: &Response, status: u16) {
    assert_eq!(response.status, status);
    assert_eq!((response.header("sunset"), response.header("deprecation")), (None, None));
}

#[tokio::test]
async fn every_response_of_the_operation_has_the_headers() {
    let service = Service::start().await;
    is_deprecated(&service.get("/v1/pets/1").await, 404);
    is_deprecated(&service.get("/v1/pets/rex").await, 404);
    is_deprecated(&service.anonymous(Method::GET, "/v1/pets/1").response().await, 401);
    service.add(1).await;
    is_deprecated(&service.get("/v1/pets/1").await, 200);
    is_deprecated(&service.request(Method::HEAD, "/v1/pets/1").response().await, 200);
    for (fault, status) in [(Fault::Broken, 500), (Fault::Panic, 500), (Fault::Unavailable, 503)] {
        service.store.fail(Step::Read, fault);
        is_deprecated(&service.get("/v1/pets/1").await, status);
    }
    let limited = Service::setup().rate_limit(1, Duration::from_secs(3600)).start().await;
    is_deprecated(&limited.get("/v1/pets/1").await, 404);
    is_deprecated(&limited.get("/v1/pets/1").await, 429);
}

#[tokio::test]
async fn other_responses_do_not_have_the_headers() {
    let service = Service::start().await;
    is_not_deprecated(&service.request(wrong_method("/v1/pets/1"), "/v1/pets/1").response().await, 405);
    is_not_deprecated(&service.get("/v1/pets").await, 200);
    is_not_deprecated(&service.get("/v1/pets?limit=0").await, 400);
    is_not_deprecated(&service.post(serde_json::json!({ "name": "Rex", "categoryId": 1 })).await, 201);
}

#[tokio::test]
async fn the_successor_exists() {
    let service = Service::start().await;
    let link = service.get("/v1/pets/1").await.header("link").unwrap().to_owned();
    let target = link.strip_prefix('<').unwrap().split_once('>').unwrap().0;
    service.get(target).await.expect(200);
}

#[tokio::test]
async fn the_headers_have_the_dates_of_the_document() {
    const OTHER: &[Deprecation] = &[Deprecation {
        operation_id: "getPet",
        since: 1_795_305_600,
        sunset: "Thu, 02 Jan 2031 00:00:00 GMT",
        successor: "/other",
    }];
    let service = Service::setup().deprecations(OTHER).start().await;
    let response = service.get("/v1/pets/1").await;
    assert_eq!(response.header("sunset"), Some("Thu, 02 Jan 2031 00:00:00 GMT"));
    assert_eq!(response.header("deprecation"), Some("@1795305600"));
    assert_eq!(response.header("link"), Some("</v1/other>; rel=\"successor-version\""));
}
