//! A store that fails: what clients see of it, and that the service goes on.

use futures::StreamExt as _;
use futures::stream::{self, FuturesUnordered};
use reqwest::Method;
use serde_json::{Value, json};

use crate::faulty::{Fault, Gate, INTERNALS, Step};
use crate::provocations::call;
use crate::recorder::contract::Contract;
use crate::service::{Ask, Service, ids};

/// A test for each: every operation answers so while the store fails, and as ever afterwards.
macro_rules! failures {
    ($($name:ident: $step:ident $fault:ident => $status:literal $code:literal $retry:expr;)*) => {$(
        #[tokio::test]
        async fn $name() {
            for operation in &Contract::get().operations {
                let service = Service::start().await;
                service.add(1).await;
                service.store.fail(Step::$step, Fault::$fault);
                let answer = call(&service, operation).await;
                answer.refused($status, $code);
                assert_eq!(answer.header("retry-after"), $retry, "{}", operation.id);
                for internal in ["SQL", "/var", INTERNALS] {
                    assert!(!answer.contains(internal), "{} tells {internal}", operation.id);
                }
                service.store.heal();
                let status = call(&service, operation).await.status;
                assert!(status < 300, "{}: the failure outlived its cause", operation.id);
            }
        }
    )*};
}

const SOON: Option<&str> = Some("1");

failures! {
    a_busy_store_is_unavailable: Any Busy => 503 "unavailable" SOON;
    a_store_that_cannot_answer_is_unavailable: Any Unavailable => 503 "unavailable" SOON;
    a_broken_store_is_internal: Any Broken => 500 "internal" None;
    a_panic_in_the_store_is_internal: Any Panic => 500 "internal" None;
    a_key_that_cannot_be_looked_up_is_unavailable: KeyByHash Unavailable => 503 "unavailable" SOON;
    a_key_in_a_broken_store_is_internal: KeyByHash Broken => 500 "internal" None;
    a_panic_while_looking_up_a_key_is_internal: KeyByHash Panic => 500 "internal" None;
}

#[tokio::test]
async fn a_key_that_cannot_be_looked_up_is_never_taken_for_good() {
    let service = Service::start().await;
    for fault in [Fault::Busy, Fault::Unavailable, Fault::Broken, Fault::Panic] {
        service.store.fail(Step::KeyByHash, fault);
        assert!(service.get("/v1/pets").await.status >= 500);
    }
    assert_eq!(service.store.asked(), []);
}

#[tokio::test]
async fn a_malformed_key_is_rejected_without_a_query() {
    let service = Service::start().await;
    service.store.fail(Step::KeyByHash, Fault::Unavailable);
    service.get_with("nonsense", "/v1/pets").await.refused(401, "unauthorized");
}

#[tokio::test]
async fn a_connection_survives_a_panic() {
    let service = Service::start().await;
    let mut raw = service.raw().await;
    service.store.fail(Step::Pets, Fault::Panic);
    raw.head("GET /v1/pets", "").await;
    raw.response().await.refused(500, "internal");
    service.store.heal();
    raw.head("GET /v1/pets", "").await;
    assert_eq!(raw.response().await.expect(200), json!([]));
}

#[tokio::test]
async fn a_panic_while_a_body_was_read_leaves_the_connection_usable() {
    let service = Service::start().await;
    let mut raw = service.raw().await;
    service.store.fail(Step::AddPet, Fault::Panic);
    let body = r#"{"name":"Rex","categoryId":1}"#;
    let fields = format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len());
    raw.head("POST /v1/pets", &fields).await.send(body).await;
    raw.response().await.refused(500, "internal");
    service.store.heal();
    raw.head("POST /v1/pets", &fields).await.send(body).await;
    raw.response().await.expect(201);
}

#[tokio::test]
async fn a_panic_disturbs_no_other_request() {
    let service = Service::start().await;
    service.add(1).await;
    let gate = Gate::closed();
    service.store.fail(Step::Pet, Fault::Stall(gate.clone()));
    service.store.fail(Step::Pets, Fault::Panic);
    let waiting = async { service.get("/v1/pets/1").await.expect(200) };
    let panicking = async {
        gate.arrival().await;
        service.get("/v1/pets").await.refused(500, "internal");
        gate.open();
    };
    let (pet, ()) = tokio::join!(waiting, panicking);
    assert_eq!(pet["id"], 1);
}

#[tokio::test]
async fn head_of_a_failing_store_is_like_get() {
    let service = Service::start().await;
    service.store.fail(Step::Pets, Fault::Unavailable);
    let head = service.request(Method::HEAD, "/v1/pets").answer().await;
    assert_eq!((head.status, head.header("retry-after"), head.body.len()), (503, SOON, 0));
    service.store.fail(Step::Pets, Fault::Panic);
    assert_eq!(service.request(Method::HEAD, "/v1/pets").answer().await.status, 500);
}

#[tokio::test]
async fn a_stalled_read_holds_up_no_other() {
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
async fn a_client_that_goes_away_amid_its_request_does_no_harm() {
    let service = Service::start().await;
    let gate = Gate::closed();
    service.store.fail(Step::AddPet, Fault::Stall(gate.clone()));
    let mut raw = service.raw().await;
    let body = r#"{"name":"Rex","categoryId":1}"#;
    let fields = format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len());
    raw.head("POST /v1/pets", &fields).await.send(body).await;
    gate.arrival().await;
    drop(raw);
    gate.open();
    service.store.heal();
    let added = service.add(2).await;
    let listed = ids(&service.get("/v1/pets").await.expect(200));
    // Whether its own animal was added, and when, nobody said.
    assert!(added.iter().all(|id| listed.contains(id)) && listed.len() <= 3, "{listed:?}");
}

#[tokio::test]
async fn a_write_that_waits_too_long_for_a_lock_is_unavailable_and_the_service_recovers() {
    let lock_timeout = std::time::Duration::from_millis(50);
    let service = Service::setup().writes(16, lock_timeout).start().await;
    let other = service.lock().await;
    let answer = service.post(json!({ "name": "Rex", "categoryId": 1 })).await;
    answer.refused(503, "unavailable");
    assert_eq!(answer.header("retry-after"), SOON);
    assert_eq!(service.get("/v1/pets").await.expect(200), json!([]), "reads wait for no lock");
    other.release().await;
    service.add(1).await;
}

#[tokio::test]
async fn more_writes_than_the_queue_holds_are_turned_away_and_the_others_are_done() {
    let service = Service::setup().writes(1, std::time::Duration::from_secs(60)).start().await;
    let other = service.lock().await;
    let write = || service.post(json!({ "name": "Rex", "categoryId": 1 }));
    let mut writes: FuturesUnordered<_> = (0..8).map(|_| write()).collect();
    // While the lock is held nothing is answered but what is turned away.
    let first = writes.next().await.expect("an answer");
    first.refused(503, "unavailable");
    other.release().await;
    let answers: Vec<_> = writes.chain(stream::iter([first])).collect().await;
    let added = answers.iter().filter(|answer| answer.status == 201).count();
    let turned_away = answers.iter().filter(|answer| answer.status == 503).count();
    assert!(added > 0 && turned_away > 0 && added + turned_away == 8, "{added} and {turned_away}");
    assert_eq!(ids(&service.get("/v1/pets").await.expect(200)).len(), added);
}
