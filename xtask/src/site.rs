//! `cargo xtask site`: writes the documentation of the API as static files, for any web server.
//!
//! The pages are those that the service serves at `/docs`; the library `site` builds them. Beside them are the documents,
//! their checksums, and the files of Swagger UI. All links between them are relative.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use ::site::{Hosting, Sources};
use fluent_uri::Uri;
use launcher::workspace::{in_file, workspace};

use crate::workspace::{CLIENTS, RELEASED, SPEC};

/// The file that lists what this command wrote. Only these files are removed by the next run.
const LIST: &str = ".site-files";

/// The options of `cargo xtask site`.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// The directory: a new one, an empty one, or one that this command wrote.
    pub directory: PathBuf,
    /// The URL under which the directory will be published, such as https://docs.example.com/animals. The feed and the
    /// commands for clients name it; without it, the feed has relative links.
    #[arg(long, value_name = "URL", value_parser = url)]
    pub url: Option<String>,
}

/// Checks a URL of a site.
fn url(text: &str) -> Result<String, String> {
    let uri = Uri::parse(text).map_err(|error| error.to_string())?;
    let is_web = ["http", "https"].contains(&uri.scheme().as_str()) && uri.authority().is_some();
    if !is_web || uri.query().is_some() || uri.fragment().is_some() {
        return Err("expected an http or https URL without query and fragment".to_owned());
    }
    Ok(text.to_owned())
}

/// Writes the pages of this repository's documents. Returns the exit status.
///
/// # Errors
/// A message, if a document cannot be read, or the directory has files that this command did not write.
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
    let [document, released, clients] = [SPEC, RELEASED, CLIENTS].map(|path| root.join(path));
    let sources = Sources::read(&document, &released, &clients)?;
    let pages = ::site::build(&sources, &Hosting::Static { url: url.map(str::to_owned) })?;
    let mut files: BTreeMap<String, Vec<u8>> =
        pages.into_iter().map(|page| (page.path, page.content)).collect();
    let tree = document::read(&sources.working).map_err(|problem| problem.to_string())?;
    files.insert("openapi.json".to_owned(), serde_json::to_vec(&tree).map_err(|error| error.to_string())?);
    files.insert("openapi.yaml".to_owned(), sources.working.into_bytes());
    if sources.released.is_empty() {
        return Ok(files);
    }
    for entry in fs::read_dir(&released).map_err(in_file(&released))? {
        let path = entry.map_err(in_file(&released))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        files.insert(format!("openapi/{name}"), fs::read(&path).map_err(in_file(&path))?);
    }
    Ok(files)
}

/// Writes files to a directory, in place of those that an earlier call wrote there.
///
/// # Errors
/// A message, if the directory has other files, and nothing was changed; or if a file cannot be written.
pub fn write(directory: &Path, files: &BTreeMap<String, Vec<u8>>) -> Result<(), String> {
    let list = directory.join(LIST);
    let is_empty = match fs::read_dir(directory) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => true,
        Err(error) => return Err(in_file(directory)(error)),
    };
    if !is_empty && !list.exists() {
        return Err(format!(
            "{}: not empty, and not written by this command; name a new directory",
            directory.display()
        ));
    }
    if !is_empty {
        remove(directory, &fs::read_to_string(&list).map_err(in_file(&list))?)?;
    }
    fs::create_dir_all(directory).map_err(in_file(directory))?;
    // First, so that the next run can clean up after an interrupted one.
    let paths: String = files.keys().map(|path| format!("{path}\n")).collect();
    fs::write(&list, paths).map_err(in_file(&list))?;
    for (path, content) in files {
        let path = directory.join(path);
        fs::create_dir_all(path.parent().unwrap_or(directory)).map_err(in_file(&path))?;
        fs::write(&path, content).map_err(in_file(&path))?;
    }
    Ok(())
}

/// Removes the files of a list from a directory.
fn remove(directory: &Path, list: &str) -> Result<(), String> {
    // The list may have been edited: a path must not lead out of the directory.
    let is_inside = |path: &&str| {
        Path::new(path).components().all(|part| matches!(part, Component::Normal(_))) && !path.is_empty()
    };
    for path in list.lines().filter(is_inside) {
        let path = directory.join(path);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(in_file(&path)(error)),
            _ => {}
        }
    }
    Ok(())
}
