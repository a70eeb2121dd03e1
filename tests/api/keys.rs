//! Authentication by API key.

use std::time::Duration;

use animal_store::keys;
use aws_lc_rs::digest::{SHA256, digest};
use jiff::{SignedDuration, Timestamp};
use reqwest::Method;

use crate::database::{Engine, on_each_engine};
use crate::service::{RequestExt, Service};
use kit::clock::Clock;
use kit::recorder::wire::Response;

on_each_engine! {
    a_key_of_another_store_is_invalid
    a_revoked_key_is_invalid_immediately_and_others_stay_valid
    a_key_revoked_by_another_process_is_invalid_within_two_seconds
    a_key_is_valid_until_it_expires
    after_a_rotation_both_keys_are_valid_during_the_overlap
    after_the_overlap_only_the_new_key_is_valid
    the_database_contains_no_key
    a_key_is_stored_as_its_hash
}

const ABSENT: &str = "Bearer realm=\"animal-store\"";
const INVALID: &str = "Bearer realm=\"animal-store\", error=\"invalid_token\"";

#[track_caller]
fn unauthorized(response: &Response, challenge: &str) {
    response.expect_error(401, "unauthorized");
    assert_eq!(response.header("www-authenticate"), Some(challenge));
}

/// Sends a GET request with these header fields, each of which ends in CRLF.
async fn get_with_fields(service: &Service, fields: &str) -> Response {
    let mut raw = service.raw().await;
    raw.head_without_key("GET /v1/pets", fields).await;
    raw.response().await
}

#[tokio::test]
async fn without_a_key_the_challenge_names_no_error() {
    let service = Service::start().await;
    for fields in [
        "",
        "Authorization: \r\n",
        "Authorization: Bearer\r\n",
        "Authorization: Bearer  \r\n",
        "Authorization: Basic KEY\r\n",
        "Authorization: KEY\r\n",
        "Proxy-Authorization: Bearer KEY\r\n",
        "Cookie: key=KEY\r\n",
        "X-Api-Key: KEY\r\n",
    ] {
        let fields = fields.replace("KEY", &service.key);
        unauthorized(&get_with_fields(&service, &fields).await, ABSENT);
    }
}

#[tokio::test]
async fn the_challenge_names_an_invalid_key() {
    let service = Service::start().await;
    for fields in [
        "Authorization: Bearer nonsense\r\n",
        "Authorization: Bearer KEYx\r\n",
        "Authorization: Bearer KEY KEY\r\n",
        "Authorization: Bearer \"KEY\"\r\n",
        "Authorization: Bearer KEY,KEY\r\n",
        "Authorization: Bearer KEY\r\nAuthorization: Bearer KEY\r\n",
        "Authorization: Bearer KEY\r\nAuthorization: Basic x\r\n",
    ] {
        let fields = fields.replace("KEY", &service.key);
        unauthorized(&get_with_fields(&service, &fields).await, INVALID);
    }
}

#[tokio::test]
async fn the_key_is_accepted_in_other_forms_of_the_field() {
    let service = Service::start().await;
    for fields in [
        "Authorization: Bearer KEY\r\n",
        "Authorization: bearer KEY\r\n",
        "Authorization: BEARER KEY\r\n",
        "Authorization: Bearer   KEY\r\n",
        "Authorization: Bearer KEY  \r\n",
    ] {
        let fields = fields.replace("KEY", &service.key);
        assert_eq!(get_with_fields(&service, &fields).await.status, 200, "{fields}");
    }
}

#[tokio::test]
async fn a_key_in_the_query_does_not_authenticate() {
    let service = Service::start().await;
    let target = format!("/v1/pets?access_token={}", service.key);
    unauthorized(&service.anonymous(Method::GET, &target).response().await, ABSENT);
}

#[tokio::test]
async fn a_key_with_any_character_changed_is_invalid() {
    let service = Service::start().await;
    for at in 0..service.key.len() {
        let mut other = service.key.clone();
        let character = if &other[at..=at] == "x" { "y" } else { "x" };
        other.replace_range(at..=at, character);
        unauthorized(&service.get_with(&other, "/v1/pets").await, INVALID);
    }
}

#[tokio::test]
async fn the_case_of_a_key_matters() {
    let service = Service::start().await;
    for key in [service.key.to_lowercase(), service.key.to_uppercase()] {
        unauthorized(&service.get_with(&key, "/v1/pets").await, INVALID);
    }
}

#[tokio::test]
async fn a_key_that_is_not_utf_8_is_rejected() {
    let service = Service::start().await;
    let mut raw = service.raw().await;
    raw.send(b"GET /v1/pets HTTP/1.1\r\nHost: animals\r\nAuthorization: Bearer \xff\xfe\r\n\r\n").await;
    raw.response().await.expect_error(401, "unauthorized");
}

#[tokio::test]
async fn a_key_of_10000_characters_is_invalid() {
    let service = Service::start().await;
    unauthorized(&service.get_with(&("ask_".to_owned() + &"a".repeat(10_000)), "/v1/pets").await, INVALID);
}

async fn a_key_of_another_store_is_invalid(engine: Engine) {
    let (service, other) = (engine.start().await, engine.start().await);
    unauthorized(&service.get_with(&other.key, "/v1/pets").await, INVALID);
}

#[tokio::test]
async fn a_key_has_a_prefix_and_a_checksum_for_secret_scanners() {
    let service = Service::start().await;
    let random = service.key.strip_prefix("ask_").expect("the prefix");
    assert!(random.len() >= 36 && random.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{random}");
    let (secret, check) = service.key.split_at(service.key.len() - 6);
    let digits = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let value = check.bytes().fold(0_u64, |value, character| {
        value * 62 + digits.iter().position(|digit| *digit == character).unwrap() as u64
    });
    assert_eq!(value, u64::from(crc32fast::hash(secret.as_bytes())));
}

#[tokio::test]
async fn several_keys_are_valid_at_once() {
    let service = Service::start().await;
    let other = service.new_key("other", None).await;
    service.get_with(&service.key, "/v1/pets").await.expect(200);
    service.get_with(&other.secret, "/v1/pets").await.expect(200);
}

async fn a_revoked_key_is_invalid_immediately_and_others_stay_valid(engine: Engine) {
    let service = engine.start().await;
    let other = service.new_key("other", None).await;
    service.get_with(&other.secret, "/v1/pets").await.expect(200);
    assert!(service.store.revoke_key(&other.record.id, Timestamp::now()).await.unwrap());
    unauthorized(&service.get_with(&other.secret, "/v1/pets").await, INVALID);
    service.get("/v1/pets").await.expect(200);
}

async fn a_key_revoked_by_another_process_is_invalid_within_two_seconds(engine: Engine) {
    let clock = Clock::stopped();
    let service = engine.start().await;
    let key = service.new_key("other", None).await;
    service.get_with(&key.secret, "/v1/pets").await.expect(200);
    let other = service.open_store_again().await;
    assert!(other.revoke_key(&key.record.id, Timestamp::now()).await.unwrap());
    // The upper limit that `Store::key_for_authentication` documents.
    clock.advance(Duration::from_secs(2)).await;
    unauthorized(&service.get_with(&key.secret, "/v1/pets").await, INVALID);
}

async fn a_key_is_valid_until_it_expires(engine: Engine) {
    let service = engine.start().await;
    let valid = service.new_key("valid", Some(SignedDuration::from_hours(1))).await;
    let expired = service.new_key("expired", Some(SignedDuration::from_secs(-1))).await;
    service.get_with(&valid.secret, "/v1/pets").await.expect(200);
    unauthorized(&service.get_with(&expired.secret, "/v1/pets").await, INVALID);
}

async fn after_a_rotation_both_keys_are_valid_during_the_overlap(engine: Engine) {
    let service = engine.start().await;
    let old = service.new_key("old", None).await;
    let overlap = SignedDuration::from_hours(24);
    let new = keys::rotate(&service.store, &old.record.id, Timestamp::now(), overlap, None).await;
    let (_, new) = new.unwrap();
    service.recorder.add_secret(&new.secret);
    service.get_with(&old.secret, "/v1/pets").await.expect(200);
    service.get_with(&new.secret, "/v1/pets").await.expect(200);
}

async fn after_the_overlap_only_the_new_key_is_valid(engine: Engine) {
    let service = engine.start().await;
    let old = service.new_key("old", None).await;
    let none = SignedDuration::ZERO;
    let before = Timestamp::now() - SignedDuration::from_secs(2);
    let new = keys::rotate(&service.store, &old.record.id, before, none, None).await;
    let (_, new) = new.unwrap();
    unauthorized(&service.get_with(&old.secret, "/v1/pets").await, INVALID);
    service.get_with(&new.secret, "/v1/pets").await.expect(200);
}

async fn the_database_contains_no_key(engine: Engine) {
    let mut service = engine.start().await;
    service.get("/v1/pets").await.expect(200);
    let identifier = service.store.keys().await.unwrap().remove(0).id;
    let contains =
        |bytes: &[u8], text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    let stored = service.stored().await;
    assert!(contains(&stored, &identifier) && !contains(&stored, &service.key));
    service.stop(Duration::from_secs(5)).await;
    service.store.close().await;
    let stored = service.stored().await;
    assert!(contains(&stored, &identifier) && !contains(&stored, &service.key));
}

async fn a_key_is_stored_as_its_hash(engine: Engine) {
    let service = engine.start().await;
    let key = service.new_key("shop", Some(SignedDuration::from_hours(1))).await;
    let stored = service.store.keys().await.unwrap();
    let stored = stored.iter().find(|stored| stored.id == key.record.id).expect("the key");
    assert_eq!(stored.hash, *digest(&SHA256, key.secret.as_bytes()).as_ref());
    assert_eq!((&*stored.name, stored.revoked), ("shop", None));
    assert!(stored.expires > Some(stored.created));
}

#[tokio::test]
async fn the_typed_client_gets_a_typed_error_for_an_invalid_key() {
    let service = Service::start().await;
    let error = service.client_with("nonsense").list_pets().send().await.unwrap_err();
    let progenitor_client::Error::ErrorResponse(response) = error else { panic!("{error:?}") };
    assert_eq!((response.code.as_str(), response.status), ("unauthorized", 401));
}

#[tokio::test]
async fn the_log_contains_the_identifier_of_a_key_but_never_the_key() {
    let service = Service::start().await;
    let other = service.new_key("other", None).await;
    service.get_with(&other.secret, "/v1/pets").await.expect(200);
    // Places where clients put keys by mistake.
    service.get(&format!("/v1/{}", service.key)).await.expect_error(404, "not_found");
    service.get(&format!("/v1/pets?key={}", service.key)).await.expect_error(400, "invalid_parameter");
    service.get(&format!("/v1/pets/{}", service.key)).await.expect_error(404, "not_found");
    service.post_text(service.key.clone()).await.expect_error(400, "invalid_body");
    // `Service` checks at the end of every test that the log contains no key; here the log must not be empty.
    let log = service.log.text();
    assert!(log.contains(&other.record.id), "{log}");
    assert!(!log.contains(&other.secret) && !log.contains(&service.key));
}
