//! The parameter `limit`.

use std::num::NonZeroU64;

use crate::service::{Service, ids};

#[tokio::test]
async fn without_a_limit_a_page_has_20_animals() {
    let service = Service::start().await;
    let added = service.add(21).await;
    assert_eq!(ids(&service.get("/v1/pets").await.expect(200)), added[..20]);
}

#[tokio::test]
async fn a_limit_of_1_is_a_page_of_one_animal() {
    let service = Service::start().await;
    let added = service.add(2).await;
    assert_eq!(ids(&service.get("/v1/pets?limit=1").await.expect(200)), added[..1]);
}

#[tokio::test]
async fn a_limit_of_100_is_a_page_of_100_animals() {
    let service = Service::start().await;
    let added = service.add(101).await;
    let client = service.client();
    let page = client.list_pets().limit(NonZeroU64::new(100).unwrap()).send().await.unwrap();
    assert_eq!(page.iter().map(|pet| pet.id).collect::<Vec<_>>(), added[..100]);
}

#[tokio::test]
async fn a_limit_above_the_number_of_animals_returns_all() {
    let service = Service::start().await;
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

/// Each test expects 400 and a message with the parameter and its bounds.
macro_rules! rejected {
    ($($name:ident: $query:literal)*) => {$(
        #[tokio::test]
        async fn $name() {
            let service = Service::start().await;
            let message = service.get(concat!("/v1/pets?", $query)).await.expect_error(400, "invalid_parameter");
            assert_eq!(message, "limit must be an integer from 1 to 100");
        }
    )*};
}

rejected! {
    a_limit_of_0_is_rejected: "limit=0"
    a_limit_of_101_is_rejected_and_not_clamped: "limit=101"
    a_negative_limit_is_rejected: "limit=-1"
    a_limit_with_a_plus_sign_is_rejected: "limit=%2B5"
    a_limit_with_a_fraction_is_rejected: "limit=5.0"
    a_limit_with_an_exponent_is_rejected: "limit=1e1"
    a_limit_in_hexadecimal_is_rejected: "limit=0x10"
    a_limit_with_a_space_is_rejected: "limit=%205"
    a_limit_of_letters_is_rejected: "limit=ten"
    a_limit_in_other_digits_than_ascii_is_rejected: "limit=%D9%A5"
    a_limit_that_would_overflow_64_bits_is_rejected: "limit=99999999999999999999999999"
    a_limit_that_would_overflow_32_bits_is_rejected: "limit=4294967297"
    an_empty_limit_is_rejected: "limit="
    a_limit_without_a_value_is_rejected: "limit"
    a_limit_that_is_not_utf_8_is_rejected: "limit=%FF"
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
