//! The code's document of a small dropshot API that is defined here.

use std::collections::BTreeMap;

use animal_store::http::{
    ApiError, AuthenticatedRequest, BASE_PATH, Codes, ErrorCode, Operation, Query, SCHEME_NAME, openapi,
};
use dropshot::HttpResponseOk;
use http::Method;
use schemars::JsonSchema;
use schemars::r#gen::SchemaGenerator;
use schemars::schema::{InstanceType, Schema, SchemaObject};
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

async fn list_shelves(
    _: AuthenticatedRequest,
    _: Query<ListShelves>,
) -> Result<HttpResponseOk<Vec<String>>, ApiError> {
    Ok(HttpResponseOk(Vec::new()))
}

/// Returns the document of the operation with these error codes.
fn with(codes: &[ErrorCode]) -> Value {
    let operation = Operation::new(Method::GET, "/shelves", "listShelves", list_shelves).tag("shelves");
    let (document, _) = openapi(vec![operation]).unwrap();
    let codes = Codes { method: Method::GET, codes: codes.to_vec() };
    served::completed(document, &BTreeMap::from([("listShelves".to_owned(), codes)])).unwrap()
}

/// Returns the keys of an object.
fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn the_codes_of_an_operation_determine_its_responses() {
    let codes = [ErrorCode::Unauthorized, ErrorCode::RateLimited, ErrorCode::Unavailable];
    let document = with(&codes);
    let list = &document["paths"]["/shelves"]["get"];
    assert_eq!(list["security"], json!([{ SCHEME_NAME: [] }]));
    let statuses = codes.map(ErrorCode::status);
    let statuses = ["200"].into_iter().chain(statuses.iter().map(|status| status.as_str()));
    assert_eq!(keys(&list["responses"]), statuses.collect::<Vec<_>>());
    for code in codes {
        let headers = &list["responses"][code.status().as_str()]["headers"];
        for name in code.headers(&Method::GET) {
            assert_eq!(headers[name]["required"], json!(true), "{code:?}: {headers}");
        }
    }
    assert_eq!(list["parameters"][0]["schema"], json!({ "type": "integer", "default": 20 }));
    assert_eq!(document["servers"], json!([{ "url": BASE_PATH }]));
}
