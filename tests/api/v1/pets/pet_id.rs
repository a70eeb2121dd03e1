//! `/v1/pets/{petId}`: `getPet`.

use serde_json::json;

use crate::database::{Engine, on_each_engine};
use crate::declared_statuses::wrong_method;
use crate::service::{RequestExt, Service, id};

on_each_engine! {
    an_animal_is_fetched_as_it_was_added
    an_animal_without_a_status_has_no_status_field
    an_unused_identifier_is_not_found
    the_limits_of_int64_are_unused_identifiers
}

async fn an_animal_is_fetched_as_it_was_added(engine: Engine) {
    let service = engine.start().await;
    service.add(2).await;
    let pet = service.post(json!({ "name": "Rex", "categoryId": 3, "status": "pending" })).await.expect(201);
    service.add(2).await;
    assert_eq!(service.get(&format!("/v1/pets/{}", id(&pet))).await.expect(200), pet);
}

async fn an_animal_without_a_status_has_no_status_field(engine: Engine) {
    let service = engine.start().await;
    let id = service.add(1).await[0];
    let pet = service.get(&format!("/v1/pets/{id}")).await.expect(200);
    assert_eq!(pet, json!({ "id": id, "name": "animal 0", "categoryId": 1 }));
}

async fn an_unused_identifier_is_not_found(engine: Engine) {
    let service = engine.start().await;
    let id = service.add(1).await[0];
    let message = service.get(&format!("/v1/pets/{}", id + 1)).await.expect_error(404, "not_found");
    assert_eq!(message, "there is no animal with this petId");
}

async fn the_limits_of_int64_are_unused_identifiers(engine: Engine) {
    let service = engine.start().await;
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

#[tokio::test]
async fn what_is_not_a_canonical_int64_is_not_found() {
    let service = Service::start().await;
    assert_eq!(service.add(1).await, [1]);
    for id in [
        "rex",
        "+1",
        "01",
        "-0",
        "1.0",
        "1e0",
        "0x1",
        "%31",
        "1%20",
        "1%2F",
        "%2531",
        "1%00",
        "1;v=1",
        "%D9%A1",
        "9223372036854775808",
        "-9223372036854775809",
        "11111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111",
    ] {
        let mut raw = service.raw().await;
        raw.head(&format!("GET /v1/pets/{id}"), "").await;
        let response = raw.response().await;
        response.expect_error(404, "not_found");
        assert!(response.header("sunset").is_some(), "the response to {id} is not from getPet");
    }
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
