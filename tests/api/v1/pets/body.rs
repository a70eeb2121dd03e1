//! The request body of `createPet`: one JSON object, parsed strictly.

use serde_json::json;

use crate::service::Service;

const OBJECT: &str = "the body must be a JSON object";
const INVALID: &str = "the body is not valid JSON: ";
const END: &str = "the body is not valid JSON: trailing characters";

#[tokio::test]
async fn other_bodies_than_one_json_object_are_rejected() {
    let service = Service::start().await;
    let rows: [(Vec<u8>, &str); 35] = [
        ("".into(), OBJECT),
        (" \r\n\t".into(), OBJECT),
        (r#"["Rex",1,"sold"]"#.into(), OBJECT),
        (r#"[{"name":"Rex","categoryId":1}]"#.into(), OBJECT),
        (r#""Rex""#.into(), OBJECT),
        ("1".into(), OBJECT),
        ("null".into(), OBJECT),
        ("name=Rex&categoryId=1".into(), OBJECT),
        ("\u{feff}{\"name\":\"Rex\",\"categoryId\":1}".into(), OBJECT),
        (r#"{"name":"Rex","categoryId":1"#.into(), INVALID),
        ("{'name':'Rex','categoryId':1}".into(), INVALID),
        (r#"{"name":"Rex","categoryId":1,}"#.into(), INVALID),
        (r#"{"name":"Rex",/* */"categoryId":1}"#.into(), INVALID),
        (r#"{"name":"Rex","categoryId":01}"#.into(), INVALID),
        (r#"{"name":"Rex","categoryId":+1}"#.into(), INVALID),
        (r#"{"name":"Rex","categoryId":NaN}"#.into(), INVALID),
        ("{\"name\":\"R\nx\",\"categoryId\":1}".into(), ""),
        (r#"{"name":"\ud83e","categoryId":1}"#.into(), ""),
        (b"{\"name\":\"R\xffx\",\"categoryId\":1}".to_vec(), ""),
        (r#"{"name":"Rex","categoryId":1}x"#.into(), END),
        (r#"{"name":"Rex","categoryId":1}{"name":"Mia","categoryId":2}"#.into(), END),
        ("{\"name\":\"Rex\",\"categoryId\":1}\0".into(), END),
        (r#"{"name":"Rex","name":"Rex","categoryId":1}"#.into(), "name must be given only once"),
        (r#"{"name":"Rex","categoryId":1,"categoryId":1}"#.into(), "categoryId must be given only once"),
        (
            r#"{"name":"Rex","categoryId":1,"status":"sold","status":"sold"}"#.into(),
            "status must be given only once",
        ),
        (r#"{"name":"Rex","n\u0061me":"Rex","categoryId":1}"#.into(), "name must be given only once"),
        (
            r#"{"id":1,"name":"Rex","categoryId":1}"#.into(),
            "unknown field \"id\"; the body takes name, categoryId, status",
        ),
        (
            r#"{"name":"Rex","categoryId":1,"colour":"red"}"#.into(),
            "unknown field \"colour\"; the body takes name, categoryId, status",
        ),
        (r#"{"Name":"Rex","categoryId":1}"#.into(), "unknown field \"Name\""),
        (r#"{"name":"Rex","category_id":1}"#.into(), "unknown field \"category_id\""),
        (r#"{"name":"Rex","categoryId":1,"tag":null}"#.into(), "unknown field \"tag\""),
        (r#"{"name":"Rex","categoryId":1,"":1}"#.into(), "unknown field; the body takes"),
        (
            format!(r#"{{"tag":{}{}}}"#, "[".repeat(30_000), "]".repeat(30_000)).into(),
            "unknown field \"tag\"",
        ),
        (
            format!(r#"{{"name":{}{}}}"#, "[".repeat(30_000), "]".repeat(30_000)).into(),
            "name must be a string",
        ),
        (format!(r#"{{"categoryId":{}{}}}"#, "[".repeat(30_000), "]".repeat(30_000)).into(), ""),
    ];
    for (body, expected) in rows {
        let sent = String::from_utf8_lossy(&body).into_owned();
        let message = service.post_text(body).await.expect_error(400, "invalid_body");
        assert!(message.starts_with(expected), "{sent}: {message}");
    }
    assert_eq!(service.get("/v1/pets").await.expect(200), json!([]));
}

#[tokio::test]
async fn other_forms_of_the_object_are_accepted() {
    let service = Service::start().await;
    for body in [
        r#"{"categoryId":1,"status":"sold","name":"Rex"}"#,
        " \r\n\t{ \"name\" : \"Rex\" ,\n \"categoryId\" : 1 } \r\n",
        r#"{"n\u0061me":"Rex","categoryId":1}"#,
    ] {
        let pet = service.post_text(body).await.expect(201);
        assert_eq!((&pet["name"], &pet["categoryId"]), (&json!("Rex"), &json!(1)), "{body}");
    }
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
