//! The operations.

mod list_books;

use dropshot::{ApiDescription, ApiDescriptionRegisterError, EndpointTagPolicy, TagConfig, TagDetails};

/// All operations.
pub fn api() -> Result<ApiDescription<Service>, ApiDescriptionRegisterError> {
    let tags = TagConfig {
        allow_other_tags: false,
        policy: EndpointTagPolicy::AtLeastOne,
        tags: [("books".to_owned(), TagDetails::default())].into(),
    };
    let mut api = ApiDescription::new().tag_config(tags);
    api.register(list_books::list_books)?;
    Ok(api)
}

#[cfg(test)]
mod tests {
    fn api() -> Result<(), ()> {
        Ok(())
    }
}
