//! The code's document of a small dropshot API that is defined here.

use animal_store::http::BASE_PATH;
use animal_store::http::error_code::ErrorCode;
use dropshot::{ApiDescription, Header, HttpError, HttpResponseOk, Query, RequestContext, endpoint};
use schemars::JsonSchema;
use schemars::r#gen::SchemaGenerator;
use schemars::schema::{InstanceType, ObjectValidation, Schema, SchemaObject};
use semver::Version;
use serde::Deserialize;
use serde_json::{Value, json};
use xtask::dropshot::served;

/// Declares error codes like the `Call` of the service.
#[derive(Deserialize)]
struct Declared {}

impl JsonSchema for Declared {
    fn schema_name() -> String {
        "Declared".to_owned()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let mut carrier =
            SchemaObject { instance_type: Some(InstanceType::String.into()), ..Default::default() };
        carrier
            .extensions
            .insert("x-codes".to_owned(), json!(["unauthorized", "rate_limited", "unavailable"]));
        let mut object = ObjectValidation::default();
        object.properties.insert("Authorization".to_owned(), carrier.into());
        let instance_type = Some(InstanceType::Object.into());
        Schema::Object(SchemaObject { instance_type, object: Some(Box::new(object)), ..Default::default() })
    }
}

#[derive(Deserialize, JsonSchema)]
struct ListShelves {
    #[serde(rename = "limit")]
    #[schemars(schema_with = "limit")]
    _limit: Option<u32>,
}

fn limit(_: &mut SchemaGenerator) -> Schema {
    let mut limit = SchemaObject { instance_type: Some(InstanceType::Integer.into()), ..Default::default() };
    limit.extensions.insert("x-default".to_owned(), json!(20));
    limit.into()
}

/// List shelves.
#[endpoint { method = GET, path = "/shelves", operation_id = "listShelves" }]
async fn list_shelves(
    _: RequestContext<()>,
    _: Header<Declared>,
    _: Query<ListShelves>,
) -> Result<HttpResponseOk<Vec<String>>, HttpError> {
    Ok(HttpResponseOk(Vec::new()))
}

/// Count shelves.
#[endpoint { method = GET, path = "/count", operation_id = "countShelves", deprecated = true }]
async fn count_shelves(_: RequestContext<()>) -> Result<HttpResponseOk<u32>, HttpError> {
    Ok(HttpResponseOk(0))
}

fn by_dropshot() -> Value {
    let mut api = ApiDescription::new();
    api.register(list_shelves).unwrap();
    api.register(count_shelves).unwrap();
    api.openapi("Shelves", Version::new(1, 0, 0)).json().unwrap()
}

/// Returns the keys of an object.
fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn the_codes_of_a_call_determine_security_and_responses() {
    let document = served::completed(by_dropshot()).unwrap();
    let list = &document["paths"]["/shelves"]["get"];
    assert_eq!(list["security"], json!([{ (animal_store::http::authentication::SCHEME_NAME): [] }]));
    let statuses =
        [ErrorCode::Unauthorized, ErrorCode::RateLimited, ErrorCode::Unavailable].map(|code| code.status());
    let statuses = ["200"].into_iter().chain(statuses.iter().map(|status| status.as_str()));
    assert_eq!(keys(&list["responses"]), statuses.collect::<Vec<_>>());
    for code in [ErrorCode::Unauthorized, ErrorCode::RateLimited, ErrorCode::Unavailable] {
        let headers = &list["responses"][code.status().as_str()]["headers"];
        for field in code.headers() {
            assert_eq!(headers[field.name]["required"], json!(field.required), "{code:?}: {headers}");
        }
    }
    let parameters = list["parameters"].as_array().unwrap();
    assert_eq!(parameters.len(), 1, "the carrier parameter is still present: {parameters:?}");
    assert_eq!(parameters[0]["schema"], json!({ "type": "integer", "default": 20 }));
    assert_eq!(document["servers"], json!([{ "url": BASE_PATH }]));
}

#[test]
fn an_operation_without_a_call_has_no_security_and_dropshots_errors() {
    let document = served::completed(by_dropshot()).unwrap();
    let count = &document["paths"]["/count"]["get"];
    assert_eq!(count["security"], json!([]));
    assert_eq!(keys(&count["responses"]), ["200", "4XX", "5XX"]);
    let names: Vec<_> = animal_store::http::router::headers(true).iter().map(|field| field.name).collect();
    for status in ["200", "4XX", "5XX"] {
        let headers = &count["responses"][status]["headers"];
        assert!(names.iter().all(|name| headers.get(name).is_some()), "{status}: {headers}");
    }
}

#[test]
fn unknown_codes_are_errors() {
    let with = |codes: Value| {
        let mut document = by_dropshot();
        let parameters =
            document.pointer_mut("/paths/~1shelves/get/parameters").and_then(Value::as_array_mut);
        let carrier = parameters.unwrap().iter_mut().find(|parameter| parameter["name"] == "Authorization");
        carrier.unwrap()["schema"]["x-codes"] = codes;
        served::completed(document).unwrap_err()
    };
    assert_eq!(with(json!(["unauthorised"])), "listShelves: \"unauthorised\" is not a code of the service");
    assert_eq!(with(json!("unauthorized")), "listShelves: the parameter Authorization declares no x-codes");
}
