//! Properties: for any body, query, cursor or key, the response is one that the document describes.
//!
//! The recorder between client and service checks each response against the document. The properties here check only
//! what the document cannot express.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use kit::client::{Client, post_head};
use kit::program::{Program, WorkDir};
use kit::recorder::wire::Response;

/// The service under test.
struct Subject {
    runtime: Runtime,
    // Dropped before the directory that it runs in.
    service: Option<Program>,
    key: String,
    _place: WorkDir,
}

impl Subject {
    fn new() -> Self {
        let runtime = Runtime::new().unwrap();
        let directory = WorkDir::new();
        let (key, service) = runtime.block_on(async { (directory.key().await, directory.serve(&[]).await) });
        Self { runtime, service: Some(service), key, _place: directory }
    }

    /// Returns the response to `request`, which must be one request.
    fn response(&self, request: &[u8]) -> Response {
        self.runtime.block_on(async {
            let address = self.service.as_ref().unwrap().address;
            let mut client = Client::connect(address, &self.key).await.unwrap();
            client.send(request).await.unwrap();
            client.response().await.expect("a response")
        })
    }

    fn check<S: Strategy>(
        self,
        strategy: &S,
        property: impl Fn(&Self, S::Value) -> Result<(), TestCaseError>,
    ) {
        let cases = if kit::is_long() { 5000 } else { 400 };
        let config =
            Config { cases, max_global_rejects: 10 * cases, failure_persistence: None, ..Config::default() };
        let random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
        TestRunner::new_with_rng(config, random).run(strategy, |input| property(&self, input)).unwrap();
        let _runtime = self.runtime.enter();
        drop(self.service);
    }
}

/// Generates JSON values of any shape, up to three levels deep.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::hash_map(any_name(), inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn any_name() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec!["name", "categoryId", "status", "id", "Name"]);
    prop_oneof![known.prop_map(str::to_owned), any::<String>()]
}

/// Generates objects that are, or nearly are, valid as `NewPet`.
fn nearly_new_pet() -> impl Strategy<Value = Value> {
    let name = prop_oneof![3 => any::<String>().prop_map(Value::from), 1 => any_json()];
    let category = prop_oneof![3 => any::<i64>().prop_map(Value::from), 1 => any_json()];
    let words = prop::sample::select(vec!["available", "pending", "sold", "Sold", "", "gone"]);
    let status = prop_oneof![2 => Just(None), 3 => words.prop_map(|word| Some(json!(word))), 1 => any_json().prop_map(Some)];
    let more = prop_oneof![4 => Just(None), 1 => (any_name(), any_json()).prop_map(Some)];
    (name, category, status, more).prop_map(|(name, category, status, more)| {
        let mut pet = json!({ "name": name, "categoryId": category });
        if let Some(status) = status {
            pet["status"] = status;
        }
        if let Some((name, value)) = more {
            pet[name] = value;
        }
        pet
    })
}

fn is_acceptable(pet: &Value) -> bool {
    let Some(object) = pet.as_object() else { return false };
    let name = pet["name"]
        .as_str()
        .is_some_and(|name| (1..=255).contains(&name.chars().count()) && !name.contains('\0'));
    let status = object
        .get("status")
        .is_none_or(|status| ["available", "pending", "sold"].iter().any(|known| status == known));
    let known = object.keys().all(|key| ["name", "categoryId", "status"].contains(&&**key));
    name && status && known && pet["categoryId"].is_i64()
}

#[test]
fn arbitrary_bytes_as_a_body_are_a_400() {
    Subject::new().check(&prop::collection::vec(any::<u8>(), 0..300), |subject, body| {
        let response = subject.response(&[post_head(&subject.key, body.len()).into_bytes(), body].concat());
        prop_assert_eq!(response.status, 400);
        Ok(())
    });
}

#[test]
fn json_as_a_body_is_stored_unchanged_or_rejected() {
    Subject::new().check(&prop_oneof![nearly_new_pet(), any_json()], |subject, body| {
        let text = body.to_string();
        let response = subject.response((post_head(&subject.key, text.len()) + &text).as_bytes());
        if is_acceptable(&body) {
            prop_assert_eq!(response.status, 201, "{}", response.text());
            let mut stored = response.json();
            stored.as_object_mut().unwrap().remove("id");
            prop_assert_eq!(stored, body);
        } else {
            prop_assert_eq!(response.status, 400, "{}", text);
        }
        Ok(())
    });
}

/// Generates characters that are allowed in a query (RFC 3986, section 3.4). hyper itself rejects some others.
fn query_characters(most: usize) -> impl Strategy<Value = String> {
    let other = "-._~!$&'()*+,;=:@/?%".bytes();
    let bytes = (b'a'..=b'z').chain(b'A'..=b'Z').chain(b'0'..=b'9').chain(other).collect::<Vec<u8>>();
    prop::collection::vec(prop::sample::select(bytes), 0..most)
        .prop_map(|bytes| String::from_utf8(bytes).unwrap())
}

#[test]
fn any_query_is_a_page_or_a_400() {
    let names = prop::sample::select(vec!["limit", "status", "cursor", "Limit", ""]).prop_map(str::to_owned);
    let values = prop_oneof![
        query_characters(12),
        (0..200u32).prop_map(|limit| limit.to_string()),
        prop::sample::select(vec!["available", "sold", "pending"]).prop_map(str::to_owned),
    ];
    let pairs =
        prop::collection::vec((names, values).prop_map(|(name, value)| format!("{name}={value}")), 0..4)
            .prop_map(|pairs| pairs.join("&"));
    Subject::new().check(&prop_oneof![query_characters(60), pairs], |subject, query| {
        let response =
            subject.response(kit::client::get(&format!("/v1/pets?{query}"), &subject.key).as_bytes());
        prop_assert!([200, 400].contains(&response.status), "{}: {}", response.status, query);
        Ok(())
    });
}

#[test]
fn only_cursors_of_the_service_are_accepted() {
    let subject = Subject::new();
    let cursor = subject.runtime.block_on(async {
        let service = subject.service.as_ref().unwrap();
        service.add(&subject.key, 3).await;
        let page = service.get(&subject.key, "/v1/pets?limit=1").await;
        let link = page.header("link").unwrap().to_owned();
        link.split_once("cursor=").unwrap().1.split_once('>').unwrap().0.to_owned()
    });
    let valid = cursor.clone();
    let changed = (0..cursor.len(), query_characters(2)).prop_map(move |(at, characters)| {
        let mut forged = cursor.clone();
        forged.replace_range(at..=at, &characters);
        forged
    });
    let any = query_characters(40);
    Subject::check(subject, &prop_oneof![changed, any], |subject, cursor| {
        // These characters start another parameter or encode the same cursor differently.
        prop_assume!(!cursor.contains(['&', '%', '+']));
        let target = format!("/v1/pets?cursor={cursor}");
        let response = subject.response(kit::client::get(&target, &subject.key).as_bytes());
        prop_assert_eq!(response.status, if cursor == valid { 200 } else { 400 }, "{}", cursor);
        Ok(())
    });
}

#[test]
fn only_keys_of_the_service_are_accepted() {
    // The bytes that a field value may contain (RFC 9110, section 5.5); hyper rejects others.
    let byte = prop::sample::select((0x20..=0x7e).chain(0x80..=0xff).collect::<Vec<u8>>());
    let schemes = prop::sample::select(vec!["Bearer ", "bearer ", "Basic ", "Bearer  ", "", "Bearer ask_"]);
    let value = (schemes, prop::collection::vec(byte, 0..140));
    Subject::new().check(&value, |subject, (scheme, value)| {
        let mut request = b"GET /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: ".to_vec();
        request.extend(scheme.bytes());
        request.extend(&value);
        request.extend(b"\r\n\r\n");
        let response = subject.response(&request);
        prop_assert_eq!(response.status, 401);
        Ok(())
    });
}
