//! `cargo xtask site` on the documents of this repository: all files are there, and all links lead to one of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Output};

use project::release::verify::sum;
use project::site::{files, languages};
use regex::Regex;
use xtask::workspace::workspace;

type Files = BTreeMap<String, Vec<u8>>;

fn site() -> Files {
    files(&workspace(), None).unwrap()
}

fn text<'f>(files: &'f Files, path: &str) -> &'f str {
    std::str::from_utf8(files.get(path).unwrap_or_else(|| panic!("there is no {path}"))).unwrap()
}

/// Returns the path of a relative link from a page. `None` if it leaves the site.
fn target(from: &str, link: &str) -> Option<String> {
    let mut path = Path::new(from).parent()?.to_owned();
    for part in Path::new(link).components() {
        match part {
            Component::Normal(name) => path.push(name),
            Component::CurDir => {}
            Component::ParentDir => {
                if !path.pop() {
                    return None;
                }
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    // A directory is its `index.html`.
    let path = if link.ends_with('/') { path.join("index.html") } else { path };
    Some(path.to_str()?.to_owned())
}

#[test]
fn links_of_pages_are_resolved() {
    for (from, link, expected) in [
        ("index.html", "./", Some("index.html")),
        ("docs/a.html", "../", Some("index.html")),
        ("docs/a.html", "b.html", Some("docs/b.html")),
        ("docs/a.html", "../openapi/1.yaml", Some("openapi/1.yaml")),
        ("docs/a.html", "/docs/b.html", None),
        ("index.html", "../b.html", None),
    ] {
        assert_eq!(target(from, link).as_deref(), expected, "{link} in {from}");
    }
}

#[test]
fn every_link_leads_to_a_file_and_every_fragment_to_an_element() {
    let files = site();
    let link = Regex::new(r#"(?:href|src|data-document|data-search)="([^"]*)""#).unwrap();
    let mut seen = 0;
    let mut broken = BTreeSet::new();
    for (path, content) in files.iter().filter(|(path, _)| path.ends_with(".html") || path.ends_with(".atom"))
    {
        let content = std::str::from_utf8(content).unwrap();
        for found in link.captures_iter(content).map(|found| found.extract::<1>().1[0]) {
            // Links to other hosts are for readers; nothing is loaded from there.
            if found.starts_with("https://") {
                continue;
            }
            seen += 1;
            let (file, fragment) = found.split_once('#').unwrap_or((found, ""));
            let file = if file.is_empty() { Some(path.clone()) } else { target(path, file) };
            let page = file.and_then(|file| files.get(&file));
            // A fragment that begins with a slash is one of the viewer.
            let has_element = |page: &Vec<u8>| {
                let element = format!("id=\"{fragment}\"");
                fragment.is_empty()
                    || fragment.starts_with('/')
                    || String::from_utf8_lossy(page).contains(&element)
            };
            if !page.is_some_and(has_element) {
                broken.insert(format!("{path}: {found}"));
            }
        }
    }
    assert!(seen > 300, "only {seen} links");
    assert!(broken.is_empty(), "broken links: {broken:#?}");
}

#[test]
fn every_page_can_be_reached_and_loads_only_files_of_the_site() {
    let files = site();
    let link = Regex::new(r##"href="([^"#]*)"##).unwrap();
    let loaded =
        Regex::new(r#"<(?:script|link|img|iframe|object|embed)[^>]*(?:src|href)="([^"]*)""#).unwrap();
    let (mut open, mut reached) = (vec!["index.html".to_owned()], BTreeSet::new());
    while let Some(path) = open.pop() {
        if !path.ends_with(".html") || !reached.insert(path.clone()) {
            continue;
        }
        let page = text(&files, &path);
        open.extend(link.captures_iter(page).filter_map(|found| target(&path, &found[1])));
        assert!(loaded.captures_iter(page).all(|found| !found[1].contains("//")), "{path}");
        assert!(page.contains("http-equiv=\"Content-Security-Policy\""), "{path}");
    }
    let pages: BTreeSet<String> = files.keys().filter(|path| path.ends_with(".html")).cloned().collect();
    assert_eq!(reached, pages);
}

#[test]
fn the_documents_and_the_viewer_are_unchanged_and_the_checksums_are_right() {
    let files = site();
    let root = workspace();
    let document = fs::read_to_string(root.join("openapi/animal-store.yaml")).unwrap();
    assert_eq!(text(&files, "openapi.yaml"), document);
    let tree = document::read(&document).unwrap();
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(text(&files, "openapi.json")).unwrap(),
        tree.to_json()
    );
    let listed = text(&files, "docs/files.html");
    let mut released = 0;
    for (path, content) in
        files.iter().filter(|(path, _)| path.starts_with("openapi/") && !path.ends_with("SUMS"))
    {
        assert_eq!(
            *content,
            fs::read(root.join("openapi/released").join(&path["openapi/".len()..])).unwrap()
        );
        let name = path.rsplit('/').next().unwrap();
        assert!(
            listed.contains(&format!(">{name}</a> <code>{}</code>", sum(content))),
            "{path} is not in the list"
        );
        released += 1;
    }
    assert!(released >= 12, "{released} files");
    let viewer = files.iter().find(|(path, _)| path.starts_with("docs/swagger-ui-bundle.")).unwrap();
    assert!(viewer.1.len() > 1_000_000);
}

#[test]
fn the_changes_are_those_of_the_changelog() {
    let files = site();
    let changelog = fs::read_to_string(workspace().join("openapi/CHANGELOG.md")).unwrap();
    let mut entries = 0;
    for (path, content) in files.iter().filter(|(path, _)| path.ends_with(".changes.json")) {
        let release: changes::Release = serde_json::from_slice(content).unwrap();
        assert!(
            changelog.contains(release.to_markdown().trim_end()),
            "{path} differs from openapi/CHANGELOG.md"
        );
        let page = text(&files, &format!("docs/{}.changes.html", release.version));
        for entry in &release.changes {
            let names = entry.sentence.split('`').filter(|part| !part.is_empty());
            assert!(names.clone().all(|part| page.contains(part)), "{}", entry.sentence);
            assert!(page.contains(&entry.impact));
            assert!(entry.waiver.iter().all(|reason| page.contains(reason)));
            entries += 1;
        }
    }
    assert!(entries > 0);
}

#[test]
fn commands_for_clients_name_the_versions_that_are_tested() {
    let read = |path: &str| fs::read_to_string(workspace().join(path)).unwrap();
    let clients = read("openapi/clients.md");
    let lock = read("tests/interop/clients/typescript/package-lock.json");
    let lock: serde_json::Value = serde_json::from_str(&lock).unwrap();
    for package in ["openapi-fetch", "openapi-typescript"] {
        let version = lock["packages"][format!("node_modules/{package}")]["version"].as_str().unwrap();
        assert!(
            clients.contains(&format!("{package}@{version} "))
                || clients.contains(&format!("{package}@{version}\n"))
        );
    }
    let python = read("tests/interop/python/requirements.txt");
    let pinned = python.lines().find(|line| line.starts_with("openapi-python-client==")).unwrap();
    assert!(clients.contains(pinned), "{pinned}");
    let progenitor = Regex::new(r#"progenitor = \{ version = "=([0-9.]+)""#).unwrap();
    let manifest = read("Cargo.toml");
    let version = &progenitor.captures(&manifest).unwrap()[1];
    assert!(clients.contains(&format!("cargo-progenitor@{version}")), "{version}");
}

#[test]
fn the_commands_of_each_language_are_tested_and_use_its_example() {
    let files = files(&workspace(), Some("https://docs.example.com/animals/")).unwrap();
    let page = text(&files, "docs/clients.html");
    assert!(page.contains("</span> SITE=https://docs.example.com/animals\n"));
    assert!(page.contains("</span> URL=https://animals.example.com/v1\n"));
    let left = ["https://SITE", "https://HOST", "VERSION"].map(|placeholder| page.contains(placeholder));
    assert_eq!(left, [false; 3]);
    let languages = languages(page);
    assert_eq!(languages.len(), page.matches("<h3").count());
    let mut used = BTreeSet::new();
    for (_, commands) in &languages {
        let example = commands.split_once("$SITE/docs/examples/").unwrap().1.split('"').next().unwrap();
        used.insert(format!("docs/examples/{example}"));
        // Escapes of HTML are undone.
        assert!(commands.contains("\"$SITE/openapi/1.") && !commands.contains("&quot;"), "{commands}");
    }
    let published: BTreeSet<String> =
        files.keys().filter(|path| path.starts_with("docs/examples/")).cloned().collect();
    assert_eq!(used, published);
}

/// Runs the command.
fn run(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_project"));
    command.arg("site").arg(directory).args(arguments).output().unwrap()
}

/// Returns all files below a directory.
fn below(directory: &Path) -> BTreeSet<PathBuf> {
    let (mut open, mut found) = (vec![directory.to_owned()], BTreeSet::new());
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            found.insert(path.strip_prefix(directory).unwrap().to_owned());
        }
    }
    found
}

#[test]
fn the_command_writes_all_files_and_names_the_url() {
    let directory = tempfile::tempdir().unwrap();
    let site_directory = directory.path().join("new/site");
    let done = run(&site_directory, &["--url", "https://docs.example.com/animals/"]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let expected: BTreeSet<PathBuf> = site().keys().map(PathBuf::from).collect();
    assert_eq!(below(&site_directory), expected);
    let feed = fs::read_to_string(site_directory.join("docs/releases.atom")).unwrap();
    assert!(feed.contains("href=\"https://docs.example.com/animals/docs/releases.atom\""), "{feed}");
    for url in ["docs.example.com", "ftp://docs.example.com", "https://docs.example.com/?a=b", "https:"] {
        assert_eq!(run(&site_directory, &["--url", url]).status.code(), Some(2), "{url}");
    }
}

#[test]
fn a_directory_with_files_of_others_is_refused_and_unchanged() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("notes.txt"), "mine").unwrap();
    let refused = run(directory.path(), &[]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("name a new directory"));
    assert_eq!(below(directory.path()), BTreeSet::from(["notes.txt".into()]));
}
