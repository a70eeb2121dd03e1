//! The parameter `status`.

use serde_json::json;

use crate::service::{Service, ids};

/// Each test expects the animals with this status and no others.
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
    available_animals_can_be_listed: "available"
    pending_animals_can_be_listed: "pending"
    sold_animals_can_be_listed: "sold"
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
async fn a_filter_without_matches_is_an_empty_list() {
    let service = Service::start().await;
    service.add_with("sold").await;
    let response = service.get("/v1/pets?status=pending").await;
    assert_eq!(response.expect(200), json!([]));
    assert_eq!(response.header("link"), None);
}

#[tokio::test]
async fn a_filter_and_a_limit_can_be_combined() {
    let service = Service::start().await;
    let mut sold = Vec::new();
    for _ in 0..3 {
        service.add_with("available").await;
        sold.push(service.add_with("sold").await);
    }
    assert_eq!(ids(&service.get("/v1/pets?status=sold&limit=2").await.expect(200)), sold[..2]);
    assert_eq!(ids(&service.get("/v1/pets?limit=2&status=sold").await.expect(200)), sold[..2]);
}

/// Each test expects 400 and a message with the allowed values.
macro_rules! rejected {
    ($($name:ident: $query:literal)*) => {$(
        #[tokio::test]
        async fn $name() {
            let service = Service::start().await;
            let message = service.get(concat!("/v1/pets?", $query)).await.expect_error(400, "invalid_parameter");
            assert_eq!(message, "status must be one of available, pending, sold");
        }
    )*};
}

rejected! {
    an_unknown_status_is_rejected: "status=lost"
    a_status_in_upper_case_is_rejected: "status=SOLD"
    a_capitalized_status_is_rejected: "status=Available"
    an_empty_status_is_rejected: "status="
    a_status_without_a_value_is_rejected: "status"
    a_status_with_a_space_is_rejected: "status=sold%20"
    a_list_of_statuses_is_rejected: "status=available,sold"
    a_status_of_null_is_rejected: "status=null"
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
