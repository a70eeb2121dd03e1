//! Diagnostics of lint, of breaking changes and of the configuration.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use language_server::{Project, Standalone};
use lsp_types::{Diagnostic, DiagnosticSeverity, NumberOrString};
use serde_json::json;

use crate::session::{Session, line, position, range};
use fixtures::LIBRARY;

/// The rules of diagnostics, each with its line.
pub(crate) fn rules(diagnostics: &[Diagnostic]) -> Vec<(String, u32)> {
    let rule = |shown: &Diagnostic| match &shown.code {
        Some(NumberOrString::String(rule)) => (rule.clone(), shown.range.start.line + 1),
        _ => panic!("no rule: {shown:?}"),
    };
    diagnostics.iter().map(rule).collect()
}

#[test]
fn an_edit_is_reported_and_its_correction_too() {
    let mut session = Session::new();
    session.open("library.yaml", LIBRARY);
    assert_eq!(session.diagnostics("library.yaml"), []);
    let word = range(LIBRARY, "operationId: listBooks");
    session.change("library.yaml", Some(word), "operationID: listBooks");
    let diagnostics = session.diagnostics("library.yaml");
    let lines = u32::try_from(line(LIBRARY, "operationId: listBooks")).unwrap();
    assert!(rules(&diagnostics).contains(&("struct-keyword".to_owned(), lines)), "{diagnostics:#?}");
    assert_eq!(diagnostics[0].severity, Some(DiagnosticSeverity::ERROR));
    assert_eq!(diagnostics[0].range.end.character, diagnostics[0].range.start.character + 11);
    session.change("library.yaml", Some(word), "operationId: listBooks");
    assert_eq!(session.diagnostics("library.yaml"), []);
    assert_eq!(session.end(), 0);
}

#[test]
fn a_text_that_is_not_yaml_is_reported_at_its_place() {
    let mut session = Session::new();
    let broken = LIBRARY.replace("title: Library", "title: 'Library");
    session.open("library.yaml", &broken);
    let diagnostics = session.diagnostics("library.yaml");
    let expected = u32::try_from(line(&broken, "title: 'Library")).unwrap();
    assert_eq!(rules(&diagnostics), [("unreadable".to_owned(), expected)]);
}

#[test]
fn other_files_have_no_diagnostics() {
    let mut session = Session::new();
    let files = [
        ("values.yaml", "replicas: 3\nimage: nginx\n"),
        ("broken.yaml", "a: [1\nb: {\n"),
        ("empty.yaml", ""),
        ("package.json", "{ \"name\": \"x\" }"),
        ("main.rs", "fn main() {}"),
    ];
    for (name, text) in files {
        session.open(name, text);
    }
    // The last of the queue: the others were checked before it.
    session.open("library.yaml", LIBRARY);
    assert_eq!(session.diagnostics("library.yaml"), []);
    for (name, _) in &files[..4] {
        assert_eq!(session.diagnostics(name), [], "{name}");
    }
}

#[test]
fn the_last_of_many_edits_is_the_one_that_counts() {
    let mut session = Session::new();
    session.open("library.yaml", LIBRARY);
    let place = position(LIBRARY, "title: Library", "title: Library".len());
    for _ in 0..200 {
        session.change("library.yaml", Some(lsp_types::Range { start: place, end: place }), "!");
    }
    assert_eq!(session.diagnostics("library.yaml"), []);
    let hover = session.hover("library.yaml", position(LIBRARY, "listBooks", 1));
    assert!(hover.contains("`listBooks`"), "{hover}");
}

/// A project whose base can be asked for once for each message. A check asks for it, so it reports its beginning and waits.
struct Gated(Sender<()>, Mutex<Receiver<()>>);

impl Project for Gated {
    fn root(&self) -> PathBuf {
        PathBuf::from("/")
    }

    fn base(&self) -> Option<PathBuf> {
        // Both fail after the test has ended.
        let _ = self.0.send(());
        let _ = self.1.lock().unwrap().recv();
        None
    }
}

#[test]
fn diagnostics_arrive_while_somebody_types() {
    let ((begin, begun), (permit, gate)) = (channel(), channel());
    let project = Arc::new(Gated(begin, Mutex::new(gate)));
    let mut session = Session::with(tempfile::tempdir().unwrap(), project, json!({}));
    let mut text = LIBRARY.replace("title: Library", "titel: Library");
    session.open("library.yaml", &text);
    let start = position(LIBRARY, "openapi", 0);
    for _ in 0..3 {
        begun.recv().unwrap();
        session.change("library.yaml", Some(lsp_types::Range { start, end: start }), "# typed\n");
        text.insert_str(0, "# typed\n");
        // The response shows that the edit has arrived.
        session.hover("library.yaml", position(&text, "listBooks", 1));
        permit.send(()).unwrap();
        let expected = u32::try_from(line(&text, "titel")).unwrap();
        let shown = session.await_diagnostics("library.yaml", |published| {
            let lines = rules(&published.diagnostics).into_iter();
            lines.filter(|(rule, _)| rule == "struct-keyword").any(|(_, line)| line == expected)
        });
        assert_eq!(rules(&shown)[0].0, "struct-keyword");
        // The client is not told that this version was checked.
        assert_eq!(session.version("library.yaml"), None);
    }
    permit.send(()).unwrap();
    let shown = session.diagnostics("library.yaml");
    assert_eq!(rules(&shown)[0], ("struct-keyword".to_owned(), u32::try_from(line(&text, "titel")).unwrap()));
    drop((permit, begun));
    assert_eq!(session.end(), 0);
}

#[test]
fn the_configuration_beside_the_document_applies_again_when_it_is_saved() {
    let mut session = Session::new();
    session.write("contract.toml", "[rules]\n\"operation-tags\" = \"info\"\n");
    let untagged = LIBRARY.replacen("      tags: [books]\n", "", 1);
    assert_ne!(untagged, LIBRARY);
    session.open("library.yaml", &untagged);
    let shown = session.diagnostics("library.yaml");
    let tags = shown.iter().find(|shown| rules(&[(*shown).clone()])[0].0 == "operation-tags").unwrap();
    assert_eq!(tags.severity, Some(DiagnosticSeverity::INFORMATION));

    let configure = |session: &mut Session, text: &str| {
        session.write("contract.toml", text);
        session.save("contract.toml");
    };
    configure(&mut session, "[rules]\n\"operation-tags\" = \"off\"\n");
    session.await_diagnostics("library.yaml", |published| published.diagnostics.is_empty());

    configure(&mut session, "[rules]\n\"operation-tag\" = \"off\"\n");
    let shown = session.await_diagnostics("library.yaml", |published| !published.diagnostics.is_empty());
    assert_eq!(rules(&shown), [("configuration".to_owned(), 1)]);
    assert!(
        shown[0].message.contains("line 2") && shown[0].message.contains("Did you mean `operation-tags`?"),
        "{shown:#?}"
    );
    assert_eq!(session.end(), 0);
}

#[test]
fn a_breaking_change_leads_to_the_base() {
    let directory = tempfile::tempdir().unwrap();
    let [base, document] =
        ["base.yaml", "library.yaml"].map(|name| directory.path().canonicalize().unwrap().join(name));
    std::fs::write(&base, LIBRARY).unwrap();
    let project = Standalone { base: Some(base), document: Some(document) };
    let mut session = Session::with(directory, Arc::new(project), json!({}));
    let narrowed =
        LIBRARY.replace("version: 1.0.0", "version: 2.0.0").replace("maximum: 100\n", "maximum: 50\n");
    session.open("library.yaml", &narrowed);
    let shown = session.diagnostics("library.yaml");
    let expected = u32::try_from(line(&narrowed, "maximum: 50")).unwrap();
    assert_eq!(rules(&shown), [("request-max-decreased".to_owned(), expected)]);
    let related = shown[0].related_information.as_ref().unwrap();
    assert!(related[0].location.uri.as_str().ends_with("/base.yaml"));
    assert_eq!(related[0].location.range.start, position(LIBRARY, "maximum: 100", "maximum: ".len()));

    // The base itself and other documents are not compared.
    for (name, text) in [("base.yaml", LIBRARY), ("other.yaml", &*narrowed)] {
        session.open(name, text);
        assert_eq!(session.diagnostics(name), [], "{name}");
    }
}

#[test]
fn the_last_findings_stay_while_the_text_cannot_be_read() {
    let mut session = Session::new();
    let text = LIBRARY.replace("title: Library", "titel: Library");
    session.open("library.yaml", &text);
    let before = rules(&session.diagnostics("library.yaml"));
    assert!(before.iter().any(|(rule, _)| rule == "struct-keyword"), "{before:?}");
    for written in ["  descr\n", "  summary: 'T\n"] {
        let start = position(&text, "  titel", 0);
        session.change("library.yaml", Some(lsp_types::Range { start, end: start }), written);
        let shown = rules(&session.diagnostics("library.yaml"));
        let moved = |(rule, line): &(String, u32)| (rule.clone(), line + u32::from(*line > start.line));
        let mut expected = vec![("unreadable".to_owned(), start.line + 1)];
        expected.extend(before.iter().map(moved));
        assert_eq!(shown, expected, "{written}");
        session.change("library.yaml", None, &text);
        assert_eq!(rules(&session.diagnostics("library.yaml")), before);
    }
    // A text that is no OpenAPI document has none.
    session.change("library.yaml", None, "replicas: 3\n");
    assert_eq!(session.diagnostics("library.yaml"), []);
}

#[test]
fn a_base_that_cannot_be_read_is_reported_in_the_document() {
    for (text, expected) in [
        (None, "there is no such file"),
        (Some(LIBRARY.replace("openapi: 3.0.3", "openapi: 3.1.0")), "3.1"),
        (Some("openapi: '3.0.3\n".to_owned()), "this quote is not closed"),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let [base, document] =
            ["base.yaml", "library.yaml"].map(|name| directory.path().canonicalize().unwrap().join(name));
        text.into_iter().for_each(|text| std::fs::write(&base, text).unwrap());
        let project = Standalone { base: Some(base), document: Some(document) };
        let mut session = Session::with(directory, Arc::new(project), json!({}));
        session.open("library.yaml", LIBRARY);
        let shown = session.diagnostics("library.yaml");
        assert_eq!(rules(&shown), [("base-unreadable".to_owned(), 1)]);
        assert!(shown[0].message.contains("base.yaml") && shown[0].message.contains(expected), "{shown:#?}");
    }
    // The messages of the editor come from standard input.
    let project = Standalone { base: Some("-".into()), document: None };
    let mut session = Session::with(tempfile::tempdir().unwrap(), Arc::new(project), json!({}));
    session.open("library.yaml", LIBRARY);
    assert_eq!(rules(&session.diagnostics("library.yaml")), [("base-unreadable".to_owned(), 1)]);
}

#[test]
fn a_document_below_a_symbolic_link_is_compared_again_when_it_is_saved() {
    let directory = tempfile::tempdir().unwrap();
    let real = directory.path().canonicalize().unwrap().join("real");
    std::fs::create_dir(&real).unwrap();
    std::os::unix::fs::symlink(&real, directory.path().join("link")).unwrap();
    let [base, document] = ["base.yaml", "library.yaml"].map(|name| real.join(name));
    std::fs::write(&base, LIBRARY).unwrap();
    let project = Standalone { base: Some(base.clone()), document: Some(document) };
    let mut session = Session::with(directory, Arc::new(project), json!({}));
    let narrowed =
        LIBRARY.replace("version: 1.0.0", "version: 2.0.0").replace("maximum: 100\n", "maximum: 50\n");
    session.open("link/library.yaml", &narrowed);
    let shown = rules(&session.diagnostics("link/library.yaml"));
    assert_eq!(shown[0].0, "request-max-decreased");
    std::fs::write(&base, &narrowed).unwrap();
    session.save("link/library.yaml");
    session.await_diagnostics("link/library.yaml", |published| published.diagnostics.is_empty());
}

#[test]
fn a_configuration_that_cannot_be_used_is_reported_in_the_document() {
    let mut session = Session::new();
    let text = LIBRARY.replace("title: Library", "titel: Library");
    session.open("library.yaml", &text);
    let before = rules(&session.diagnostics("library.yaml"));
    session.write("contract.toml", "profile = \"spec\"\n[rulez]\n");
    // As a client reports it that watches files.
    let change = json!({ "uri": session.uri("contract.toml"), "type": 1 });
    session.notify("workspace/didChangeWatchedFiles", json!({ "changes": [change] }));
    let shown = session.await_diagnostics("library.yaml", |published| {
        rules(&published.diagnostics).iter().any(|(rule, _)| rule == "configuration")
    });
    assert_eq!(rules(&shown), [vec![("configuration".to_owned(), 1)], before.clone()].concat());
    assert!(shown[0].message.contains("contract.toml`, line 2"), "{shown:#?}");
    session.write("contract.toml", "");
    session.save("contract.toml");
    session.await_diagnostics("library.yaml", |published| rules(&published.diagnostics) == before);
}

#[test]
fn the_nearest_configuration_above_the_document_applies() {
    let mut session = Session::new();
    session.write("api/.empty", "");
    session.open("api/library.yaml", &LIBRARY.replacen("title: Library", "title: ' '", 1));
    assert_eq!(session.diagnostics("api/library.yaml").len(), 0);
    for (name, profile, number) in
        [("contract.toml", "strict", 1), ("api/contract.toml", "spec", 0), ("api/contract.toml", "strict", 1)]
    {
        session.write(name, &format!("profile = \"{profile}\"\n"));
        session.save(name);
        session.await_diagnostics("api/library.yaml", |published| published.diagnostics.len() == number);
    }
    assert_eq!(session.end(), 0);
}

#[test]
fn a_closed_document_has_no_diagnostics() {
    // The second name is another form of the first one.
    for name in ["library.yaml", "lib%72ary.yaml"] {
        let mut session = Session::new();
        session.open(name, &LIBRARY.replace("openapi: 3.0.3", "openapi: 3.1.0"));
        assert_eq!(session.diagnostics(name).len(), 1);
        let uri = session.uri(name);
        session.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
        session.await_diagnostics(name, |published| published.diagnostics.is_empty());
        assert_eq!(session.end(), 0);
    }
}
