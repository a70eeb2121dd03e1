//! Adding an animal.

use std::collections::BTreeSet;

use serde_json::json;

use crate::client::types::{NewPet, PetStatus};
use crate::database::{Engine, on_each_engine};
use crate::service::{Service, id, ids};

on_each_engine! {
    the_response_has_the_animal_with_its_identifier
    the_location_is_the_path_of_the_animal
    an_absent_status_stays_absent
    identifiers_ascend
    animals_added_concurrently_get_unique_identifiers
    equal_animals_get_different_identifiers
    a_rejected_animal_is_not_added
    animals_remain_after_a_shutdown
}

async fn the_response_has_the_animal_with_its_identifier(engine: Engine) {
    let service = engine.start().await;
    let pet =
        service.post(json!({ "name": "Rex", "categoryId": 3, "status": "available" })).await.expect(201);
    assert_eq!(pet, json!({ "id": id(&pet), "name": "Rex", "categoryId": 3, "status": "available" }));
}

async fn the_location_is_the_path_of_the_animal(engine: Engine) {
    let service = engine.start().await;
    let response = service.post(json!({ "name": "Rex", "categoryId": 3 })).await;
    let pet = response.expect(201);
    let location = response.header("location").unwrap();
    assert_eq!(location, format!("/v1/pets/{}", id(&pet)));
    assert_eq!(service.get(location).await.expect(200), pet);
}

async fn an_absent_status_stays_absent(engine: Engine) {
    let service = engine.start().await;
    let pet = service.post(json!({ "name": "Mia", "categoryId": 7 })).await.expect(201);
    assert_eq!(pet, json!({ "id": id(&pet), "name": "Mia", "categoryId": 7 }));
    assert_eq!(service.get(&format!("/v1/pets/{}", id(&pet))).await.expect(200), pet);
}

async fn identifiers_ascend(engine: Engine) {
    let service = engine.start().await;
    let added = service.add(10).await;
    assert!(added.is_sorted() && added.windows(2).all(|pair| pair[0] < pair[1]), "{added:?}");
}

async fn animals_added_concurrently_get_unique_identifiers(engine: Engine) {
    let service = engine.start().await;
    let added = futures::future::join_all((0..16).map(|_| service.add(5))).await.concat();
    let unique: BTreeSet<_> = added.iter().copied().collect();
    assert_eq!(unique.len(), 80);
    assert_eq!(ids(&service.get("/v1/pets?limit=100").await.expect(200)), Vec::from_iter(unique));
}

async fn equal_animals_get_different_identifiers(engine: Engine) {
    let service = engine.start().await;
    let twin = json!({ "name": "Rex", "categoryId": 3 });
    let (one, two) = (service.post(twin.clone()).await.expect(201), service.post(twin).await.expect(201));
    assert_ne!(id(&one), id(&two));
}

#[tokio::test]
async fn any_category_is_accepted() {
    let service = Service::start().await;
    service.post(json!({ "name": "Rex", "categoryId": 987_654_321 })).await.expect(201);
}

async fn a_rejected_animal_is_not_added(engine: Engine) {
    let service = engine.start().await;
    service.post(json!({ "name": "Rex" })).await.expect_error(400, "invalid_body");
    service.post(json!({ "name": "", "categoryId": 1 })).await.expect_error(400, "invalid_body");
    assert_eq!(service.get("/v1/pets").await.expect(200), json!([]));
}

async fn animals_remain_after_a_shutdown(engine: Engine) {
    let mut service = engine.start().await;
    let pet = service.post(json!({ "name": "Rex", "categoryId": 3, "status": "sold" })).await.expect(201);
    service.stop(std::time::Duration::from_secs(5)).await;
    let stored = service.open_store_again().await.pet(id(&pet)).await.unwrap().expect("the animal");
    assert_eq!(serde_json::to_value(stored).unwrap(), pet);
}

#[tokio::test]
async fn the_typed_client_adds_an_animal() {
    let service = Service::start().await;
    let new = NewPet { name: "Mia".parse().unwrap(), category_id: 7, status: Some(PetStatus::Pending) };
    let response = service.client().create_pet().body(new).send().await.unwrap();
    assert_eq!(response.status(), 201);
    assert_eq!(
        (response.name.as_str(), response.category_id, response.status),
        ("Mia", 7, Some(PetStatus::Pending))
    );
}
