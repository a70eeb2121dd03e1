//! The parameter `limit`.

use std::num::NonZeroU64;

use crate::database::{Engine, on_each_engine};
use crate::service::{Service, ids};

on_each_engine! {
    a_limit_of_1_is_a_page_of_one_animal
    a_limit_of_100_is_a_page_of_100_animals
    a_limit_above_the_number_of_animals_returns_all
}

#[tokio::test]
async fn without_a_limit_a_page_has_20_animals() {
    let service = Service::start().await;
    let added = service.add(21).await;
    assert_eq!(ids(&service.get("/v1/pets").await.expect(200)), added[..20]);
}

async fn a_limit_of_1_is_a_page_of_one_animal(engine: Engine) {
    let service = engine.start().await;
    let added = service.add(2).await;
    assert_eq!(ids(&service.get("/v1/pets?limit=1").await.expect(200)), added[..1]);
}

async fn a_limit_of_100_is_a_page_of_100_animals(engine: Engine) {
    let service = engine.start().await;
    let added = service.add(101).await;
    let client = service.client();
    let page = client.list_pets().limit(NonZeroU64::new(100).unwrap()).send().await.unwrap();
    assert_eq!(page.iter().map(|pet| pet.id).collect::<Vec<_>>(), added[..100]);
}

async fn a_limit_above_the_number_of_animals_returns_all(engine: Engine) {
    let service = engine.start().await;
    let added = service.add(3).await;
    let response = service.get("/v1/pets?limit=50").await;
    assert_eq!(ids(&response.expect(200)), added);
    assert_eq!(response.header("link"), None);
}

#[tokio::test]
async fn leading_zeros_are_decimal_digits() {
    let service = Service::start().await;
    let added = service.add(3).await;
    assert_eq!(ids(&service.get("/v1/pets?limit=002").await.expect(200)), added[..2]);
}

#[tokio::test]
async fn percent_encoded_digits_are_digits() {
    let service = Service::start().await;
    let added = service.add(3).await;
    assert_eq!(ids(&service.get("/v1/pets?l%69mit=%32").await.expect(200)), added[..2]);
}

#[tokio::test]
async fn other_limits_are_rejected_and_not_clamped() {
    let service = Service::start().await;
    for query in [
        "limit=0",
        "limit=101",
        "limit=-1",
        "limit=%2B5",
        "limit=5.0",
        "limit=1e1",
        "limit=0x10",
        "limit=%205",
        "limit=ten",
        "limit=%D9%A5",
        "limit=99999999999999999999999999",
        "limit=4294967297",
        "limit=",
        "limit",
        "limit=%FF",
    ] {
        let message = service.get(&format!("/v1/pets?{query}")).await.expect_error(400, "invalid_parameter");
        assert_eq!(message, "limit must be an integer from 1 to 100", "{query}");
    }
}

#[tokio::test]
async fn a_repeated_limit_is_rejected() {
    let service = Service::start().await;
    let message = service.get("/v1/pets?limit=5&limit=5").await.expect_error(400, "invalid_parameter");
    assert_eq!(message, "limit must be given only once");
}

#[tokio::test]
async fn an_invalid_limit_does_not_reach_the_store() {
    let service = Service::start().await;
    service.get("/v1/pets?limit=101").await.expect_error(400, "invalid_parameter");
    assert_eq!(service.store.page_queries(), []);
}
