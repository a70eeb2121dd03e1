//! The pages of the documentation in a browser, and the feed of releases in a feed reader.

use std::fs;
use std::process::Command;

use swagger_ui_redist::SwaggerUi;
use xtask::process::printed;
use xtask::workspace::{in_file, workspace};

use super::Context;
use project::site;
use project::workspace::empty_directory;

/// Uses the pages of the service, and those that `cargo xtask site` writes, in headless Chromium. Screenshots are kept in
/// `target/interop/screenshots`.
pub(super) fn docs(context: &Context) -> Result<String, String> {
    same_viewer(context)?;
    let [screenshots, site] = ["screenshots", "site"].map(|name| context.directory.join(name));
    fs::create_dir_all(&screenshots).map_err(in_file(&screenshots))?;
    empty_directory(&site)?;
    site::write(&site, &site::files(&workspace(), None)?)?;
    let find = ["-c", "command -v chromium || command -v chromium-browser"];
    let chromium = printed(Command::new("sh").args(find));
    let chromium = chromium.map_err(|_| "chromium is missing; on Debian: apt-get install chromium")?;
    let mut summaries = Vec::new();
    for script in ["docs", "site"] {
        let mut browse = context.node("node");
        browse.arg(format!("{script}.mjs")).env("CHROMIUM", chromium.trim());
        browse.env("SCREENSHOTS", &screenshots).env("SITE", &site);
        summaries.push(context.run_with_service(script, |_, _| Ok(browse)).map(last_line)?);
    }
    Ok(format!("{}; screenshots in {}", summaries.join("; "), screenshots.display()))
}

/// Checks the feed of releases, of the service and of a site with a URL, with Jing and feedparser.
pub(super) fn feed(context: &Context) -> Result<String, String> {
    let (path, site) = ("docs/releases.atom", "https://docs.example.com/animals");
    let file = context.directory.join("python/releases.atom");
    let content = site::files(&workspace(), Some(site))?.remove(path).unwrap_or_default();
    fs::write(&file, content).map_err(in_file(&file))?;
    let printed = context.run_with_service("feed", |url, _| {
        let mut command = context.python("python");
        command.arg("feed.py").arg(format!("{}/{path}", url.trim_end_matches("/v1")));
        command.arg(&file).arg(format!("{site}/{path}"));
        Ok(command)
    });
    printed.map(last_line)
}

/// Compares the files of Swagger UI in the program with those of its own package, since readers enter keys into them.
fn same_viewer(context: &Context) -> Result<(), String> {
    let package = context.directory.join("node/node_modules/swagger-ui-dist");
    for (file, content) in SwaggerUi::static_files() {
        let path = package.join(file.file_name());
        if fs::read(&path).map_err(in_file(&path))? != *content {
            return Err(format!(
                "the crate swagger-ui-redist has another {} than the package swagger-ui-dist; compare their versions",
                file.file_name()
            ));
        }
    }
    Ok(())
}

/// Returns the last non-empty line of a text.
fn last_line(text: String) -> String {
    text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().to_owned()
}
