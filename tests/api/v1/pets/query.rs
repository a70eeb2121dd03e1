//! Unknown query parameters.

use std::collections::BTreeSet;

use serde_json::json;

use crate::service::{RequestExt, Service};
use kit::recorder::contract::Contract;

/// Returns the query parameters of `listPets` in the document.
fn documented() -> BTreeSet<&'static str> {
    let parameters = Contract::get().operation("listPets").parameters.iter();
    let query = parameters.filter(|parameter| parameter["in"] == "query");
    query.map(|parameter| parameter["name"].as_str().unwrap()).collect()
}

/// Returns the parameters that a message lists after `beginning`.
fn known<'a>(message: &'a str, beginning: &str) -> BTreeSet<&'a str> {
    let rest = message.strip_prefix(beginning).unwrap();
    rest.strip_prefix("; this operation takes ").unwrap().split(", ").collect()
}

#[tokio::test]
async fn an_unknown_parameter_is_rejected_and_named() {
    let service = Service::start().await;
    let message = service.get("/v1/pets?statsu=sold").await.expect_error(400, "invalid_parameter");
    assert_eq!(known(&message, "unknown query parameter \"statsu\""), documented());
}

#[tokio::test]
async fn the_case_of_a_parameter_matters() {
    let service = Service::start().await;
    let message = service.get("/v1/pets?Limit=5").await.expect_error(400, "invalid_parameter");
    assert!(message.contains("\"Limit\""), "{message}");
}

#[tokio::test]
async fn an_unknown_parameter_beside_a_known_one_is_rejected() {
    let service = Service::start().await;
    service.get("/v1/pets?limit=5&offset=10").await.expect_error(400, "invalid_parameter");
}

#[tokio::test]
async fn an_unknown_parameter_without_a_value_is_rejected() {
    let service = Service::start().await;
    service.get("/v1/pets?all").await.expect_error(400, "invalid_parameter");
}

#[tokio::test]
async fn a_parameter_with_brackets_is_unknown() {
    let service = Service::start().await;
    service.get("/v1/pets?status[]=sold").await.expect_error(400, "invalid_parameter");
}

#[tokio::test]
async fn an_api_key_in_the_query_is_not_repeated() {
    let service = Service::start().await;
    let target = format!("/v1/pets?{}=1", service.key);
    let message = service.get(&target).await.expect_error(400, "invalid_parameter");
    assert_eq!(known(&message, "unknown query parameter"), documented());
}

#[tokio::test]
async fn an_empty_query_string_is_ignored() {
    let service = Service::start().await;
    assert_eq!(service.get("/v1/pets?").await.expect(200), json!([]));
}

#[tokio::test]
async fn create_pet_ignores_the_query() {
    let service = Service::start().await;
    let request = service.request(reqwest::Method::POST, "/v1/pets?limit=0&status=lost&x");
    request.json(&json!({ "name": "Rex", "categoryId": 3 })).response().await.expect(201);
}

#[tokio::test]
async fn get_pet_ignores_the_query() {
    let service = Service::start().await;
    let id = service.add(1).await[0];
    service.get(&format!("/v1/pets/{id}?limit=0&status=lost&x")).await.expect(200);
}
