//! Paths and methods: what exists, in which spelling, and what is said of the rest.

use reqwest::Method;

use crate::provocations::{target, wrong_method};
use crate::recorder::contract::Contract;
use crate::service::{Ask, Service};

/// A test for each target, which is sent as it is, with a good key: no operation has it.
macro_rules! nothing_lives_at {
    ($($name:ident: $target:literal)*) => {$(
        #[tokio::test]
        async fn $name() {
            let service = Service::start().await;
            service.add(1).await;
            let mut raw = service.raw().await;
            raw.head(concat!("GET ", $target), "").await;
            assert_eq!(raw.response().await.refused(404, "not_found"), "this path does not exist");
        }
    )*};
}

nothing_lives_at! {
    nothing_lives_at_the_base_path: "/v1"
    nothing_lives_at_the_base_path_with_a_slash: "/v1/"
    nothing_lives_beside_the_base_path: "/pets"
    nothing_lives_at_another_version: "/v2/pets"
    nothing_lives_at_a_longer_version: "/v10/pets"
    nothing_lives_where_the_slash_after_the_version_is_missing: "/v1pets"
    orders_have_no_operations: "/v1/orders"
    categories_have_no_operations: "/v1/categories"
    the_store_has_no_operations: "/v1/store"
    keys_are_not_made_over_http: "/v1/keys"
    nothing_lives_below_an_animal: "/v1/pets/1/name"
    a_trailing_slash_is_another_path: "/v1/pets/"
    a_trailing_slash_after_an_animal_is_another_path: "/v1/pets/1/"
    a_doubled_slash_is_another_path: "/v1//pets"
    a_doubled_slash_at_the_start_is_another_path: "//v1/pets"
    a_doubled_slash_before_an_animal_is_another_path: "/v1/pets//1"
    a_percent_encoded_letter_is_another_path: "/v1/%70ets"
    a_percent_encoded_letter_of_the_base_path_is_another_path: "/%761/pets"
    a_percent_encoded_slash_is_another_path: "/v1%2Fpets"
    a_percent_encoded_question_mark_is_another_path: "/v1/pets%3Flimit=5"
    capitals_are_another_path: "/V1/PETS"
    a_suffix_is_another_path: "/v1/pets.json"
    a_matrix_parameter_is_another_path: "/v1/pets;limit=5"
}

#[tokio::test]
async fn an_unknown_path_is_not_found_whoever_asks() {
    let service = Service::start().await;
    for request in [
        service.anonymous(Method::GET, "/v1/nothing"),
        service.anonymous(Method::GET, "/v1/nothing").bearer_auth("nonsense"),
        service.request(Method::GET, "/v1/nothing"),
    ] {
        request.answer().await.refused(404, "not_found");
    }
}

#[tokio::test]
async fn an_unknown_path_is_not_found_with_any_method() {
    let service = Service::start().await;
    for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::OPTIONS, Method::TRACE] {
        service.anonymous(method, "/v1/nothing").answer().await.refused(404, "not_found");
    }
}

#[tokio::test]
async fn the_answer_to_a_large_body_at_an_unknown_path_arrives() {
    let service = Service::start().await;
    let request = service.request(Method::POST, "/v1/nothing").body("x".repeat(1024 * 1024));
    request.answer().await.refused(404, "not_found");
}

#[tokio::test]
async fn every_method_that_a_path_does_not_take_is_not_allowed() {
    let service = Service::start().await;
    for operation in &Contract::get().operations {
        let target = target(operation);
        for method in Contract::get().unused_methods(&target) {
            let answer = service.anonymous(method.parse().unwrap(), &target).answer().await;
            if method == "HEAD" {
                assert_eq!((answer.status, answer.body.len()), (405, 0), "{method} {target}");
                continue;
            }
            // The recorder compares `Allow` with the document.
            let message = answer.refused(405, "method_not_allowed");
            assert!(message.contains(answer.header("allow").unwrap()), "{method} {target}: {message}");
        }
    }
}

#[tokio::test]
async fn a_wrong_method_is_not_allowed_whoever_asks() {
    let service = Service::start().await;
    for request in [
        service.anonymous(wrong_method("/v1/pets"), "/v1/pets"),
        service.anonymous(wrong_method("/v1/pets"), "/v1/pets").bearer_auth("nonsense"),
        service.request(wrong_method("/v1/pets"), "/v1/pets"),
    ] {
        request.answer().await.refused(405, "method_not_allowed");
    }
}

#[tokio::test]
async fn the_answer_to_a_large_body_with_a_wrong_method_arrives() {
    let service = Service::start().await;
    let request = service.request(wrong_method("/v1/pets"), "/v1/pets").body("x".repeat(1024 * 1024));
    request.answer().await.refused(405, "method_not_allowed");
}

#[tokio::test]
async fn a_method_in_a_header_overrides_nothing() {
    let service = Service::start().await;
    let request = service.request(Method::GET, "/v1/pets").header("x-http-method-override", "DELETE");
    request.answer().await.expect(200);
}

#[tokio::test]
async fn a_target_with_scheme_and_host_names_the_same_resource() {
    let service = Service::start().await;
    service.add(1).await;
    let mut raw = service.raw().await;
    raw.head("GET http://animals.example.com/v1/pets/1", "").await;
    raw.response().await.expect(200);
}

#[tokio::test]
async fn http_1_0_is_answered() {
    let service = Service::start().await;
    let mut raw = service.raw().await;
    raw.send(format!("GET /v1/pets HTTP/1.0\r\nAuthorization: Bearer {}\r\n\r\n", service.key)).await;
    raw.response().await.expect(200);
    assert!(raw.ends().await);
}

#[tokio::test]
async fn requests_sent_at_once_are_answered_in_order() {
    let service = Service::start().await;
    service.add(2).await;
    let mut raw = service.raw().await;
    raw.head("GET /v1/pets/1", "").await.head("GET /v1/nothing", "").await.head("GET /v1/pets/2", "").await;
    assert_eq!(raw.response().await.expect(200)["id"], 1);
    raw.response().await.refused(404, "not_found");
    assert_eq!(raw.response().await.expect(200)["id"], 2);
}
