//! The operations, one file each, named after their `operationId`.

mod create_pet;
mod get_pet;
mod list_pets;

use dropshot::{ApiDescription, ApiDescriptionRegisterError, EndpointTagPolicy, TagConfig, TagDetails};

use crate::service::Service;

/// The prefix of every path, which the servers of the document end in.
pub const BASE_PATH: &str = "/v1";
/// The most animals on a page.
pub const MAX_LIMIT: u32 = 100;

/// The tag that each operation carries.
const TAG: &str = "animals";

/// All operations, with paths relative to [`BASE_PATH`].
///
/// # Errors
/// When two of them clash, which a test would find.
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
