//! The content of a list.

use serde_json::json;

use crate::client::types::PetStatus;
use crate::database::{Engine, on_each_engine};
use crate::service::{Service, id, ids};

on_each_engine! {
    an_empty_store_is_an_empty_list_without_a_link
    a_list_has_each_animal_as_in_the_response_to_its_creation
    animals_are_in_order_of_identifier
    an_animal_without_a_status_has_no_status_field_in_a_list
    an_animal_is_in_the_list_as_soon_as_it_was_acknowledged
    integers_above_2_to_the_53_are_exact
}

async fn an_empty_store_is_an_empty_list_without_a_link(engine: Engine) {
    let service = engine.start().await;
    let response = service.get("/v1/pets").await;
    assert_eq!(response.expect(200), json!([]));
    assert_eq!(response.header("link"), None);
}

async fn a_list_has_each_animal_as_in_the_response_to_its_creation(engine: Engine) {
    let service = engine.start().await;
    let mut added = Vec::new();
    for status in [json!({}), json!({ "status": "sold" }), json!({ "status": "pending" })] {
        let mut pet = json!({ "name": "Mia", "categoryId": -7 });
        pet.as_object_mut().unwrap().extend(status.as_object().unwrap().clone());
        added.push(service.post(pet).await.expect(201));
    }
    assert_eq!(service.get("/v1/pets").await.expect(200), json!(added));
}

async fn animals_are_in_order_of_identifier(engine: Engine) {
    let service = engine.start().await;
    let mut added = service.add(12).await;
    added.sort_unstable();
    assert_eq!(ids(&service.get("/v1/pets").await.expect(200)), added);
}

async fn an_animal_without_a_status_has_no_status_field_in_a_list(engine: Engine) {
    let service = engine.start().await;
    service.add(1).await;
    let list = service.get("/v1/pets").await.expect(200);
    assert_eq!(list[0].as_object().unwrap().keys().collect::<Vec<_>>(), ["categoryId", "id", "name"]);
}

async fn an_animal_is_in_the_list_as_soon_as_it_was_acknowledged(engine: Engine) {
    let service = engine.start().await;
    for count in 1..=5 {
        let added = service.post(json!({ "name": "Rex", "categoryId": 1 })).await.expect(201);
        let list = service.get("/v1/pets").await.expect(200);
        assert_eq!(list.as_array().unwrap().len(), count);
        assert_eq!(id(&list[count - 1]), id(&added));
    }
}

async fn integers_above_2_to_the_53_are_exact(engine: Engine) {
    let service = engine.start().await;
    let category = 9_007_199_254_740_993_i64;
    service.post(json!({ "name": "Rex", "categoryId": category })).await.expect(201);
    let response = service.get("/v1/pets").await;
    assert!(response.text().contains("9007199254740993"), "{}", response.text());
}

#[tokio::test]
async fn a_body_sent_with_get_is_ignored() {
    let service = Service::start().await;
    let mut raw = service.raw().await;
    raw.head("GET /v1/pets", "Content-Length: 7\r\n").await.send("garbage").await;
    assert_eq!(raw.response().await.expect(200), json!([]));
}

#[tokio::test]
async fn the_accept_header_is_ignored() {
    let service = Service::start().await;
    let mut raw = service.raw().await;
    raw.head("GET /v1/pets", "Accept: text/html\r\n").await;
    assert_eq!(raw.response().await.header("content-type"), Some("application/json"));
}

#[tokio::test]
async fn the_typed_client_lists_with_every_parameter() {
    let service = Service::start().await;
    for _ in 0..3 {
        service.add_with("sold").await;
    }
    let limit = std::num::NonZeroU64::new(2).unwrap();
    let client = service.client();
    let page = client.list_pets().limit(limit).status(PetStatus::Sold).send().await.unwrap();
    assert_eq!(page.len(), 2);
    assert!(page.iter().all(|pet| pet.status == Some(PetStatus::Sold)));

    let link = page.headers()["link"].to_str().unwrap();
    let cursor = link.split_once("cursor=").unwrap().1.split_once('>').unwrap().0;
    let last = client.list_pets().status(PetStatus::Sold).cursor(cursor).send().await.unwrap();
    assert_eq!(last.len(), 1);
}

#[tokio::test]
async fn the_typed_client_gets_an_error_as_a_typed_error() {
    let service = Service::start().await;
    let error = service.client().list_pets().cursor("nonsense").send().await.unwrap_err();
    let progenitor_client::Error::ErrorResponse(response) = error else { panic!("{error:?}") };
    assert_eq!(response.status(), 400);
    assert_eq!((response.code.as_str(), response.status), ("invalid_parameter", 400));
}
