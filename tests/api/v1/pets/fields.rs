//! The fields of a new animal: valid values, which are stored unchanged, and invalid ones.

use serde_json::{Value, json};

use crate::database::{Engine, on_each_engine};
use crate::service::{Service, id};

on_each_engine! {
    valid_values_are_kept
}

/// Adds an animal with this body. Checks that its fields are unchanged in the response and in the animal. Returns it.
async fn kept(service: &Service, body: String) -> Value {
    let sent: Value = serde_json::from_str(&body).unwrap();
    let added = service.post_text(body).await.expect(201);
    for (field, value) in sent.as_object().unwrap() {
        assert_eq!(added[field], *value, "{sent}");
    }
    assert_eq!(service.get(&format!("/v1/pets/{}", id(&added))).await.expect(200), added);
    added
}

async fn valid_values_are_kept(engine: Engine) {
    let service = engine.start().await;
    let names = [
        "R".to_owned(),
        "r".repeat(255),
        "🦊".repeat(255),
        "  Rex\t".to_owned(),
        " ".to_owned(),
        "Rex\r\nthe Third".to_owned(),
        "\u{1}\u{7f}\u{85}".to_owned(),
        "\"Rex\\' OR 1=1; --".to_owned(),
        "e\u{301} and \u{e9}".to_owned(),
        "\u{202e}Rex ריקס".to_owned(),
        "\u{fffd}\u{ffff}\u{10ffff}".to_owned(),
        "007".to_owned(),
    ];
    let name = |name: String| json!({ "name": name, "categoryId": 1 }).to_string();
    let category = |category: i64| json!({ "name": "Rex", "categoryId": category }).to_string();
    let status = |status: &str| json!({ "name": "Rex", "categoryId": 1, "status": status }).to_string();
    let escaped = r#"{"name":"\ud83e\udd8a \u0052\u0065x","categoryId":1}"#.to_owned();
    let bodies = names.map(name).into_iter().chain([i64::MAX, i64::MIN, 0, -1].map(category));
    let bodies = bodies.chain(["available", "pending", "sold"].map(status)).chain([escaped]);
    let mut added = Vec::new();
    for body in bodies {
        added.push(kept(&service, body).await);
    }
    assert_eq!(service.get("/v1/pets?limit=100").await.expect(200), json!(added));
}

const LENGTH: &str = "name must have 1 to 255 characters";
const STRING: &str = "name must be a string";
const STATUS: &str = "status must be one of available, pending, sold";
const INTEGER: &str = "categoryId must be an integer from -9223372036854775808 to 9223372036854775807";

#[tokio::test]
async fn invalid_values_are_rejected() {
    let service = Service::start().await;
    let rows: [(String, &str); 25] = [
        (r#"{"name":"","categoryId":1}"#.into(), LENGTH),
        (json!({ "name": "r".repeat(256), "categoryId": 1 }).to_string(), LENGTH),
        (json!({ "name": "🦊".repeat(256), "categoryId": 1 }).to_string(), LENGTH),
        (json!({ "name": "r".repeat(60_000), "categoryId": 1 }).to_string(), LENGTH),
        (r#"{"name":"Rex\u0000","categoryId":1}"#.into(), "name must not contain U+0000"),
        (r#"{"categoryId":1}"#.into(), "name is missing"),
        (r#"{"name":null,"categoryId":1}"#.into(), STRING),
        (r#"{"name":7,"categoryId":1}"#.into(), STRING),
        (r#"{"name":["Rex"],"categoryId":1}"#.into(), STRING),
        (r#"{"name":{"first":"Rex"},"categoryId":1}"#.into(), STRING),
        (r#"{"name":"Rex"}"#.into(), "categoryId is missing"),
        (r#"{"name":"Rex","categoryId":null}"#.into(), INTEGER),
        (r#"{"name":"Rex","categoryId":"1"}"#.into(), INTEGER),
        (r#"{"name":"Rex","categoryId":1.0}"#.into(), INTEGER),
        (r#"{"name":"Rex","categoryId":1e3}"#.into(), INTEGER),
        (r#"{"name":"Rex","categoryId":-0}"#.into(), INTEGER),
        (r#"{"name":"Rex","categoryId":true}"#.into(), INTEGER),
        (r#"{"name":"Rex","categoryId":9223372036854775808}"#.into(), INTEGER),
        (r#"{"name":"Rex","categoryId":-9223372036854775809}"#.into(), INTEGER),
        (format!(r#"{{"name":"Rex","categoryId":{}}}"#, "9".repeat(100)), INTEGER),
        (r#"{"name":"Rex","categoryId":1,"status":"lost"}"#.into(), STATUS),
        (r#"{"name":"Rex","categoryId":1,"status":"SOLD"}"#.into(), STATUS),
        (r#"{"name":"Rex","categoryId":1,"status":""}"#.into(), STATUS),
        (r#"{"name":"Rex","categoryId":1,"status":null}"#.into(), "status must not be null"),
        (r#"{"name":"Rex","categoryId":1,"status":1}"#.into(), STATUS),
    ];
    for (body, expected) in rows {
        let message = service.post_text(body.clone()).await.expect_error(400, "invalid_body");
        assert_eq!(message, expected, "{body}");
    }
    assert_eq!(service.get("/v1/pets").await.expect(200), json!([]));
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
