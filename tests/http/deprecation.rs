//! `getPet` is deprecated, and every answer of it says so.

use std::time::Duration;

use reqwest::Method;

use crate::faulty::{Fault, Step};
use crate::recorder::contract::Contract;
use crate::recorder::wire::Response;
use crate::service::{Ask, Service};

#[track_caller]
fn says_so(answer: &Response, status: u16) {
    assert_eq!(answer.status, status);
    assert_eq!(answer.header("sunset"), Some("Thu, 05 Dec 2030 00:00:00 GMT"));
    assert_eq!(answer.header("deprecation"), Some("@1795219200"));
    assert_eq!(answer.header("link"), Some("</v1/pets>; rel=\"successor-version\""));
}

#[track_caller]
fn says_nothing(answer: &Response, status: u16) {
    assert_eq!(answer.status, status);
    assert_eq!((answer.header("sunset"), answer.header("deprecation")), (None, None));
}

#[tokio::test]
async fn an_animal_says_so() {
    let service = Service::start().await;
    service.add(1).await;
    says_so(&service.get("/v1/pets/1").await, 200);
}

#[tokio::test]
async fn head_of_an_animal_says_so() {
    let service = Service::start().await;
    service.add(1).await;
    says_so(&service.request(Method::HEAD, "/v1/pets/1").answer().await, 200);
}

#[tokio::test]
async fn a_missing_animal_says_so() {
    let service = Service::start().await;
    says_so(&service.get("/v1/pets/1").await, 404);
}

#[tokio::test]
async fn what_names_no_animal_says_so() {
    let service = Service::start().await;
    says_so(&service.get("/v1/pets/rex").await, 404);
}

#[tokio::test]
async fn a_missing_key_says_so() {
    let service = Service::start().await;
    says_so(&service.anonymous(Method::GET, "/v1/pets/1").answer().await, 401);
}

#[tokio::test]
async fn a_spent_key_says_so() {
    let service = Service::setup().rate_limit(1, Duration::from_secs(3600)).start().await;
    says_so(&service.get("/v1/pets/1").await, 404);
    says_so(&service.get("/v1/pets/1").await, 429);
}

#[tokio::test]
async fn a_broken_store_says_so() {
    let service = Service::start().await;
    service.store.fail(Step::Pet, Fault::Broken);
    says_so(&service.get("/v1/pets/1").await, 500);
}

#[tokio::test]
async fn a_panic_says_so() {
    let service = Service::start().await;
    service.store.fail(Step::Pet, Fault::Panic);
    says_so(&service.get("/v1/pets/1").await, 500);
}

#[tokio::test]
async fn a_store_that_cannot_answer_says_so() {
    let service = Service::start().await;
    service.store.fail(Step::Pet, Fault::Unavailable);
    says_so(&service.get("/v1/pets/1").await, 503);
}

#[tokio::test]
async fn another_method_at_an_animal_is_not_deprecated() {
    let service = Service::start().await;
    says_nothing(&service.request(Method::DELETE, "/v1/pets/1").answer().await, 405);
}

#[tokio::test]
async fn the_list_is_not_deprecated() {
    let service = Service::start().await;
    says_nothing(&service.get("/v1/pets").await, 200);
    says_nothing(&service.get("/v1/pets?limit=0").await, 400);
}

#[tokio::test]
async fn adding_is_not_deprecated() {
    let service = Service::start().await;
    says_nothing(&service.post(serde_json::json!({ "name": "Rex", "categoryId": 1 })).await, 201);
}

#[tokio::test]
async fn the_dates_are_those_of_the_document() {
    let service = Service::start().await;
    let object = &Contract::get().operation("getPet").object;
    let date = |keyword: &str| object[keyword].as_str().unwrap().parse::<jiff::civil::Date>().unwrap();
    let answer = service.get("/v1/pets/1").await;

    let since = date("x-deprecated-since").to_zoned(jiff::tz::TimeZone::UTC).unwrap().timestamp();
    assert_eq!(answer.header("deprecation"), Some(&*format!("@{}", since.as_second())));
    let sunset = jiff::fmt::rfc2822::parse(answer.header("sunset").unwrap()).unwrap();
    assert_eq!(sunset.date(), date("x-sunset"));
    let successor = format!("</v1{}>; rel=\"successor-version\"", object["x-successor"].as_str().unwrap());
    assert_eq!(answer.header("link"), Some(&*successor));
}

#[tokio::test]
async fn the_successor_is_there() {
    let service = Service::start().await;
    let link = service.get("/v1/pets/1").await.header("link").unwrap().to_owned();
    let target = link.strip_prefix('<').unwrap().split_once('>').unwrap().0;
    service.get(target).await.expect(200);
}
