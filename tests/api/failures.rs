//! Responses while the store fails, and recovery afterwards.

use std::time::Duration;

use futures::StreamExt as _;
use futures::stream::{self, FuturesUnordered};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::database::{Engine, on_each_engine};
use crate::declared_statuses::call;
use crate::failing_store::{Fault, Gate, INTERNALS, Step};
use crate::service::{RequestExt, Service, ids};
use kit::recorder::contract::Contract;

on_each_engine! {
    a_write_that_waits_too_long_for_a_lock_is_unavailable_and_the_service_recovers
    writes_beyond_the_queue_are_rejected_and_the_others_succeed
}

/// Each test checks that every operation returns this error while the store fails, and succeeds afterwards.
macro_rules! failures {
    ($($name:ident: $step:ident $fault:ident => $status:literal $code:literal $retry:expr;)*) => {$(
        #[tokio::test]
        async fn $name() {
            for operation in &Contract::get().operations {
                let service = Service::start().await;
                service.add(1).await;
                service.store.fail(Step::$step, Fault::$fault);
                let response = call(&service, operation).await;
                response.expect_error($status, $code);
                assert_eq!(response.header("retry-after"), $retry, "{}", operation.id);
                for internal in ["SQL", "/var", INTERNALS] {
                    assert!(!response.contains(internal), "{} contains {internal}", operation.id);
                }
                service.store.recover();
                let status = call(&service, operation).await.status;
                assert!(status < 300, "{}: the operation still fails after the store has recovered", operation.id);
            }
        }
    )*};
}

const SOON: Option<&str> = Some("1");

failures! {
    a_busy_store_is_unavailable: Any Busy => 503 "unavailable" SOON;
    an_unavailable_store_is_unavailable: Any Unavailable => 503 "unavailable" SOON;
    a_broken_store_is_internal: Any Broken => 500 "internal" None;
    a_panic_in_the_store_is_internal: Any Panic => 500 "internal" None;
    a_key_that_cannot_be_looked_up_is_unavailable: KeyByHash Unavailable => 503 "unavailable" SOON;
    a_key_in_a_broken_store_is_internal: KeyByHash Broken => 500 "internal" None;
    a_panic_while_looking_up_a_key_is_internal: KeyByHash Panic => 500 "internal" None;
}

#[tokio::test]
async fn a_failed_key_lookup_never_authenticates() {
    let service = Service::start().await;
    for fault in [Fault::Busy, Fault::Unavailable, Fault::Broken, Fault::Panic] {
        service.store.fail(Step::KeyByHash, fault);
        assert!(service.get("/v1/pets").await.status >= 500);
    }
    assert_eq!(service.store.page_queries(), []);
}

#[tokio::test]
async fn a_malformed_key_is_rejected_without_a_lookup() {
    let service = Service::start().await;
    service.store.fail(Step::KeyByHash, Fault::Unavailable);
    service.get_with("nonsense", "/v1/pets").await.expect_error(401, "unauthorized");
}

#[tokio::test]
async fn a_connection_survives_a_panic() {
    let service = Service::start().await;
    let mut raw = service.raw().await;
    service.store.fail(Step::Pets, Fault::Panic);
    raw.head("GET /v1/pets", "").await;
    raw.response().await.expect_error(500, "internal");
    service.store.recover();
    raw.head("GET /v1/pets", "").await;
    assert_eq!(raw.response().await.expect(200), json!([]));
}

#[tokio::test]
async fn a_panic_after_the_body_was_read_keeps_the_connection_usable() {
    let service = Service::start().await;
    let mut raw = service.raw().await;
    service.store.fail(Step::Write, Fault::Panic);
    let body = r#"{"name":"Rex","categoryId":1}"#;
    let fields = format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len());
    raw.head("POST /v1/pets", &fields).await.send(body).await;
    raw.response().await.expect_error(500, "internal");
    service.store.recover();
    raw.head("POST /v1/pets", &fields).await.send(body).await;
    raw.response().await.expect(201);
}

#[tokio::test]
async fn a_panic_does_not_affect_other_requests() {
    let service = Service::start().await;
    service.add(1).await;
    let gate = Gate::closed();
    service.store.fail(Step::Read, Fault::Stall(gate.clone()));
    service.store.fail(Step::Pets, Fault::Panic);
    let waiting = async { service.get("/v1/pets/1").await.expect(200) };
    let panicking = async {
        gate.arrival().await;
        service.get("/v1/pets").await.expect_error(500, "internal");
        gate.open();
    };
    let (pet, ()) = tokio::join!(waiting, panicking);
    assert_eq!(pet["id"], 1);
}

#[tokio::test]
async fn head_of_a_failing_store_is_like_get() {
    let service = Service::start().await;
    service.store.fail(Step::Pets, Fault::Unavailable);
    let head = service.request(Method::HEAD, "/v1/pets").response().await;
    assert_eq!((head.status, head.header("retry-after"), head.body.len()), (503, SOON, 0));
    service.store.fail(Step::Pets, Fault::Panic);
    assert_eq!(service.request(Method::HEAD, "/v1/pets").response().await.status, 500);
}

#[tokio::test]
async fn a_stalled_read_does_not_delay_others() {
    let service = Service::start().await;
    service.add(1).await;
    let gate = Gate::closed();
    service.store.fail(Step::Pets, Fault::Stall(gate.clone()));
    let stalled = async { service.get("/v1/pets").await.expect(200) };
    let other = async {
        gate.arrival().await;
        let pet: Value = service.get("/v1/pets/1").await.expect(200);
        gate.open();
        pet
    };
    let (list, pet) = tokio::join!(stalled, other);
    assert_eq!(list, json!([pet]));
}

#[tokio::test]
async fn a_client_that_disconnects_during_its_request_is_logged_with_its_response() {
    let service = Service::start().await;
    let gate = Gate::closed();
    service.store.fail(Step::Write, Fault::Stall(gate.clone()));
    let mut raw = service.raw().await;
    let body = r#"{"name":"Rex","categoryId":1}"#;
    let fields = format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len());
    raw.head("POST /v1/pets", &fields).await.send(body).await;
    gate.arrival().await;
    // Over HTTP/1.1 this looks like a client that has only closed its sending side.
    drop(raw);
    gate.open();
    let logged = async {
        while !service.log.text().contains("http.response.status_code: 201") {
            tokio::task::yield_now().await;
        }
    };
    timeout(Duration::from_secs(60), logged).await.expect("a record of the request");
    service.store.recover();
    let added = service.add(2).await;
    let listed = ids(&service.get("/v1/pets").await.expect(200));
    assert!(added.iter().all(|id| listed.contains(id)) && listed.len() == 3, "{listed:?}");
}

async fn a_write_that_waits_too_long_for_a_lock_is_unavailable_and_the_service_recovers(engine: Engine) {
    let lock_timeout = Duration::from_millis(50);
    let service = engine.setup().writes(16, lock_timeout).start().await;
    let other = service.lock().await;
    let response = service.post(json!({ "name": "Rex", "categoryId": 1 })).await;
    response.expect_error(503, "unavailable");
    assert_eq!(response.header("retry-after"), SOON);
    assert_eq!(service.get("/v1/pets").await.expect(200), json!([]), "reads do not wait for the lock");
    other.release().await;
    service.add(1).await;
}

async fn writes_beyond_the_queue_are_rejected_and_the_others_succeed(engine: Engine) {
    // One place in the queue is for the first use of the key.
    let service = engine.setup().writes(2, Duration::from_secs(60)).start().await;
    let other = service.lock().await;
    let write = || service.post(json!({ "name": "Rex", "categoryId": 1 }));
    // More than the queue and the batches of all writers.
    let mut writes: FuturesUnordered<_> = (0..16).map(|_| write()).collect();
    // While the lock is held, the only responses are those of rejected writes.
    let first = writes.next().await.expect("a response");
    first.expect_error(503, "unavailable");
    other.release().await;
    let responses: Vec<_> = writes.chain(stream::iter([first])).collect().await;
    let added = responses.iter().filter(|response| response.status == 201).count();
    let rejected = responses.iter().filter(|response| response.status == 503).count();
    assert!(added > 0 && rejected > 0 && added + rejected == 16, "{added} and {rejected}");
    assert_eq!(ids(&service.get("/v1/pets").await.expect(200)).len(), added);
}
