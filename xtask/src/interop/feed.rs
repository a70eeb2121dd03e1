//! The feed of releases with tools of others: Jing checks its grammar, and feedparser reads it as a feed reader does, from
//! a running service and with the links that it resolves.

use std::fs;

use launcher::workspace::{in_file, workspace};

use super::Place;
use crate::site;

/// The feed in the site, and its URL in the feed for other servers.
const FEED: &str = "docs/releases.atom";
const URL: &str = "https://docs.example.com/animals";

/// Runs `tests/interop/python/feed.py` on the feed of the service and on the one for other servers.
pub(super) fn run_all(place: &Place) -> Result<String, String> {
    let file = place.directory.join("python/site.atom");
    let content = site::files(&workspace(), Some(URL))?.remove(FEED).unwrap_or_default();
    fs::write(&file, content).map_err(in_file(&file))?;
    place
        .run_with_service("feed", |service| {
            let mut command = place.python("python");
            let served = format!("{}/{FEED}", service.url.trim_end_matches("/v1"));
            command.arg("feed.py").arg(served).arg(&file).arg(format!("{URL}/{FEED}"));
            Ok(command)
        })
        .map(|printed| printed.trim().to_owned())
}
