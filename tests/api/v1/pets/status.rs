//! The parameter `status`.

use serde_json::json;

use crate::database::{Engine, on_each_engine};
use crate::service::{Service, ids};

on_each_engine! {
    an_animal_without_a_status_matches_no_status
    a_filter_and_a_limit_can_be_combined
    a_status_selects_the_animals_with_it
}

async fn a_status_selects_the_animals_with_it(engine: Engine) {
    let service = engine.start().await;
    let mut added = Vec::new();
    for status in ["available", "pending", "sold", "available", "pending", "sold"] {
        added.push((status, service.add_with(status).await));
    }
    service.add(2).await;
    for status in ["available", "pending", "sold"] {
        let list = service.get(&format!("/v1/pets?status={status}")).await.expect(200);
        let expected = added.iter().filter(|(other, _)| *other == status).map(|(_, id)| *id);
        assert_eq!(ids(&list), expected.collect::<Vec<_>>());
        assert!(list.as_array().unwrap().iter().all(|pet| pet["status"] == status), "{list}");
    }
}

async fn an_animal_without_a_status_matches_no_status(engine: Engine) {
    let service = engine.start().await;
    let added = service.add(1).await;
    for status in ["available", "pending", "sold"] {
        assert_eq!(service.get(&format!("/v1/pets?status={status}")).await.expect(200), json!([]));
    }
    assert_eq!(ids(&service.get("/v1/pets").await.expect(200)), added);
}

#[tokio::test]
async fn a_filter_without_matches_is_an_empty_list() {
    let service = Service::start().await;
    service.add_with("sold").await;
    let response = service.get("/v1/pets?status=pending").await;
    assert_eq!(response.expect(200), json!([]));
    assert_eq!(response.header("link"), None);
}

async fn a_filter_and_a_limit_can_be_combined(engine: Engine) {
    let service = engine.start().await;
    let mut sold = Vec::new();
    for _ in 0..3 {
        service.add_with("available").await;
        sold.push(service.add_with("sold").await);
    }
    assert_eq!(ids(&service.get("/v1/pets?status=sold&limit=2").await.expect(200)), sold[..2]);
    assert_eq!(ids(&service.get("/v1/pets?limit=2&status=sold").await.expect(200)), sold[..2]);
}

#[tokio::test]
async fn other_statuses_are_rejected() {
    let service = Service::start().await;
    for query in [
        "status=lost",
        "status=SOLD",
        "status=Available",
        "status=",
        "status",
        "status=sold%20",
        "status=available,sold",
        "status=null",
    ] {
        let message = service.get(&format!("/v1/pets?{query}")).await.expect_error(400, "invalid_parameter");
        assert_eq!(message, "status must be one of available, pending, sold", "{query}");
    }
}

#[tokio::test]
async fn two_statuses_are_rejected() {
    let service = Service::start().await;
    let response = service.get("/v1/pets?status=available&status=sold").await;
    assert_eq!(response.expect_error(400, "invalid_parameter"), "status must be given only once");
}

#[tokio::test]
async fn the_same_status_twice_is_rejected() {
    let service = Service::start().await;
    let response = service.get("/v1/pets?status=sold&limit=3&status=sold").await;
    assert_eq!(response.expect_error(400, "invalid_parameter"), "status must be given only once");
}
