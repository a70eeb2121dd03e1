//! A fixture that is parsed and never compiled: findings about the frozen documents refer to its lines.

mod create_book;
mod get_book;
mod list_books;

use dropshot::{ApiDescription, ApiDescriptionRegisterError, EndpointTagPolicy, TagConfig, TagDetails};

use crate::service::Service;

pub const BASE_PATH: &str = "/v1";
pub const MAX_LIMIT: u32 = 100;

const TAG: &str = "books";

pub fn api() -> Result<ApiDescription<Service>, ApiDescriptionRegisterError> {
    let tags = TagConfig {
        allow_other_tags: false,
        policy: EndpointTagPolicy::AtLeastOne,
        tags: [(TAG.to_owned(), TagDetails::default())].into(),
    };
    let mut api = ApiDescription::new().tag_config(tags);
    api.register(list_books::list_books)?;
    api.register(create_book::create_book)?;
    api.register(get_book::get_book)?;
    Ok(api)
}
