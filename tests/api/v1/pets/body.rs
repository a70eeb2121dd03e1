//! The request body of `createPet`: one JSON object, parsed strictly.

use serde_json::json;

use crate::service::Service;

macro_rules! rejections {
    ($($name:ident: $body:expr => $message:expr,)*) => {$(
        #[tokio::test]
        async fn $name() {
            let service = Service::start().await;
            let message = service.post_text($body).await.expect_error(400, "invalid_body");
            assert!(message.starts_with($message), "{message}");
            assert_eq!(service.get("/v1/pets").await.expect(200), json!([]));
        }
    )*};
}

const OBJECT: &str = "the body must be a JSON object";
const INVALID: &str = "the body is not valid JSON: ";
const END: &str = "the body is not valid JSON: trailing characters";

rejections! {
    an_empty_body_is_rejected: "" => OBJECT,
    a_body_of_spaces_is_rejected: " \r\n\t" => OBJECT,
    a_list_is_rejected: r#"["Rex",1,"sold"]"# => OBJECT,
    a_list_of_one_animal_is_rejected: r#"[{"name":"Rex","categoryId":1}]"# => OBJECT,
    a_string_is_rejected: r#""Rex""# => OBJECT,
    a_number_is_rejected: "1" => OBJECT,
    a_null_is_rejected: "null" => OBJECT,
    a_form_is_rejected: "name=Rex&categoryId=1" => OBJECT,
    a_byte_order_mark_is_rejected: "\u{feff}{\"name\":\"Rex\",\"categoryId\":1}" => OBJECT,
    an_object_without_its_end_is_rejected: r#"{"name":"Rex","categoryId":1"# => INVALID,
    single_quotes_are_rejected: "{'name':'Rex','categoryId':1}" => INVALID,
    a_trailing_comma_is_rejected: r#"{"name":"Rex","categoryId":1,}"# => INVALID,
    a_comment_is_rejected: r#"{"name":"Rex",/* */"categoryId":1}"# => INVALID,
    a_number_with_a_leading_zero_is_rejected: r#"{"name":"Rex","categoryId":01}"# => INVALID,
    a_number_with_a_plus_sign_is_rejected: r#"{"name":"Rex","categoryId":+1}"# => INVALID,
    not_a_number_is_rejected: r#"{"name":"Rex","categoryId":NaN}"# => INVALID,
    a_line_break_in_a_string_is_rejected: "{\"name\":\"R\nx\",\"categoryId\":1}" => "",
    an_unpaired_surrogate_is_rejected: r#"{"name":"\ud83e","categoryId":1}"# => "",
    bytes_that_are_not_utf_8_are_rejected: &b"{\"name\":\"R\xffx\",\"categoryId\":1}"[..] => "",
    characters_after_the_object_are_rejected: r#"{"name":"Rex","categoryId":1}x"# => END,
    a_second_object_is_rejected: r#"{"name":"Rex","categoryId":1}{"name":"Mia","categoryId":2}"# => END,
    a_nul_after_the_object_is_rejected: "{\"name\":\"Rex\",\"categoryId\":1}\0" => END,
    a_repeated_name_is_rejected: r#"{"name":"Rex","name":"Rex","categoryId":1}"#
        => "name must be given only once",
    a_repeated_category_is_rejected: r#"{"name":"Rex","categoryId":1,"categoryId":1}"#
        => "categoryId must be given only once",
    a_repeated_status_is_rejected: r#"{"name":"Rex","categoryId":1,"status":"sold","status":"sold"}"#
        => "status must be given only once",
    a_key_repeated_with_escapes_is_rejected: r#"{"name":"Rex","n\u0061me":"Rex","categoryId":1}"#
        => "name must be given only once",
    an_identifier_is_rejected: r#"{"id":1,"name":"Rex","categoryId":1}"#
        => "unknown field \"id\"; the body takes name, categoryId, status",
    an_unknown_field_is_rejected_and_named: r#"{"name":"Rex","categoryId":1,"colour":"red"}"#
        => "unknown field \"colour\"; the body takes name, categoryId, status",
    the_case_of_a_field_matters: r#"{"Name":"Rex","categoryId":1}"# => "unknown field \"Name\"",
    a_field_in_snake_case_is_unknown: r#"{"name":"Rex","category_id":1}"# => "unknown field \"category_id\"",
    an_unknown_field_that_is_null_is_rejected: r#"{"name":"Rex","categoryId":1,"tag":null}"#
        => "unknown field \"tag\"",
    an_unknown_field_with_an_empty_name_is_rejected: r#"{"name":"Rex","categoryId":1,"":1}"#
        => "unknown field; the body takes",
    a_field_with_a_deeply_nested_value_is_rejected:
        format!(r#"{{"tag":{}{}}}"#, "[".repeat(30_000), "]".repeat(30_000)) => "unknown field \"tag\"",
    a_name_with_a_deeply_nested_value_is_rejected:
        format!(r#"{{"name":{}{}}}"#, "[".repeat(30_000), "]".repeat(30_000)) => "name must be a string",
    a_category_with_a_deeply_nested_value_is_rejected:
        format!(r#"{{"categoryId":{}{}}}"#, "[".repeat(30_000), "]".repeat(30_000)) => "",
}

macro_rules! accepted {
    ($($name:ident: $body:expr,)*) => {$(
        #[tokio::test]
        async fn $name() {
            let service = Service::start().await;
            let pet = service.post_text($body).await.expect(201);
            assert_eq!((&pet["name"], &pet["categoryId"]), (&json!("Rex"), &json!(1)));
        }
    )*};
}

accepted! {
    the_order_of_fields_does_not_matter: r#"{"categoryId":1,"status":"sold","name":"Rex"}"#,
    white_space_is_ignored: " \r\n\t{ \"name\" : \"Rex\" ,\n \"categoryId\" : 1 } \r\n",
    a_field_may_be_written_with_escapes: r#"{"n\u0061me":"Rex","categoryId":1}"#,
}

#[tokio::test]
async fn an_unknown_field_that_is_an_api_key_is_not_repeated() {
    let service = Service::start().await;
    let body = json!({ "name": "Rex", "categoryId": 1, &service.key: 1 });
    let message = service.post(body).await.expect_error(400, "invalid_body");
    assert_eq!(message, "unknown field; the body takes name, categoryId, status");
}

/// JSON in strings of JSON, which serde_json's feature `raw_value` reads with a new limit of depth for each string.
fn nested_strings() -> String {
    let nested = |inner: &str| {
        let (open, close) = ("[".repeat(124), "]".repeat(124));
        format!(r#"{open}{{"$serde_json::private::RawValue":{}}}{close}"#, json!(inner))
    };
    let mut body = nested("1");
    while body.len() < 20_000 {
        body = nested(&body);
    }
    body
}

#[tokio::test]
async fn nested_json_does_not_overflow_the_stack() {
    let service = Service::start().await;
    for body in [
        format!(r#"{{"name":"Rex","categoryId":1,"status":[{}]}}"#, nested_strings()),
        format!(r#"{{"status":[{}],"name":null}}"#, nested_strings()),
        format!(r#"{{"name":{},"categoryId":1}}"#, nested_strings()),
        format!(r#"{{"name":"Rex","categoryId":{}}}"#, nested_strings()),
        format!(r#"{{"other":{}}}"#, nested_strings()),
    ] {
        assert!(body.len() < 65_536);
        service.post_text(body).await.expect_error(400, "invalid_body");
    }
}
