//! The code's document of a small dropshot API that is defined here.

use animal_store::http::BASE_PATH;
use animal_store::http::dropshot::{self, ApiDescription, HttpResponseOk, Query, RequestContext, endpoint};
use animal_store::http::endpoint::CODES_KEYWORD;
use animal_store::http::error_code::ErrorCode;
use animal_store::storage::StoreError;
use schemars::JsonSchema;
use schemars::r#gen::SchemaGenerator;
use schemars::schema::{InstanceType, Schema, SchemaObject};
use semver::Version;
use serde::Deserialize;
use serde_json::{Value, json};
use xtask::dropshot::served;

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
    _: Query<ListShelves>,
) -> Result<HttpResponseOk<Vec<String>>, StoreError> {
    Ok(HttpResponseOk(Vec::new()))
}

/// Returns the document of the operation with these error codes.
fn with(codes: Value) -> Value {
    let mut api = ApiDescription::new();
    api.register(list_shelves).unwrap();
    let mut document = api.openapi("Shelves", Version::new(1, 0, 0)).unwrap();
    document["paths"]["/shelves"]["get"][CODES_KEYWORD] = codes;
    document
}

/// Returns the keys of an object.
fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn the_codes_of_an_operation_determine_its_responses() {
    let codes = json!(["unauthorized", "rate_limited", "unavailable"]);
    let document = served::completed(with(codes)).unwrap();
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
    assert_eq!(list.get(CODES_KEYWORD), None);
    assert_eq!(list["parameters"][0]["schema"], json!({ "type": "integer", "default": 20 }));
    assert_eq!(document["servers"], json!([{ "url": BASE_PATH }]));
}

#[test]
fn an_operation_without_codes_is_an_error() {
    let mut document = with(json!([]));
    document["paths"]["/shelves"]["get"].as_object_mut().unwrap().remove(CODES_KEYWORD);
    assert_eq!(served::completed(document).unwrap_err(), "listShelves: it has no x-codes");
}

#[test]
fn unknown_codes_are_errors() {
    let problem = served::completed(with(json!(["unauthorised"]))).unwrap_err();
    assert_eq!(problem, "listShelves: \"unauthorised\" is not a code of the service");
}
