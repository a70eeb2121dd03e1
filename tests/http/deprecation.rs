//! `getPet` is deprecated, and every answer of it says so.

use std::time::Duration;

use animal_store::document::Deprecation;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use reqwest::Method;

use crate::faulty::{Fault, Step};
use crate::provocations::wrong_method;
use crate::recorder::contract::Contract;
use crate::recorder::wire::Response;
use crate::service::{Ask, Service};

#[track_caller]
fn is_deprecated(answer: &Response, status: u16) {
    assert_eq!(answer.status, status);
    let sunset = jiff::fmt::rfc2822::parse(answer.header("sunset").unwrap()).unwrap();
    assert_eq!(sunset.timestamp(), midnight("x-sunset"));
    let since = midnight("x-deprecated-since").as_second();
    assert_eq!(answer.header("deprecation"), Some(&*format!("@{since}")));
    let successor = format!("</v1{}>; rel=\"successor-version\"", keyword("x-successor"));
    assert_eq!(answer.header("link"), Some(&*successor));
}

/// What the document gives the operation for this keyword.
fn keyword(keyword: &str) -> &'static str {
    Contract::get().operation("getPet").object[keyword].as_str().unwrap()
}

fn midnight(word: &str) -> Timestamp {
    keyword(word).parse::<Date>().unwrap().to_zoned(TimeZone::UTC).unwrap().timestamp()
}

#[track_caller]
fn is_not_deprecated(answer: &Response, status: u16) {
    assert_eq!(answer.status, status);
    assert_eq!((answer.header("sunset"), answer.header("deprecation")), (None, None));
}

#[tokio::test]
async fn a_response_with_an_animal_is_deprecated() {
    let service = Service::start().await;
    service.add(1).await;
    is_deprecated(&service.get("/v1/pets/1").await, 200);
}

#[tokio::test]
async fn a_response_to_head_is_deprecated() {
    let service = Service::start().await;
    service.add(1).await;
    is_deprecated(&service.request(Method::HEAD, "/v1/pets/1").answer().await, 200);
}

#[tokio::test]
async fn a_response_for_a_missing_animal_is_deprecated() {
    let service = Service::start().await;
    is_deprecated(&service.get("/v1/pets/1").await, 404);
}

#[tokio::test]
async fn a_response_for_an_invalid_identifier_is_deprecated() {
    let service = Service::start().await;
    is_deprecated(&service.get("/v1/pets/rex").await, 404);
}

#[tokio::test]
async fn a_response_for_a_missing_key_is_deprecated() {
    let service = Service::start().await;
    is_deprecated(&service.anonymous(Method::GET, "/v1/pets/1").answer().await, 401);
}

#[tokio::test]
async fn a_rate_limited_response_is_deprecated() {
    let service = Service::setup().rate_limit(1, Duration::from_secs(3600)).start().await;
    is_deprecated(&service.get("/v1/pets/1").await, 404);
    is_deprecated(&service.get("/v1/pets/1").await, 429);
}

#[tokio::test]
async fn a_response_for_a_broken_store_is_deprecated() {
    let service = Service::start().await;
    service.store.fail(Step::Pet, Fault::Broken);
    is_deprecated(&service.get("/v1/pets/1").await, 500);
}

#[tokio::test]
async fn a_response_after_a_panic_is_deprecated() {
    let service = Service::start().await;
    service.store.fail(Step::Pet, Fault::Panic);
    is_deprecated(&service.get("/v1/pets/1").await, 500);
}

#[tokio::test]
async fn a_response_for_an_unavailable_store_is_deprecated() {
    let service = Service::start().await;
    service.store.fail(Step::Pet, Fault::Unavailable);
    is_deprecated(&service.get("/v1/pets/1").await, 503);
}

#[tokio::test]
async fn another_method_at_an_animal_is_not_deprecated() {
    let service = Service::start().await;
    is_not_deprecated(&service.request(wrong_method("/v1/pets/1"), "/v1/pets/1").answer().await, 405);
}

#[tokio::test]
async fn the_list_is_not_deprecated() {
    let service = Service::start().await;
    is_not_deprecated(&service.get("/v1/pets").await, 200);
    is_not_deprecated(&service.get("/v1/pets?limit=0").await, 400);
}

#[tokio::test]
async fn adding_is_not_deprecated() {
    let service = Service::start().await;
    is_not_deprecated(&service.post(serde_json::json!({ "name": "Rex", "categoryId": 1 })).await, 201);
}

#[tokio::test]
async fn the_successor_is_there() {
    let service = Service::start().await;
    let link = service.get("/v1/pets/1").await.header("link").unwrap().to_owned();
    let target = link.strip_prefix('<').unwrap().split_once('>').unwrap().0;
    service.get(target).await.expect(200);
}

#[tokio::test]
async fn the_headers_are_those_of_the_document() {
    const OTHER: &[Deprecation] = &[Deprecation {
        operation_id: "getPet",
        since: 1_795_305_600,
        sunset: "Thu, 02 Jan 2031 00:00:00 GMT",
        successor: "/other",
    }];
    let service = Service::setup().deprecations(OTHER).start().await;
    let answer = service.get("/v1/pets/1").await;
    assert_eq!(answer.header("sunset"), Some("Thu, 02 Jan 2031 00:00:00 GMT"));
    assert_eq!(answer.header("deprecation"), Some("@1795305600"));
    assert_eq!(answer.header("link"), Some("</v1/other>; rel=\"successor-version\""));
}
