//! Values of `petId` other than a canonical int64 are 404.

use crate::declared_statuses::wrong_method;
use crate::service::{RequestExt, Service};

/// Each test sends the target unchanged and expects 404 from `getPet`.
macro_rules! not_found {
    ($($name:ident: $id:literal)*) => {$(
        #[tokio::test]
        async fn $name() {
            let service = Service::start().await;
            assert_eq!(service.add(1).await, [1]);
            let mut raw = service.raw().await;
            raw.head(concat!("GET /v1/pets/", $id), "").await;
            let response = raw.response().await;
            response.expect_error(404, "not_found");
            assert!(response.header("sunset").is_some(), "the response is not from getPet");
        }
    )*};
}

not_found! {
    a_word_is_not_found: "rex"
    a_plus_sign_is_not_found: "+1"
    a_leading_zero_is_not_found: "01"
    minus_zero_is_not_found: "-0"
    a_fraction_is_not_found: "1.0"
    an_exponent_is_not_found: "1e0"
    hexadecimal_is_not_found: "0x1"
    a_percent_encoded_digit_is_not_found: "%31"
    a_percent_encoded_space_is_not_found: "1%20"
    a_percent_encoded_slash_is_not_found: "1%2F"
    a_percent_encoded_percent_sign_is_not_found: "%2531"
    a_nul_is_not_found: "1%00"
    a_matrix_parameter_is_not_found: "1;v=1"
    digits_other_than_ascii_are_not_found: "%D9%A1"
    one_above_int64_is_not_found: "9223372036854775808"
    one_below_int64_is_not_found: "-9223372036854775809"
    a_hundred_digits_are_not_found:
        "11111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111"
}

#[tokio::test]
async fn an_invalid_id_is_checked_after_the_key() {
    let service = Service::start().await;
    let response = service.get_with("nonsense", "/v1/pets/rex").await;
    response.expect_error(401, "unauthorized");
}

#[tokio::test]
async fn another_method_on_an_invalid_id_is_not_allowed() {
    let service = Service::start().await;
    let request = service.request(wrong_method("/v1/pets/rex"), "/v1/pets/rex");
    request.response().await.expect_error(405, "method_not_allowed");
}
