//! The parameter `status`.

use serde_json::json;

use crate::service::{Service, ids};

/// A test for each status: the list holds the animals that have it, and no others.
macro_rules! filters {
    ($($name:ident: $status:literal)*) => {$(
        #[tokio::test]
        async fn $name() {
            let service = Service::start().await;
            let mut expected = Vec::new();
            for status in ["available", "pending", "sold", "available", "pending", "sold"] {
                let id = service.add_with(status).await;
                if status == $status {
                    expected.push(id);
                }
            }
            service.add(2).await;
            let list = service.get(concat!("/v1/pets?status=", $status)).await.expect(200);
            assert_eq!(ids(&list), expected);
            assert!(list.as_array().unwrap().iter().all(|pet| pet["status"] == $status));
        }
    )*};
}

filters! {
    available_animals_can_be_asked_for: "available"
    pending_animals_can_be_asked_for: "pending"
    sold_animals_can_be_asked_for: "sold"
}

#[tokio::test]
async fn an_animal_without_a_status_matches_no_status() {
    let service = Service::start().await;
    let added = service.add(1).await;
    for status in ["available", "pending", "sold"] {
        assert_eq!(service.get(&format!("/v1/pets?status={status}")).await.expect(200), json!([]));
    }
    assert_eq!(ids(&service.get("/v1/pets").await.expect(200)), added);
}

#[tokio::test]
async fn a_filter_that_nothing_matches_is_an_empty_list() {
    let service = Service::start().await;
    service.add_with("sold").await;
    let answer = service.get("/v1/pets?status=pending").await;
    assert_eq!(answer.expect(200), json!([]));
    assert_eq!(answer.header("link"), None);
}

#[tokio::test]
async fn a_filter_and_a_limit_go_together() {
    let service = Service::start().await;
    let mut sold = Vec::new();
    for _ in 0..3 {
        service.add_with("available").await;
        sold.push(service.add_with("sold").await);
    }
    assert_eq!(ids(&service.get("/v1/pets?status=sold&limit=2").await.expect(200)), sold[..2]);
    assert_eq!(ids(&service.get("/v1/pets?limit=2&status=sold").await.expect(200)), sold[..2]);
}

/// A test for each: answered 400, and the message lists what is allowed.
macro_rules! refused {
    ($($name:ident: $query:literal)*) => {$(
        #[tokio::test]
        async fn $name() {
            let service = Service::start().await;
            let message = service.get(concat!("/v1/pets?", $query)).await.refused(400, "invalid_parameter");
            assert_eq!(message, "status must be one of available, pending, sold");
        }
    )*};
}

refused! {
    an_unknown_status_is_refused: "status=lost"
    a_status_in_capitals_is_refused: "status=SOLD"
    a_status_with_a_capital_is_refused: "status=Available"
    an_empty_status_is_refused: "status="
    a_status_without_a_value_is_refused: "status"
    a_status_with_a_space_is_refused: "status=sold%20"
    a_list_of_statuses_is_refused: "status=available,sold"
    a_status_of_null_is_refused: "status=null"
}

#[tokio::test]
async fn two_statuses_are_refused() {
    let service = Service::start().await;
    let answer = service.get("/v1/pets?status=available&status=sold").await;
    assert_eq!(answer.refused(400, "invalid_parameter"), "status must be given only once");
}

#[tokio::test]
async fn the_same_status_twice_is_refused() {
    let service = Service::start().await;
    let answer = service.get("/v1/pets?status=sold&limit=3&status=sold").await;
    assert_eq!(answer.refused(400, "invalid_parameter"), "status must be given only once");
}
