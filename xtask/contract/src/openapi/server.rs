//! Servers.

use std::ops::Deref;

use super::Object;

/// A Server Object.
#[derive(Clone, Copy, Debug)]
pub struct Server<'a>(Object<'a>);

impl<'a> Server<'a> {
    pub(super) fn new(object: Object<'a>) -> Self {
        Self(object)
    }

    /// The URL template.
    pub fn url(&self) -> &'a str {
        self.0.text("url").unwrap_or_default()
    }

    /// The URL with each variable replaced by its default.
    pub fn url_with_defaults(&self) -> String {
        let mut url = self.url().to_owned();
        for variable in self.variables() {
            let default = variable.text("default").unwrap_or_default();
            url = url.replace(&format!("{{{}}}", variable.name()), default);
        }
        url
    }

    /// The Server Variable Objects; the name of each is its variable.
    pub fn variables(&self) -> impl Iterator<Item = Object<'a>> {
        self.0.children("variables")
    }
}

impl<'a> Deref for Server<'a> {
    type Target = Object<'a>;

    fn deref(&self) -> &Object<'a> {
        &self.0
    }
}
