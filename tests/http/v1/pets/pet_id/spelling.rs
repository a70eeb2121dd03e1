//! Spellings of `petId`: an animal has one, and what is no int64 names no animal.

use crate::provocations::wrong_method;
use crate::service::{Ask, Service};

/// A test for each target, which is sent as it is: no animal is there, and `getPet` says so.
macro_rules! not_found {
    ($($name:ident: $id:literal)*) => {$(
        #[tokio::test]
        async fn $name() {
            let service = Service::start().await;
            assert_eq!(service.add(1).await, [1]);
            let mut raw = service.raw().await;
            raw.head(concat!("GET /v1/pets/", $id), "").await;
            let answer = raw.response().await;
            answer.refused(404, "not_found");
            assert!(answer.header("sunset").is_some(), "not an answer of getPet");
        }
    )*};
}

not_found! {
    a_word_names_no_animal: "rex"
    a_plus_sign_names_no_animal: "+1"
    a_leading_zero_names_no_animal: "01"
    minus_zero_names_no_animal: "-0"
    a_fraction_names_no_animal: "1.0"
    an_exponent_names_no_animal: "1e0"
    hexadecimal_names_no_animal: "0x1"
    a_percent_encoded_digit_names_no_animal: "%31"
    a_percent_encoded_space_names_no_animal: "1%20"
    a_percent_encoded_slash_names_no_animal: "1%2F"
    a_percent_encoded_percent_sign_names_no_animal: "%2531"
    a_nul_names_no_animal: "1%00"
    a_matrix_parameter_names_no_animal: "1;v=1"
    digits_other_than_ascii_name_no_animal: "%D9%A1"
    one_above_int64_names_no_animal: "9223372036854775808"
    one_below_int64_names_no_animal: "-9223372036854775809"
    a_hundred_digits_name_no_animal:
        "11111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111"
}

#[tokio::test]
async fn an_invalid_identifier_is_checked_after_the_key() {
    let service = Service::start().await;
    let answer = service.get_with("nonsense", "/v1/pets/rex").await;
    answer.refused(401, "unauthorized");
}

#[tokio::test]
async fn another_method_with_an_invalid_identifier_is_not_allowed() {
    let service = Service::start().await;
    let request = service.request(wrong_method("/v1/pets/rex"), "/v1/pets/rex");
    request.answer().await.refused(405, "method_not_allowed");
}
