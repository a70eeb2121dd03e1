//! Findings as JUnit XML, which CI systems show as tests: a suite for each file, a failed test for each error.
//!
//! There is no standard. This is what the schema of Jenkins (`junit-10.xsd` of its xUnit plugin) allows.

use std::io;

use crate::finding::{Finding, Severity};
use quick_xml::Writer;
use quick_xml::events::BytesText;

use super::{About, Report, from_root};
use crate::markdown::plain;

pub(super) fn render(report: &Report<'_>) -> String {
    let mut writer =
        Writer::new_with_indent(b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_vec(), b' ', 2);
    // Writing to memory cannot fail.
    let _ = suites(report, &mut writer);
    String::from_utf8_lossy(&writer.into_inner()).into_owned() + "\n"
}

fn suites(report: &Report<'_>, writer: &mut Writer<Vec<u8>>) -> io::Result<()> {
    let name = format!("contract {}", report.command);
    let suites = writer.create_element("testsuites").with_attribute(("name", &*name));
    suites.write_inner_content(|writer| {
        let mut files = report.files.iter().filter(|about| !about.path.is_empty());
        files.try_for_each(|about| suite(&from_root(report.sources.root(), about.path), about, writer))
    })?;
    Ok(())
}

/// Writes the tests of a file. A file without findings is one test, which passed.
fn suite(file: &str, about: &About<'_>, writer: &mut Writer<Vec<u8>>) -> io::Result<()> {
    let number =
        |is: fn(&Finding) -> bool| about.findings.iter().filter(|finding| is(finding)).count().to_string();
    let suite = writer.create_element("testsuite").with_attributes([
        ("name", &*clean(file)),
        ("tests", &*about.findings.len().max(1).to_string()),
        ("failures", &*number(|it| it.severity == Severity::Error)),
        ("errors", &*number(|it| it.severity == Severity::Unreadable)),
        ("skipped", &*number(|it| it.accepted.is_some())),
    ]);
    suite.write_inner_content(|writer| {
        if about.findings.is_empty() {
            let test = writer.create_element("testcase");
            test.with_attributes([("name", "no findings"), ("classname", &*clean(file))]).write_empty()?;
        }
        about.findings.iter().try_for_each(|finding| test(file, finding, writer))
    })?;
    Ok(())
}

/// Writes a finding. Warnings and notes are tests that passed.
fn test(file: &str, finding: &Finding, writer: &mut Writer<Vec<u8>>) -> io::Result<()> {
    let place = format!("{file}:{}:{}", finding.span.line, finding.span.column);
    let lines = std::iter::once(&*place).chain(finding.advice().flat_map(str::lines)).map(clean);
    let text = lines.collect::<Vec<_>>().join("\n");
    // The name of a test stays the same when lines move.
    let name = clean(&format!("{} at #{}", finding.rule, finding.pointer));
    let (rule, message) = (clean(&finding.rule), clean(&finding.message));
    let test = writer.create_element("testcase");
    let test = test.with_attributes([("name", &*name), ("classname", &*clean(file))]);
    test.write_inner_content(|writer| {
        let kind = match (&finding.accepted, finding.severity) {
            (Some(reason), _) => {
                let skipped = writer.create_element("skipped").with_attribute(("message", &*clean(reason)));
                return skipped.write_empty().map(drop);
            }
            (None, Severity::Unreadable) => "error",
            (None, Severity::Error) => "failure",
            (None, Severity::Warning | Severity::Info) => "system-out",
        };
        let result = writer.create_element(kind);
        let result = match kind {
            "system-out" => result,
            _ => result.with_attributes([("type", &*rule), ("message", &*message)]),
        };
        result.write_text_content(BytesText::new(&text)).map(drop)
    })?;
    Ok(())
}

/// Returns a text without the characters that XML 1.0 excludes (section 2.2).
fn clean(text: &str) -> String {
    plain(text).filter(|it| !matches!(it, '\u{fffe}' | '\u{ffff}')).collect()
}
