//! Findings as JUnit XML, which CI systems show as tests: a suite for each file, a failed test for each error.
//!
//! There is no standard. This is what the schema of Jenkins (`junit-10.xsd` of its xUnit plugin) allows.

use std::io;

use quick_xml::Writer;
use quick_xml::events::BytesText;

use super::{Report, plain};
use crate::finding::{File, Finding, Severity};

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
        let mut files = report.files.iter().filter(|file| !file.path.is_empty());
        files.try_for_each(|file| suite(&clean(&report.path(file)), file, writer))
    })?;
    Ok(())
}

/// Writes the tests of a file. A file without findings is one test, which passed.
fn suite(path: &str, File { findings, .. }: &File, writer: &mut Writer<Vec<u8>>) -> io::Result<()> {
    let number = |is: fn(&&Finding) -> bool| findings.iter().filter(is).count().to_string();
    let suite = writer.create_element("testsuite").with_attributes([
        ("name", path),
        ("tests", &*findings.len().max(1).to_string()),
        ("failures", &*number(|it| it.severity == Severity::Error)),
        ("errors", &*number(|it| it.severity == Severity::Unreadable)),
        ("skipped", &*number(|it| it.accepted.is_some())),
    ]);
    suite.write_inner_content(|writer| {
        if findings.is_empty() {
            let test = writer.create_element("testcase");
            test.with_attributes([("name", "no findings"), ("classname", path)]).write_empty()?;
        }
        findings.iter().try_for_each(|finding| test(path, finding, writer))
    })?;
    Ok(())
}

/// Writes a finding. Warnings and notes are tests that passed.
fn test(path: &str, finding: &Finding, writer: &mut Writer<Vec<u8>>) -> io::Result<()> {
    let place = format!("{path}:{}:{}", finding.span.line, finding.span.column);
    let lines = std::iter::once(&*place).chain(finding.advice().flat_map(str::lines)).map(clean);
    let text = lines.collect::<Vec<_>>().join("\n");
    // The name of a test stays the same when lines move.
    let name = clean(&format!("{} at #{}", finding.rule, finding.pointer));
    let (kind, message) = match (&finding.accepted, finding.severity) {
        (Some(reason), _) => ("skipped", reason),
        (None, Severity::Unreadable) => ("error", &finding.message),
        (None, Severity::Error) => ("failure", &finding.message),
        (None, Severity::Warning | Severity::Info) => ("system-out", &finding.message),
    };
    let (rule, message) = (clean(&finding.rule), clean(message));
    let test = writer.create_element("testcase").with_attributes([("name", &*name), ("classname", path)]);
    test.write_inner_content(|writer| {
        let result = writer.create_element(kind);
        match kind {
            "skipped" => result.with_attribute(("message", &*message)).write_empty(),
            "system-out" => result.write_text_content(BytesText::new(&text)),
            _ => {
                let result = result.with_attributes([("type", &*rule), ("message", &*message)]);
                result.write_text_content(BytesText::new(&text))
            }
        }
        .map(drop)
    })?;
    Ok(())
}

/// Returns a text without the characters that XML 1.0 excludes (section 2.2).
fn clean(text: &str) -> String {
    plain(text).replace(['\u{fffe}', '\u{ffff}'], "")
}
