//! Documents that grow in one way: the time to read, check and compare them grows with their size.

use std::fmt::Write as _;
use std::time::Duration;

use checks::config::Config;
use checks::lint::lint;
use checks::outcome::Outcome;
use document::Document;
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Map, Value, json};

use crate::breaking::documents::TODAY;

/// Two versions of a document with `n` parts of one kind.
type Grow = fn(n: usize) -> [Value; 2];

/// How a document grows, and the number of parts of the smaller one.
const WAYS: &[(&str, usize, Grow)] = &[
    ("alternatives of one schema", 100, |n| alternatives(n, "A", "B")),
    ("alternatives that refer back to the whole", 50, |n| twice(recursive(n), "added", "string")),
    ("children of a discriminator", 250, |n| twice(children(n, |_| "Parent".to_owned()), "added", "string")),
    ("generations of a discriminator", 25, |n| {
        let parent =
            |number: usize| if number == 0 { "Parent".to_owned() } else { format!("Child{}", number - 1) };
        twice(children(n, parent), "added", "string")
    }),
    ("values of an enum in many alternatives", 500, |n| {
        let alternative =
            |number| json!({ "type": "object", "properties": { format!("p{number}"): reference("Words") } });
        let words = |more: Option<&str>| {
            let words: Vec<String> =
                (0..n).map(|number| format!("word{number}")).chain(more.map(str::to_owned)).collect();
            document(
                &json!({ "oneOf": (0..50).map(alternative).collect::<Vec<_>>() }),
                json!({ "Words": { "enum": words } }),
            )
        };
        [words(None), words(Some("new"))]
    }),
    ("properties", 2_000, |n| {
        let of = |kind| {
            document(
                &json!({ "type": "object", "properties": named(n, |_| json!({ "type": kind })) }),
                json!({}),
            )
        };
        [of("string"), of("integer")]
    }),
    ("components", 2_000, |n| {
        let next = |number: usize| {
            let (one, other) = (
                reference(&format!("S{}", (number * 7 + 1) % n)),
                reference(&format!("S{}", (number + 1) % n)),
            );
            json!({ "properties": { "a": one, "b": other } })
        };
        let schemas = (0..n).map(|number| (format!("S{number}"), next(number))).collect::<Map<_, _>>();
        let base = document(&reference("S0"), schemas.clone().into());
        let mut revision = base.clone();
        revision["components"]["schemas"]["S5"]["properties"]["a"] = json!({ "type": "string" });
        [base, revision]
    }),
    ("parts of allOf", 50, |n| {
        let next = |number| json!({ "allOf": [reference(&format!("S{}", number + 1)), { "properties": { format!("p{number}"): {} } }] });
        let mut schemas = (0..n).map(|number| (format!("S{number}"), next(number))).collect::<Map<_, _>>();
        schemas.insert(
            format!("S{n}"),
            json!({ "type": "object", "properties": { "last": { "type": "string" } } }),
        );
        let base = document(&reference("S0"), schemas.into());
        let mut revision = base.clone();
        revision["components"]["schemas"][format!("S{n}")]["properties"]["last"]["type"] = "integer".into();
        [base, revision]
    }),
    ("schemas without values", 1_000, |n| {
        let schemas = named(n, |_| json!({ "type": "integer", "minimum": 5, "maximum": 3 }));
        let base = document(&json!({}), schemas);
        [base.clone(), base]
    }),
    ("exceptions in the document", 500, |n| {
        let of = |kind| {
            let marks =
                |number| json!(["*", format!("rule-{number}"), "info-contact", "request-type-changed"]);
            let schema = |number| json!({ "type": kind, "x-contract-ignore": marks(number) });
            document(&json!({ "type": "object", "properties": named(n, schema) }), json!({}))
        };
        [of("string"), of("integer")]
    }),
    ("encodings", 2_000, |n| {
        let of = |kind: &str| {
            let schema = json!({ "type": "object", "properties": named(n, |_| json!({ "type": "string" })) });
            let media = json!({ "schema": schema, "encoding": named(n, |_| json!({ "contentType": kind })) });
            let operation =
                json!({ "requestBody": { "content": { "multipart/form-data": media } }, "responses": {} });
            whole(json!({ "/a": { "post": operation } }), json!({}))
        };
        [of("text/plain"), of("text/html")]
    }),
    ("parameters", 2_000, |n| {
        let of = |kind| {
            let parameter =
                |number| json!({ "name": format!("p{number}"), "in": "query", "schema": { "type": kind } });
            let parameters: Vec<Value> = (0..n).map(parameter).collect();
            whole(json!({ "/a": { "get": { "parameters": parameters, "responses": {} } } }), json!({}))
        };
        [of("string"), of("integer")]
    }),
    ("operations", 1_000, |n| {
        let of = |kind| {
            let content = json!({ "application/json": { "schema": reference("S") } });
            let operation = |number| json!({ "operationId": format!("o{number}"), "responses": { "200": { "description": "d", "content": content } } });
            let paths = (0..n).map(|number| (format!("/a{number}"), json!({ "get": operation(number) })));
            whole(paths.collect::<Map<_, _>>().into(), json!({ "S": { "type": kind } }))
        };
        [of("string"), of("integer")]
    }),
    ("variables of a server", 2_000, |n| {
        let mut base = whole(json!({}), json!({}));
        let url = (0..n).fold("https://a".to_owned(), |mut url, number| {
            let _ = write!(url, "/{{n{number}}}");
            url
        });
        base["servers"] = json!([{ "url": url, "variables": named(n, |_| json!({ "default": "x" })) }]);
        let mut revision = base.clone();
        revision["servers"][0]["variables"]["n0"]["default"] = "y".into();
        [base, revision]
    }),
];

/// A schema object for each number, by a name.
fn named(n: usize, of: impl Fn(usize) -> Value) -> Value {
    (0..n).map(|number| (format!("n{number}"), of(number))).collect::<Map<_, _>>().into()
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

fn whole(paths: Value, schemas: Value) -> Value {
    json!({ "openapi": "3.0.3", "info": { "title": "t", "version": "1.0.0" }, "paths": paths, "components": { "schemas": schemas } })
}

/// A document whose only response has this schema.
fn document(schema: &Value, schemas: Value) -> Value {
    let content = json!({ "application/json": { "schema": schema } });
    let responses = json!({ "200": { "description": "d", "content": content } });
    whole(
        json!({ "/a": { "post": { "requestBody": { "content": content }, "responses": responses } } }),
        schemas,
    )
}

/// The document, and one whose component `Changed` has one more property.
fn twice(base: Value, name: &str, kind: &str) -> [Value; 2] {
    let mut revision = base.clone();
    revision["components"]["schemas"]["Parent"]["properties"][name] = json!({ "type": kind });
    [base, revision]
}

/// Alternatives with one required property each, whose components were renamed.
fn alternatives(n: usize, old: &str, new: &str) -> [Value; 2] {
    [old, new].map(|prefix| {
        let part = |number: usize| {
            let name = format!("p{number}");
            json!({ "type": "object", "required": [name], "properties": { name: { "type": "string" } } })
        };
        let schemas = (0..n).map(|number| (format!("{prefix}{number}"), part(number))).collect::<Map<_, _>>();
        let references: Vec<Value> = schemas.keys().map(|name| reference(name)).collect();
        document(&json!({ "oneOf": references }), schemas.into())
    })
}

fn recursive(n: usize) -> Value {
    let part = |number: usize| {
        let nested = json!({ "type": "object", "additionalProperties": reference("All") });
        json!({ "type": "object", "required": ["type"], "properties": { "type": { "type": "string", "enum": [format!("t{number}")] }, "nested": nested, "parent": reference("Parent") } })
    };
    let mut schemas = (0..n).map(|number| (format!("A{number}"), part(number))).collect::<Map<_, _>>();
    let references: Vec<Value> = schemas.keys().map(|name| reference(name)).collect();
    schemas.insert("All".to_owned(), json!({ "oneOf": references }));
    schemas
        .insert("Parent".to_owned(), json!({ "type": "object", "properties": { "all": reference("All") } }));
    document(&reference("All"), schemas.into())
}

fn children(n: usize, parent: impl Fn(usize) -> String) -> Value {
    let child = |number: usize| {
        let own = json!({ "type": "object", "properties": { format!("p{number}"): { "type": "string" } } });
        json!({ "allOf": [reference(&parent(number)), own] })
    };
    let mut schemas = (0..n).map(|number| (format!("Child{number}"), child(number))).collect::<Map<_, _>>();
    let kind = json!({ "type": "object", "required": ["kind"], "properties": { "kind": { "type": "string" } }, "discriminator": { "propertyName": "kind" } });
    schemas.insert("Parent".to_owned(), kind);
    document(&reference("Parent"), schemas.into())
}

/// The processor time of this thread to read, check and compare two versions.
fn time(versions: &[Value; 2]) -> Duration {
    let texts = versions.each_ref().map(Value::to_string);
    let now = || {
        let now = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(now.tv_sec.cast_unsigned(), u32::try_from(now.tv_nsec).unwrap())
    };
    let start = now();
    let [base, revision] = texts.each_ref().map(|text| Document::parse("a.json", text).unwrap());
    let config = Config::default();
    config.apply(&revision, lint(&revision, TODAY), "lint");
    Outcome::of(&base, &revision, &config, TODAY);
    now() - start
}

#[test]
fn the_time_grows_with_the_document() {
    const TIMES: usize = 4;
    // Twice what n log n allows; quadratic time would be 16.
    const MOST: u32 = 10;
    // Below it, what is the same for all documents counts more.
    const LEAST: Duration = Duration::from_millis(20);
    // Other processes take the caches.
    const ATTEMPTS: usize = 3;
    let mut wrong = String::new();
    for (name, n, grow) in WAYS {
        let (small, large) = (grow(*n), grow(TIMES * n));
        let times = || (time(&small), time(&large));
        let is_right = |(small, large): &(Duration, Duration)| *large <= *small.max(&LEAST) * MOST;
        let mut attempts = (0..ATTEMPTS).map(|_| times());
        if !attempts.any(|times| is_right(&times)) {
            let (small, large) = times();
            let _ = write!(wrong, "\n{name}: {small:?} for {n}, {large:?} for {}", TIMES * n);
        }
    }
    assert_eq!(wrong, "");
}

/// A pattern with nested repetitions would take years with backtracking.
#[test]
fn patterns_take_linear_time() {
    let text = format!("{}!", "a".repeat(200));
    for pattern in ["^(a+)+$", "^([a-z0-9]+[-.]?)+$", "^(?=a)(a+)+$"] {
        let schema = json!({ "type": "string", "pattern": pattern, "enum": [text], "example": text });
        let (base, other) =
            (document(&schema, json!({})), document(&json!({ "type": "string", "enum": [text] }), json!({})));
        time(&[base.clone(), other.clone()]);
        time(&[other, base]);
    }
}
