//! `cargo xtask site`: writes the documentation of the API as static files, for any web server.
//!
//! The pages are those that the service serves at `/docs`; the library `site` builds them. Beside them are the documents,
//! their checksums, and the files of Swagger UI. All links between them are relative.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use ::site::{Hosting, Sources};
use regex::Regex;
use xtask::workspace::{in_file, workspace};

/// The options of `cargo xtask site`.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// The directory: a new or an empty one.
    pub directory: PathBuf,
    /// The URL under which the directory will be published, such as https://docs.example.com/animals. The feed and the
    /// commands for clients name it; without it, the feed has relative links.
    #[arg(long, value_name = "URL", value_parser = url)]
    pub url: Option<String>,
}

/// Checks a URL of a site.
fn url(text: &str) -> Result<String, String> {
    let is_web = fluent_uri::Uri::parse(text).is_ok_and(|uri| {
        let is_http = ["http", "https"].contains(&&*uri.scheme().as_str().to_ascii_lowercase());
        let has_host = is_http && uri.authority().is_some_and(|it| !it.host().is_empty());
        has_host && uri.query().is_none() && uri.fragment().is_none()
    });
    is_web
        .then(|| text.to_owned())
        .ok_or("expected an http or https URL without query and fragment".to_owned())
}

/// Writes the pages of this repository's documents. Returns the exit status.
///
/// # Errors
/// A message, if a document cannot be read, or the directory is not empty.
pub fn run(arguments: &Arguments) -> Result<u8, String> {
    let files = files(&workspace(), arguments.url.as_deref())?;
    write(&arguments.directory, &files)?;
    println!("{}: {} files; the first page is index.html", arguments.directory.display(), files.len());
    Ok(0)
}

/// Returns all files of the site by their paths in it. `root` is the root of the repository.
///
/// # Errors
/// A message, if a document cannot be read.
pub fn files(root: &Path, url: Option<&str>) -> Result<BTreeMap<String, Vec<u8>>, String> {
    let hosting = Hosting::Static { url: url.map(str::to_owned) };
    let files = ::site::build(&Sources::read(root)?, &hosting)?;
    Ok(files.into_iter().map(|file| (file.path, file.content)).collect())
}

/// Writes files to a new or an empty directory.
///
/// # Errors
/// A message, if the directory is not empty, or a file cannot be written.
pub fn write(directory: &Path, files: &BTreeMap<String, Vec<u8>>) -> Result<(), String> {
    if fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(format!("{}: not empty; delete it, or name a new directory", directory.display()));
    }
    for (path, content) in files {
        let path = directory.join(path);
        fs::create_dir_all(path.parent().unwrap_or(directory)).map_err(in_file(&path))?;
        fs::write(&path, content).map_err(in_file(&path))?;
    }
    Ok(())
}

/// Returns the languages that a page has commands for, each with the commands.
pub fn languages(page: &str) -> Vec<(String, String)> {
    static SECTION: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"(?s)<h3 [^>]*>([^<]*?) *<a [^>]*>#</a></h3>(.*?)<pre><code class="language-sh">(.*?)</code></pre>"#)
            .expect("a valid pattern")
    });
    let section = |found: regex::Captures<'_>| {
        let (_, [language, _, commands]) = found.extract();
        (language.to_owned(), unescaped(commands))
    };
    SECTION.captures_iter(page).map(section).collect()
}

/// Returns text without the elements and the escapes of HTML.
fn unescaped(text: &str) -> String {
    let parts = text.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text));
    let text: String = parts.collect();
    let escapes = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    escapes.iter().fold(text, |text, (escape, character)| text.replace(escape, character))
}
