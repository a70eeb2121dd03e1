//! `/v1/pets/{petId}`: `getPet`.

use serde_json::json;

use crate::declared_statuses::wrong_method;
use crate::service::{RequestExt, Service, id};

#[tokio::test]
async fn an_animal_is_fetched_as_it_was_added() {
    let service = Service::start().await;
    service.add(2).await;
    let pet = service.post(json!({ "name": "Rex", "categoryId": 3, "status": "pending" })).await.expect(201);
    service.add(2).await;
    assert_eq!(service.get(&format!("/v1/pets/{}", id(&pet))).await.expect(200), pet);
}

#[tokio::test]
async fn an_animal_without_a_status_has_no_status_field() {
    let service = Service::start().await;
    let id = service.add(1).await[0];
    let pet = service.get(&format!("/v1/pets/{id}")).await.expect(200);
    assert_eq!(pet, json!({ "id": id, "name": "animal 0", "categoryId": 1 }));
}

#[tokio::test]
async fn an_unused_identifier_is_not_found() {
    let service = Service::start().await;
    let id = service.add(1).await[0];
    let message = service.get(&format!("/v1/pets/{}", id + 1)).await.expect_error(404, "not_found");
    assert_eq!(message, "there is no animal with this petId");
}

#[tokio::test]
async fn the_limits_of_int64_are_unused_identifiers() {
    let service = Service::start().await;
    for id in [i64::MIN, -1, 0, i64::MAX] {
        let message = service.get(&format!("/v1/pets/{id}")).await.expect_error(404, "not_found");
        assert_eq!(message, "there is no animal with this petId");
    }
}

#[tokio::test]
async fn the_typed_client_fetches_an_animal() {
    let service = Service::start().await;
    let id = service.add_with("sold").await;
    let pet = service.client().get_pet().pet_id(id).send().await.unwrap();
    assert_eq!((pet.id, pet.name.as_str()), (id, "Rex"));
}

#[tokio::test]
async fn the_typed_client_gets_a_missing_animal_as_a_typed_error() {
    let service = Service::start().await;
    let error = service.client().get_pet().pet_id(7).send().await.unwrap_err();
    let progenitor_client::Error::ErrorResponse(response) = error else { panic!("{error:?}") };
    assert_eq!((response.code.as_str(), response.status), ("not_found", 404));
}

/// Each test sends a value that is not a canonical int64, unchanged, and expects 404 from `getPet`.
macro_rules! not_found {
    ($($name:ident: $id:literal)*) => {$(
        #[tokio::test]
        async fn $name() {
            let service = Service::start().await;
            assert_eq!(service.add(1).await, [1]);
            let mut raw = service.raw().await;
            raw.head(concat!("GET /v1/pets/", $id), "").await;
            let response = raw.response().await;
            response.expect_error(404, "not_found");
            assert!(response.header("sunset").is_some(), "the response is not from getPet");
        }
    )*};
}

not_found! {
    a_word_is_not_found: "rex"
    a_plus_sign_is_not_found: "+1"
    a_leading_zero_is_not_found: "01"
    minus_zero_is_not_found: "-0"
    a_fraction_is_not_found: "1.0"
    an_exponent_is_not_found: "1e0"
    hexadecimal_is_not_found: "0x1"
    a_percent_encoded_digit_is_not_found: "%31"
    a_percent_encoded_space_is_not_found: "1%20"
    a_percent_encoded_slash_is_not_found: "1%2F"
    a_percent_encoded_percent_sign_is_not_found: "%2531"
    a_nul_is_not_found: "1%00"
    a_matrix_parameter_is_not_found: "1;v=1"
    digits_other_than_ascii_are_not_found: "%D9%A1"
    one_above_int64_is_not_found: "9223372036854775808"
    one_below_int64_is_not_found: "-9223372036854775809"
    a_hundred_digits_are_not_found:
        "11111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111"
}

#[tokio::test]
async fn an_invalid_id_is_checked_after_the_key() {
    let service = Service::start().await;
    let response = service.get_with("nonsense", "/v1/pets/rex").await;
    response.expect_error(401, "unauthorized");
}

#[tokio::test]
async fn another_method_on_an_invalid_id_is_not_allowed() {
    let service = Service::start().await;
    let request = service.request(wrong_method("/v1/pets/rex"), "/v1/pets/rex");
    request.response().await.expect_error(405, "method_not_allowed");
}
