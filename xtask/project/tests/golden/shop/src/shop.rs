//! A fixture that is parsed and never compiled: the golden files refer to its lines.

pub const BASE_PATH: &str = "/v1";

pub(super) fn operation() -> Operation { Operation::new(Method::GET, "/toys", "listToys", list_toys) }
pub(super) async fn list_toys(
    context: RequestContext<Service>,
    query: Query<ListToys>,
) -> Result<HttpResponseOk<Toy>, StoreError> {
    context.context().toys(query.into_inner()).await
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct ListToys {
    #[schemars(range(max = 100))]
    limit: Option<u32>,
}

/// A toy.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Toy {
    name: ToyName,
    made_of: Option<String>,
}
