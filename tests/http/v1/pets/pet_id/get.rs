//! Fetching an animal.

use serde_json::json;

use crate::service::{Service, id};

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
async fn an_identifier_that_no_animal_has_is_not_found() {
    let service = Service::start().await;
    let id = service.add(1).await[0];
    let message = service.get(&format!("/v1/pets/{}", id + 1)).await.refused(404, "not_found");
    assert_eq!(message, "there is no animal with this petId");
}

#[tokio::test]
async fn the_ends_of_int64_are_identifiers_that_no_animal_has() {
    let service = Service::start().await;
    for id in [i64::MIN, -1, 0, i64::MAX] {
        let message = service.get(&format!("/v1/pets/{id}")).await.refused(404, "not_found");
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
