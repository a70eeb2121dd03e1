//! The operations: one file for each, named after its `operationId`.

mod create_pet;
mod get_pet;
mod list_pets;

use crate::http::dropshot::{
    ApiDescription, ApiDescriptionRegisterError, EndpointTagPolicy, TagConfig, TagDetails,
};
use crate::service::Service;

/// The tag of each operation.
const TAG: &str = "animals";

/// Returns all operations. Their paths are relative to [`crate::http::BASE_PATH`].
///
/// # Errors
/// When two operations have the same route, which a test would find.
pub fn api() -> Result<ApiDescription<Service>, ApiDescriptionRegisterError> {
    let tags = TagConfig {
        allow_other_tags: false,
        policy: EndpointTagPolicy::AtLeastOne,
        tags: [(TAG.to_owned(), TagDetails::default())].into(),
    };
    let mut api = ApiDescription::new().tag_config(tags);
    api.register(list_pets::list_pets)?;
    api.register(create_pet::create_pet)?;
    api.register(get_pet::get_pet)?;
    Ok(api)
}
