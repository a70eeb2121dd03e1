//! Adding an animal.

use std::collections::BTreeSet;

use serde_json::json;

use crate::client::types::{NewPet, PetStatus};
use crate::service::{Service, id, ids};

#[tokio::test]
async fn an_added_animal_is_answered_with_its_identifier() {
    let service = Service::start().await;
    let pet =
        service.post(json!({ "name": "Rex", "categoryId": 3, "status": "available" })).await.expect(201);
    assert_eq!(pet, json!({ "id": id(&pet), "name": "Rex", "categoryId": 3, "status": "available" }));
}

#[tokio::test]
async fn the_location_is_the_path_of_the_animal() {
    let service = Service::start().await;
    let answer = service.post(json!({ "name": "Rex", "categoryId": 3 })).await;
    let pet = answer.expect(201);
    let location = answer.header("location").unwrap();
    assert_eq!(location, format!("/v1/pets/{}", id(&pet)));
    assert_eq!(service.get(location).await.expect(200), pet);
}

#[tokio::test]
async fn a_status_left_out_stays_absent() {
    let service = Service::start().await;
    let pet = service.post(json!({ "name": "Mia", "categoryId": 7 })).await.expect(201);
    assert_eq!(pet, json!({ "id": id(&pet), "name": "Mia", "categoryId": 7 }));
    assert_eq!(service.get(&format!("/v1/pets/{}", id(&pet))).await.expect(200), pet);
}

#[tokio::test]
async fn identifiers_ascend() {
    let service = Service::start().await;
    let added = service.add(10).await;
    assert!(added.is_sorted() && added.windows(2).all(|pair| pair[0] < pair[1]), "{added:?}");
}

#[tokio::test]
async fn animals_added_at_once_get_identifiers_of_their_own() {
    let service = Service::start().await;
    let added = futures::future::join_all((0..16).map(|_| service.add(5))).await.concat();
    let unique: BTreeSet<_> = added.iter().copied().collect();
    assert_eq!(unique.len(), 80);
    assert_eq!(ids(&service.get("/v1/pets?limit=100").await.expect(200)), Vec::from_iter(unique));
}

#[tokio::test]
async fn the_same_animal_twice_is_two_animals() {
    let service = Service::start().await;
    let twin = json!({ "name": "Rex", "categoryId": 3 });
    let (one, two) = (service.post(twin.clone()).await.expect(201), service.post(twin).await.expect(201));
    assert_ne!(id(&one), id(&two));
}

#[tokio::test]
async fn the_category_need_not_be_known() {
    let service = Service::start().await;
    service.post(json!({ "name": "Rex", "categoryId": 987_654_321 })).await.expect(201);
}

#[tokio::test]
async fn a_refused_animal_is_not_added() {
    let service = Service::start().await;
    service.post(json!({ "name": "Rex" })).await.refused(400, "invalid_body");
    service.post(json!({ "name": "", "categoryId": 1 })).await.refused(400, "invalid_body");
    assert_eq!(service.get("/v1/pets").await.expect(200), json!([]));
}

#[tokio::test]
async fn animals_outlive_the_service() {
    let mut service = Service::start().await;
    let pet = service.post(json!({ "name": "Rex", "categoryId": 3, "status": "sold" })).await.expect(201);
    service.stop(std::time::Duration::from_secs(5)).await;
    let stored = service.store_elsewhere().await.pet(id(&pet)).await.unwrap().expect("the animal");
    assert_eq!(serde_json::to_value(stored).unwrap(), pet);
}

#[tokio::test]
async fn the_typed_client_adds_an_animal() {
    let service = Service::start().await;
    let new = NewPet { name: "Mia".parse().unwrap(), category_id: 7, status: Some(PetStatus::Pending) };
    let answer = service.client().create_pet().body(new).send().await.unwrap();
    assert_eq!(answer.status(), 201);
    assert_eq!(
        (answer.name.as_str(), answer.category_id, answer.status),
        ("Mia", 7, Some(PetStatus::Pending))
    );
}
