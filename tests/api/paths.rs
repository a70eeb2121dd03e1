//! Paths and methods: which exist, how they may be written, and the errors for all others.

use reqwest::Method;

use crate::declared_statuses::{target, wrong_method};
use crate::service::{RequestExt, Service};
use kit::recorder::contract::Contract;

/// Each test sends the target unchanged, with a valid key, and expects 404.
macro_rules! not_found {
    ($($name:ident: $target:literal)*) => {$(
        #[tokio::test]
        async fn $name() {
            let service = Service::start().await;
            service.add(1).await;
            let mut raw = service.raw().await;
            raw.head(concat!("GET ", $target), "").await;
            assert_eq!(raw.response().await.expect_error(404, "not_found"), "this path does not exist");
        }
    )*};
}

not_found! {
    the_base_path_is_not_found: "/v1"
    the_base_path_with_a_slash_is_not_found: "/v1/"
    a_path_without_the_base_path_is_not_found: "/pets"
    another_version_is_not_found: "/v2/pets"
    a_longer_version_is_not_found: "/v10/pets"
    a_missing_slash_after_the_version_is_not_found: "/v1pets"
    orders_have_no_operations: "/v1/orders"
    categories_have_no_operations: "/v1/categories"
    the_store_has_no_operations: "/v1/store"
    keys_cannot_be_created_over_http: "/v1/keys"
    a_path_below_an_animal_is_not_found: "/v1/pets/1/name"
    a_trailing_slash_is_another_path: "/v1/pets/"
    a_trailing_slash_after_an_animal_is_another_path: "/v1/pets/1/"
    a_doubled_slash_is_another_path: "/v1//pets"
    a_doubled_slash_at_the_start_is_another_path: "//v1/pets"
    a_doubled_slash_before_an_animal_is_another_path: "/v1/pets//1"
    a_percent_encoded_letter_is_another_path: "/v1/%70ets"
    a_percent_encoded_letter_of_the_base_path_is_another_path: "/%761/pets"
    a_percent_encoded_slash_is_another_path: "/v1%2Fpets"
    a_percent_encoded_question_mark_is_another_path: "/v1/pets%3Flimit=5"
    upper_case_is_another_path: "/V1/PETS"
    a_suffix_is_another_path: "/v1/pets.json"
    a_matrix_parameter_is_another_path: "/v1/pets;limit=5"
    a_dot_segment_is_another_path: "/v1/./pets"
    two_dots_are_another_path: "/v1/x/../pets"
    percent_encoding_that_is_not_utf_8_is_another_path: "/v1/%ff"
}

#[tokio::test]
async fn an_unknown_path_is_not_found_with_any_key() {
    let service = Service::start().await;
    for request in [
        service.anonymous(Method::GET, "/v1/nothing"),
        service.anonymous(Method::GET, "/v1/nothing").bearer_auth("nonsense"),
        service.request(Method::GET, "/v1/nothing"),
    ] {
        request.response().await.expect_error(404, "not_found");
    }
}

#[tokio::test]
async fn an_unknown_path_is_not_found_with_any_method() {
    let service = Service::start().await;
    for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::OPTIONS, Method::TRACE] {
        service.anonymous(method, "/v1/nothing").response().await.expect_error(404, "not_found");
    }
}

#[tokio::test]
async fn the_response_to_a_large_body_at_an_unknown_path_arrives() {
    let service = Service::start().await;
    let request = service.request(Method::POST, "/v1/nothing").body("x".repeat(1024 * 1024));
    request.response().await.expect_error(404, "not_found");
}

#[tokio::test]
async fn every_undeclared_method_of_a_path_is_not_allowed() {
    let service = Service::start().await;
    for operation in &Contract::get().operations {
        let target = target(operation);
        for method in Contract::get().unused_methods(&target) {
            let response = service.anonymous(method.parse().unwrap(), &target).response().await;
            if method == "HEAD" {
                assert_eq!((response.status, response.body.len()), (405, 0), "{method} {target}");
                continue;
            }
            // The recorder compares `Allow` with the document.
            let message = response.expect_error(405, "method_not_allowed");
            assert!(message.contains(response.header("allow").unwrap()), "{method} {target}: {message}");
        }
    }
}

#[tokio::test]
async fn a_wrong_method_is_not_allowed_with_any_key() {
    let service = Service::start().await;
    for request in [
        service.anonymous(wrong_method("/v1/pets"), "/v1/pets"),
        service.anonymous(wrong_method("/v1/pets"), "/v1/pets").bearer_auth("nonsense"),
        service.request(wrong_method("/v1/pets"), "/v1/pets"),
    ] {
        request.response().await.expect_error(405, "method_not_allowed");
    }
}

#[tokio::test]
async fn the_response_to_a_large_body_with_a_wrong_method_arrives() {
    let service = Service::start().await;
    let request = service.request(wrong_method("/v1/pets"), "/v1/pets").body("x".repeat(1024 * 1024));
    request.response().await.expect_error(405, "method_not_allowed");
}

#[tokio::test]
async fn a_method_override_header_is_ignored() {
    let service = Service::start().await;
    let request = service.request(Method::GET, "/v1/pets").header("x-http-method-override", "DELETE");
    request.response().await.expect(200);
}

#[tokio::test]
async fn a_target_in_absolute_form_identifies_the_same_resource() {
    let service = Service::start().await;
    service.add(1).await;
    let mut raw = service.raw().await;
    raw.head("GET http://animals.example.com/v1/pets/1", "").await;
    raw.response().await.expect(200);
}

#[tokio::test]
async fn http_1_0_is_supported() {
    let service = Service::start().await;
    let mut raw = service.raw().await;
    raw.send(format!("GET /v1/pets HTTP/1.0\r\nAuthorization: Bearer {}\r\n\r\n", service.key)).await;
    raw.response().await.expect(200);
    assert!(raw.ends().await);
}

#[tokio::test]
async fn pipelined_requests_get_responses_in_order() {
    let service = Service::start().await;
    service.add(2).await;
    let mut raw = service.raw().await;
    raw.head("GET /v1/pets/1", "").await.head("GET /v1/nothing", "").await.head("GET /v1/pets/2", "").await;
    assert_eq!(raw.response().await.expect(200)["id"], 1);
    raw.response().await.expect_error(404, "not_found");
    assert_eq!(raw.response().await.expect(200)["id"], 2);
}

#[tokio::test]
async fn methods_are_case_sensitive_and_unknown_ones_are_not_allowed() {
    let service = Service::start().await;
    for method in ["post", "Get", "BREW", "CONNECT"] {
        let mut raw = service.raw().await;
        raw.head(&format!("{method} /v1/pets"), "").await;
        raw.response().await.expect_error(405, "method_not_allowed");
    }
}

#[tokio::test]
async fn a_request_without_one_valid_host_is_refused() {
    let service = Service::start().await;
    for hosts in ["", "Host: a\r\nHost: a\r\n", "Host:\r\n", "Host: a b\r\n", "Host: user@a\r\n"] {
        let mut raw = service.raw().await;
        raw.send(format!("GET /v1/pets HTTP/1.1\r\n{hosts}Authorization: Bearer {}\r\n\r\n", service.key))
            .await;
        raw.response().await.expect_error(400, "invalid_parameter");
    }
}

#[tokio::test]
async fn a_target_with_user_information_or_another_scheme_is_refused() {
    let service = Service::start().await;
    for (target, status) in [
        ("http://animals/v1/pets", 200),
        ("https://animals/v1/pets", 200),
        ("http://user@animals/v1/pets", 400),
        ("http://user:password@animals/v1/pets", 400),
        ("ftp://animals/v1/pets", 400),
    ] {
        let mut raw = service.raw().await;
        raw.head(&format!("GET {target}"), "").await;
        assert_eq!(raw.response().await.status, status, "{target}");
    }
}

#[tokio::test]
async fn the_only_transfer_coding_is_chunked() {
    let service = Service::start().await;
    for coding in ["gzip, chunked", "identity, chunked", "chunked, chunked"] {
        let mut raw = service.raw().await;
        let fields = format!("Content-Type: application/json\r\nTransfer-Encoding: {coding}\r\n");
        raw.head("POST /v1/pets", &fields).await.send("2\r\n{}\r\n0\r\n\r\n").await;
        raw.response().await.expect_error(400, "invalid_body");
        // The end of such a request is uncertain (RFC 9112, section 6.1).
        raw.send("GET /v1/pets HTTP/1.1\r\nHost: animals\r\n\r\n").await;
        assert!(raw.ends().await, "{coding}");
    }
}
