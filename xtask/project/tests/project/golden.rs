//! Golden tests: the exact text of findings in each format.
//!
//! `UPDATE_EXPECT=1 cargo test --package project --test project golden` rewrites the golden files; check the difference before committing
//! it. Document and code are invented, so that the tests do not depend on the service.

use std::path::Path;

use checks::drift::compare;
use checks::finding::{File, summary};
use checks::report::{Format, Report, render};
use document::Document;
use expect_test::{ExpectFile, expect_file};
use project::source::Sources;

/// Relative to the package, which is the working directory of tests.
const SHOP: &str = "tests/golden/shop";

fn rendered(format: Format) -> String {
    let shop = Path::new(env!("CARGO_MANIFEST_DIR")).join(SHOP);
    let document = Document::load(&Path::new(SHOP).join("openapi.yaml")).unwrap();
    let code = Document::load(&shop.join("served.json")).unwrap();
    let mut findings = compare(&document, &code);
    let sources = Sources::read(&shop);
    sources.locate_all(&mut findings);
    shown(format, File { path: document.path, text: document.text, findings }, &sources)
}

fn unreadable(format: Format) -> String {
    let unreadable =
        Document::parse("tests/golden/shop/broken.yaml", "openapi: 3.0.3\ninfo: [100%,\n").unwrap_err();
    let sources = Sources::none(&Path::new(env!("CARGO_MANIFEST_DIR")).join(SHOP));
    shown(format, unreadable.into(), &sources)
}

fn shown(format: Format, file: File, sources: &Sources) -> String {
    let summary = summary(file.findings.iter().map(|finding| finding.severity));
    let summary = format!("{}: {summary}", file.path);
    render(format, &Report { command: "drift", files: &[file], sources: sources.shown(), summary: &summary })
}

fn check(golden: ExpectFile, format: Format) {
    let shown = rendered(format) + &unreadable(format);
    golden.assert_eq(&anstream::adapter::strip_str(&shown).to_string());
}

#[test]
fn text() {
    check(expect_file!["../golden/findings.txt"], Format::Text);
}

#[test]
fn json() {
    check(expect_file!["../golden/findings.json"], Format::Json);
}

#[test]
fn github() {
    check(expect_file!["../golden/findings.github"], Format::Github);
}

#[test]
fn sarif() {
    check(expect_file!["../golden/findings.sarif"], Format::Sarif);
}

#[test]
fn markdown() {
    check(expect_file!["../golden/findings.md"], Format::Markdown);
}

#[test]
fn only_the_text_format_has_colours() {
    assert!(rendered(Format::Text).contains('\x1b'));
    assert!(!rendered(Format::Json).contains('\x1b') && !rendered(Format::Github).contains('\x1b'));
}
