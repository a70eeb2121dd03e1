//! Repeating an addition with its `Idempotency-Key`.

use futures::future::{join, join_all};
use progenitor_client::ResponseValue;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::task::yield_now;

use crate::client::Client;
use crate::client::types::{CreatePetIdempotencyKey, NewPet, Pet};
use crate::database::{Engine, on_each_engine};
use crate::failing_store::{Fault, Step};
use crate::service::{RequestExt, Service, id, ids};
use kit::recorder::wire::Response;

on_each_engine! {
    a_repeated_request_returns_the_first_response
    concurrent_requests_with_a_key_add_one_animal
    a_different_animal_is_refused
    the_response_of_an_animal_that_was_removed_is_repeated
    keys_are_compared_after_parsing_and_with_case
    a_refused_request_does_not_consume_its_key
    after_a_503_the_same_key_settles_the_outcome
    another_api_key_is_another_client
}

const KEY: &str = "\"8e03978e-40d5-43dd-bc93-6894a57f9324\"";

async fn post(service: &Service, key: &str, animal: &Value) -> Response {
    let request = service.request(Method::POST, "/v1/pets").header("idempotency-key", key);
    request.json(animal).response().await
}

fn rex() -> Value {
    json!({ "name": "Rex", "categoryId": 3, "status": "available" })
}

async fn a_repeated_request_returns_the_first_response(engine: Engine) {
    let service = engine.start().await;
    let first = post(&service, KEY, &rex()).await;
    let pet = first.expect(201);
    assert_eq!(first.header("idempotency-replayed"), None);
    for _ in 0..3 {
        let again = post(&service, KEY, &rex()).await;
        assert_eq!(again.expect(201), pet);
        assert_eq!(again.header("location"), first.header("location"));
        assert_eq!(again.header("idempotency-replayed"), Some("?1"));
    }
    assert_eq!(service.get("/v1/pets").await.expect(200), json!([pet]));
}

async fn concurrent_requests_with_a_key_add_one_animal(engine: Engine) {
    let service = engine.start().await;
    let animal = rex();
    let responses = join_all((0..32).map(|_| post(&service, KEY, &animal))).await;
    let first = responses.iter().filter(|response| response.header("idempotency-replayed").is_none());
    assert_eq!(first.count(), 1);
    let pets: Vec<Value> = responses.iter().map(|response| response.expect(201)).collect();
    assert!(pets.iter().all(|pet| *pet == pets[0]));
    assert_eq!(ids(&service.get("/v1/pets").await.expect(200)), [id(&pets[0])]);
}

#[tokio::test]
async fn the_form_of_the_body_does_not_matter() {
    let service = Service::start().await;
    let pet = post(&service, KEY, &rex()).await.expect(201);
    let body = " {\"status\":\"available\",\n\"categoryId\":3, \"name\":\"R\\u0065x\"}\t";
    let request = service.request(Method::POST, "/v1/pets").header("idempotency-key", KEY);
    let request = request.header("content-type", "application/json;charset=utf-8").body(body);
    assert_eq!(request.response().await.expect(201), pet);
}

async fn a_different_animal_is_refused(engine: Engine) {
    let service = engine.start().await;
    let pet = post(&service, KEY, &rex()).await.expect(201);
    for other in [
        json!({ "name": "rex", "categoryId": 3, "status": "available" }),
        json!({ "name": "Rex", "categoryId": 4, "status": "available" }),
        json!({ "name": "Rex", "categoryId": 3, "status": "sold" }),
        json!({ "name": "Rex", "categoryId": 3 }),
    ] {
        post(&service, KEY, &other).await.expect_error(422, "idempotency_key_reused");
    }
    assert_eq!(post(&service, KEY, &rex()).await.expect(201), pet);
    assert_eq!(service.get("/v1/pets").await.expect(200), json!([pet]));
}

async fn the_response_of_an_animal_that_was_removed_is_repeated(engine: Engine) {
    let service = engine.start().await;
    let first = post(&service, KEY, &rex()).await;
    service.execute_sql("DELETE FROM animal").await;
    let again = post(&service, KEY, &rex()).await;
    assert_eq!(again.header("idempotency-replayed"), Some("?1"));
    assert_eq!(again.header("location"), first.header("location"));
    assert_eq!(again.body, first.body);
    assert_eq!(service.get("/v1/pets").await.expect(200), json!([]));
}

async fn keys_are_compared_after_parsing_and_with_case(engine: Engine) {
    let service = engine.start().await;
    let first = id(&post(&service, r#""a\"b""#, &rex()).await.expect(201));
    assert_eq!(id(&post(&service, r#"  "a\"b" "#, &rex()).await.expect(201)), first);
    for other in [r#""A\"b""#, r#""a\"b ""#, r#""a\\b""#] {
        assert_ne!(id(&post(&service, other, &rex()).await.expect(201)), first);
    }
}

#[tokio::test]
async fn an_invalid_or_repeated_key_is_refused_and_adds_nothing() {
    let service = Service::start().await;
    let too_long = format!("\"{}\"", "x".repeat(65));
    for key in ["", "a", "\"\"", "\"a", "\"a\";p", "\"a\", \"b\"", "\"a\tb\"", &too_long] {
        let error = post(&service, key, &rex()).await.expect_error(400, "invalid_parameter");
        assert!(error.starts_with("Idempotency-Key must be "), "{error}");
    }
    let request = service.request(Method::POST, "/v1/pets").json(&rex());
    let request = request.header("idempotency-key", KEY).header("idempotency-key", KEY);
    request.response().await.expect_error(400, "invalid_parameter");
    let latin_1 = reqwest::header::HeaderValue::from_bytes(b"\"\xe9\"").unwrap();
    let request = service.request(Method::POST, "/v1/pets").json(&rex());
    request.header("idempotency-key", latin_1).response().await.expect_error(400, "invalid_parameter");
    assert_eq!(service.get("/v1/pets").await.expect(200), json!([]));
}

async fn a_refused_request_does_not_consume_its_key(engine: Engine) {
    let service = engine.start().await;
    post(&service, KEY, &json!({ "name": "" })).await.expect_error(400, "invalid_body");
    let pet = post(&service, KEY, &rex()).await;
    assert_eq!(pet.header("idempotency-replayed"), None);
    pet.expect(201);
}

async fn after_a_503_the_same_key_settles_the_outcome(engine: Engine) {
    let service = engine.start().await;
    for (fault, replayed) in
        [(Fault::Busy, None), (Fault::Unavailable, None), (Fault::UnavailableAfterCommit, Some("?1"))]
    {
        let key = format!("\"{}\"", uuid::Uuid::new_v4());
        let before = ids(&service.get("/v1/pets").await.expect(200));
        service.store.fail(Step::Write, fault);
        post(&service, &key, &rex()).await.expect_error(503, "unavailable");
        service.store.recover();
        let response = post(&service, &key, &rex()).await;
        assert_eq!(response.header("idempotency-replayed"), replayed);
        let added = id(&response.expect(201));
        assert_eq!(ids(&service.get("/v1/pets").await.expect(200)), [before, Vec::from([added])].concat());
    }
}

async fn another_api_key_is_another_client(engine: Engine) {
    let service = engine.start().await;
    let pet = post(&service, KEY, &rex()).await.expect(201);
    let other = service.new_key("other", None).await;
    let request = service.anonymous(Method::POST, "/v1/pets").bearer_auth(&other.secret);
    let response = request.header("idempotency-key", KEY).json(&rex()).response().await;
    assert_ne!(id(&response.expect(201)), id(&pet));
    assert_eq!(response.header("idempotency-replayed"), None);
}

#[tokio::test]
async fn a_get_ignores_the_header() {
    let service = Service::start().await;
    let request = service.request(Method::GET, "/v1/pets").header("idempotency-key", "not a string");
    assert_eq!(request.response().await.expect(200), json!([]));
}

/// Adds an animal once: while the service is unavailable it repeats the request with the same key.
async fn add_once(client: &Client, new: &NewPet, key: &CreatePetIdempotencyKey) -> ResponseValue<Pet> {
    loop {
        let request = client.create_pet().idempotency_key(key.clone()).body(new.clone());
        match request.send().await {
            Ok(added) => return added,
            Err(error) if error.status().is_none_or(|status| status == 503) => yield_now().await,
            Err(error) => panic!("{error}"),
        }
    }
}

#[tokio::test]
async fn the_typed_client_repeats_a_request() {
    let service = Service::start().await;
    let new = NewPet { name: "Mia".parse().unwrap(), category_id: 7, status: None };
    let key = KEY.parse().unwrap();
    let client = service.client();
    service.store.fail(Step::Write, Fault::UnavailableAfterCommit);
    let recovers = async {
        service.store.write_failed().await;
        service.store.recover();
    };
    let (added, ()) = join(add_once(&client, &new, &key), recovers).await;
    assert_eq!(added.headers()["idempotency-replayed"], "?1");
    assert_eq!(ids(&service.get("/v1/pets").await.expect(200)), [added.id]);
}
