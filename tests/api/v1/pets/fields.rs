//! The fields of a new animal: valid values, which are stored unchanged, and invalid ones.

use serde_json::{Value, json};

use crate::service::{Service, id};

/// Adds an animal with this body. Checks that the field is unchanged in the response, in the animal and in the list.
async fn kept(field: &str, body: &str) {
    let service = Service::start().await;
    let sent: Value = serde_json::from_str(body).unwrap();
    let added = service.post_text(body.to_owned()).await.expect(201);
    assert_eq!(added[field], sent[field]);
    assert_eq!(service.get(&format!("/v1/pets/{}", id(&added))).await.expect(200), added);
    assert_eq!(service.get("/v1/pets").await.expect(200), json!([added]));
}

/// Sends an invalid body. Returns the error message.
async fn rejected(body: &str) -> String {
    let service = Service::start().await;
    let message = service.post_text(body.to_owned()).await.expect_error(400, "invalid_body");
    assert_eq!(service.get("/v1/pets").await.expect(200), json!([]));
    message
}

macro_rules! names {
    ($($name:ident: $value:expr,)*) => {$(
        #[tokio::test]
        async fn $name() {
            kept("name", &json!({ "name": $value, "categoryId": 1 }).to_string()).await;
        }
    )*};
}

names! {
    a_name_of_1_character_is_kept: "R",
    a_name_of_255_characters_is_kept: "r".repeat(255),
    a_name_of_255_characters_of_4_bytes_is_kept: "🦊".repeat(255),
    spaces_around_a_name_are_kept: "  Rex\t",
    a_name_of_one_space_is_kept: " ",
    a_name_keeps_its_line_breaks: "Rex\r\nthe Third",
    a_name_keeps_control_characters: "\u{1}\u{7f}\u{85}",
    a_name_keeps_quotes_and_backslashes: "\"Rex\\' OR 1=1; --",
    a_name_is_not_normalised: "e\u{301} and \u{e9}",
    a_name_keeps_directional_characters: "\u{202e}Rex ריקס",
    a_name_keeps_the_last_characters_of_unicode: "\u{fffd}\u{ffff}\u{10ffff}",
    a_name_that_looks_like_a_number_is_kept: "007",
}

#[tokio::test]
async fn a_name_may_be_written_with_escapes() {
    kept("name", r#"{"name":"\ud83e\udd8a \u0052\u0065x","categoryId":1}"#).await;
}

const LENGTH: &str = "name must have 1 to 255 characters";
const STRING: &str = "name must be a string";
const STATUS: &str = "status must be one of available, pending, sold";
const INTEGER: &str = "categoryId must be an integer from -9223372036854775808 to 9223372036854775807";

macro_rules! rejections {
    ($($name:ident: $body:expr => $message:expr,)*) => {$(
        #[tokio::test]
        async fn $name() {
            assert_eq!(rejected(&$body).await, $message);
        }
    )*};
}

rejections! {
    an_empty_name_is_rejected: r#"{"name":"","categoryId":1}"# => LENGTH,
    a_name_of_256_characters_is_rejected:
        json!({ "name": "r".repeat(256), "categoryId": 1 }).to_string() => LENGTH,
    a_name_of_256_characters_of_4_bytes_is_rejected:
        json!({ "name": "🦊".repeat(256), "categoryId": 1 }).to_string() => LENGTH,
    a_very_long_name_is_rejected:
        json!({ "name": "r".repeat(60_000), "categoryId": 1 }).to_string() => LENGTH,
    a_name_with_the_character_0_is_rejected:
        r#"{"name":"Rex\u0000","categoryId":1}"# => "name must not contain U+0000",
    a_missing_name_is_rejected: r#"{"categoryId":1}"# => "name is missing",
    a_null_name_is_rejected: r#"{"name":null,"categoryId":1}"# => STRING,
    a_name_that_is_a_number_is_rejected: r#"{"name":7,"categoryId":1}"# => STRING,
    a_name_that_is_a_list_is_rejected: r#"{"name":["Rex"],"categoryId":1}"# => STRING,
    a_name_that_is_an_object_is_rejected: r#"{"name":{"first":"Rex"},"categoryId":1}"# => STRING,

    a_missing_category_is_rejected: r#"{"name":"Rex"}"# => "categoryId is missing",
    a_null_category_is_rejected: r#"{"name":"Rex","categoryId":null}"# => INTEGER,
    a_category_in_quotes_is_rejected: r#"{"name":"Rex","categoryId":"1"}"# => INTEGER,
    a_category_with_a_fraction_is_rejected: r#"{"name":"Rex","categoryId":1.0}"# => INTEGER,
    a_category_with_an_exponent_is_rejected: r#"{"name":"Rex","categoryId":1e3}"# => INTEGER,
    a_category_of_minus_zero_is_rejected: r#"{"name":"Rex","categoryId":-0}"# => INTEGER,
    a_category_of_true_is_rejected: r#"{"name":"Rex","categoryId":true}"# => INTEGER,
    a_category_above_int64_is_rejected: r#"{"name":"Rex","categoryId":9223372036854775808}"# => INTEGER,
    a_category_below_int64_is_rejected: r#"{"name":"Rex","categoryId":-9223372036854775809}"# => INTEGER,
    a_category_of_a_hundred_digits_is_rejected:
        format!(r#"{{"name":"Rex","categoryId":{}}}"#, "9".repeat(100)) => INTEGER,

    an_unknown_status_is_rejected: r#"{"name":"Rex","categoryId":1,"status":"lost"}"# => STATUS,
    a_status_in_upper_case_is_rejected: r#"{"name":"Rex","categoryId":1,"status":"SOLD"}"# => STATUS,
    an_empty_status_is_rejected: r#"{"name":"Rex","categoryId":1,"status":""}"# => STATUS,
    a_null_status_is_rejected: r#"{"name":"Rex","categoryId":1,"status":null}"# => "status must not be null",
    a_status_that_is_a_number_is_rejected: r#"{"name":"Rex","categoryId":1,"status":1}"# => STATUS,
}

macro_rules! categories {
    ($($name:ident: $value:literal)*) => {$(
        #[tokio::test]
        async fn $name() {
            kept("categoryId", concat!(r#"{"name":"Rex","categoryId":"#, $value, "}")).await;
        }
    )*};
}

categories! {
    the_greatest_int64_is_a_category: "9223372036854775807"
    the_least_int64_is_a_category: "-9223372036854775808"
    a_category_of_0_is_kept: "0"
    a_negative_category_is_kept: "-1"
}

macro_rules! statuses {
    ($($name:ident: $status:literal)*) => {$(
        #[tokio::test]
        async fn $name() {
            kept("status", concat!(r#"{"name":"Rex","categoryId":1,"status":""#, $status, "\"}")).await;
        }
    )*};
}

statuses! {
    an_animal_can_be_available: "available"
    an_animal_can_be_pending: "pending"
    an_animal_can_be_sold: "sold"
}

#[tokio::test]
async fn error_messages_do_not_repeat_field_values() {
    let service = Service::start().await;
    for body in [
        json!({ "name": 1, "categoryId": service.key }),
        json!({ "name": "Rex", "categoryId": service.key }),
        json!({ "name": "Rex", "categoryId": 1, "status": service.key }),
        json!({ "name": [service.key], "categoryId": 1 }),
        json!(service.key),
        json!([service.key]),
    ] {
        // The recorder knows the key and fails the test if a response contains it.
        service.post(body).await.expect_error(400, "invalid_body");
    }
}
