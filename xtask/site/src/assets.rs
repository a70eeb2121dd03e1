//! The styles, scripts and pictures of the pages. The name of each has a hash of its content, so that browsers can keep it.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::LazyLock;

use swagger_ui_redist::SwaggerUi;

use crate::File;

/// The own files by name.
const OWN: [(&str, &[u8]); 7] = [
    ("frame.css", include_bytes!("../assets/frame.css")),
    ("operation.css", include_bytes!("../assets/operation.css")),
    ("print.css", include_bytes!("../assets/print.css")),
    ("site.js", include_bytes!("../assets/site.js")),
    ("site.css", include_bytes!("../assets/site.css")),
    ("viewer.css", include_bytes!("../assets/viewer.css")),
    ("viewer.js", include_bytes!("../assets/viewer.js")),
];
/// The files of Swagger UI that the pages use.
const SWAGGER: [&str; 3] = ["favicon-32x32.png", "swagger-ui-bundle.js", "swagger-ui.css"];

/// A file: its name here, its path in the site, and its content.
type Asset = (&'static str, String, &'static [u8]);

/// Each file is hashed once, not for each page.
static ASSETS: LazyLock<Vec<Asset>> = LazyLock::new(|| {
    let swagger = SwaggerUi::static_files().iter().map(|(file, content)| (file.file_name(), *content));
    let swagger = swagger.filter(|(name, _)| SWAGGER.contains(name));
    let all = OWN.into_iter().chain(swagger);
    all.map(|(name, content)| (name, hashed(name, content), content)).collect()
});

/// Returns the path of a file by its name. An unknown name is a path without a file, which the tests of links find.
pub(crate) fn path(name: &str) -> &str {
    ASSETS.iter().find(|(known, ..)| *known == name).map_or(name, |(_, path, _)| path)
}

/// Returns the files.
pub(crate) fn files() -> impl Iterator<Item = File> {
    ASSETS.iter().map(|(_, path, content)| File {
        path: path.clone(),
        content: content.to_vec(),
        is_immutable: true,
    })
}

/// Returns the path of a file, such as `docs/frame.0123456789abcdef.css`.
pub(crate) fn hashed(name: &str, content: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    content.hash(&mut hasher);
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, "bin"));
    format!("docs/{stem}.{:016x}.{extension}", hasher.finish())
}
