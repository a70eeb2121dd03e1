//! No input ends the server: only `exit` and the end of the input do.

use std::path::PathBuf;
use std::sync::Arc;

use document::place::Subject;
use language_server::{Locate, Project};
use proptest::prelude::*;
use serde_json::{Value, json};

use fixtures::LIBRARY;

use crate::session::{Session, position};

const METHODS: &[&str] = &[
    "textDocument/hover",
    "textDocument/definition",
    "textDocument/references",
    "textDocument/completion",
    "textDocument/codeAction",
    "textDocument/prepareRename",
    "textDocument/rename",
    "workspace/executeCommand",
    "textDocument/unknown",
    "initialize",
    "",
];

const NOTIFICATIONS: &[&str] = &[
    "textDocument/didOpen",
    "textDocument/didChange",
    "textDocument/didSave",
    "textDocument/didClose",
    "workspace/didChangeWatchedFiles",
    "initialized",
    "unknown",
];

/// The session still answers.
fn answers(session: &mut Session) {
    session.open("last.yaml", LIBRARY);
    let hover = session.hover("last.yaml", position(LIBRARY, "listBooks", 1));
    assert!(hover.contains("listBooks"), "{hover}");
}

#[test]
fn wrong_parameters_are_refused() {
    let mut session = Session::new();
    session.open("library.yaml", LIBRARY);
    let wrong = [
        Value::Null,
        json!([]),
        json!({}),
        json!({ "textDocument": { "uri": 1 }, "position": { "line": -1, "character": 0 } }),
        json!({ "textDocument": { "uri": "::" }, "position": { "line": 0, "character": 0 } }),
    ];
    for method in METHODS {
        for params in &wrong {
            assert!(session.request(method, params.clone()).is_err(), "{method} {params}");
        }
    }
    for method in NOTIFICATIONS {
        wrong.iter().for_each(|params| session.notify(method, params.clone()));
    }
    let unknown =
        json!({ "textDocument": { "uri": "file:///none.yaml" }, "position": { "line": 0, "character": 0 } });
    assert_eq!(session.request("textDocument/hover", unknown).unwrap(), Value::Null);
    answers(&mut session);
    assert_eq!(session.end(), 0);
}

#[test]
fn the_end_of_the_connection_ends_the_server() {
    assert_eq!(Session::new().close(), 1);
}

/// A project that fails to name code.
struct Defect;

impl Project for Defect {
    fn root(&self) -> PathBuf {
        PathBuf::from("/")
    }

    fn implementation(&self) -> Option<Arc<Locate>> {
        Some(Arc::new(|_: &Subject| panic!("a defect")))
    }
}

#[test]
fn a_panic_is_an_error_response() {
    let mut session = Session::with(tempfile::tempdir().unwrap(), Arc::new(Defect), json!({}));
    // A text without a file belongs to each project.
    let document = json!({ "uri": "untitled:a", "languageId": "yaml", "version": 1, "text": LIBRARY });
    session.notify("textDocument/didOpen", json!({ "textDocument": document }));
    let params = json!({
        "textDocument": { "uri": "untitled:a" }, "position": position(LIBRARY, "operationId: listBooks", 15),
    });
    let error = loop {
        // Until the sources were read, there is no code.
        if let Err(error) = session.request("textDocument/hover", params.clone()) {
            break error;
        }
    };
    assert_eq!(error.code, lsp_server::ErrorCode::InternalError as i32);
    assert_eq!(error.message, "`textDocument/hover` failed; this is a defect of the server");
    assert_eq!(session.end(), 0);
}

fn edit() -> impl Strategy<Value = Value> {
    let place = (0..60_u32, 0..90_u32)
        .prop_map(|(line, character)| json!({ "line": line * 10, "character": character }));
    const TEXTS: &[&str] = &[
        "",
        "\n",
        "  ",
        "𝄞",
        "'",
        "- ",
        "a: ",
        "{",
        "]",
        "$ref: '#/components/schemas/",
        "\t",
        "&x ",
        "*x",
        "|\n",
        "\r\n",
    ];
    let range = prop::option::of((place.clone(), place));
    (range, prop::sample::select(TEXTS), any::<prop::sample::Index>()).prop_map(|(range, text, cut)| {
        match range {
            Some((start, end)) => json!({ "range": { "start": start, "end": end }, "text": text }),
            None => json!({ "text": LIBRARY[..LIBRARY.floor_char_boundary(cut.index(LIBRARY.len()))] }),
        }
    })
}

#[derive(Clone, Debug)]
enum Step {
    Edit(Vec<Value>),
    Ask(&'static str, u32, u32),
    Rubbish(&'static str, Value),
}

fn step() -> impl Strategy<Value = Step> {
    let value = prop_oneof![
        Just(Value::Null),
        Just(json!({})),
        any::<i32>().prop_map(Value::from),
        ".{0,9}".prop_map(Value::from)
    ];
    let methods: Vec<&str> = METHODS.iter().chain(NOTIFICATIONS).copied().collect();
    prop_oneof![
        3 => prop::collection::vec(edit(), 1..4).prop_map(Step::Edit),
        4 => (prop::sample::select(METHODS), 0..700_u32, 0..120_u32).prop_map(|(method, line, column)| Step::Ask(method, line, column)),
        1 => (prop::sample::select(methods), value).prop_map(|(method, value)| Step::Rubbish(method, value)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn random_edits_and_requests_are_answered(steps in prop::collection::vec(step(), 1..40)) {
        let mut session = Session::new();
        session.open("library.yaml", LIBRARY);
        let uri = session.uri("library.yaml");
        let mut asked = Vec::new();
        for step in steps {
            match step {
                Step::Edit(changes) => session.change_all("library.yaml", json!(changes)),
                Step::Ask(method, line, character) => {
                    let place = json!({ "line": line, "character": character });
                    asked.push(session.ask(method, json!({
                        "textDocument": { "uri": uri }, "position": place, "newName": "Other",
                        "range": { "start": place, "end": place },
                        "context": { "includeDeclaration": true, "diagnostics": [] },
                    })));
                }
                Step::Rubbish(method, params) => asked.push(session.ask(method, params)),
            }
        }
        for id in asked {
            // Each request has a response, and none of them is a defect of the server.
            if let Err(error) = session.answer(&id) {
                prop_assert_ne!(error.code, lsp_server::ErrorCode::InternalError as i32, "{}", error.message);
            }
        }
        session.diagnostics("library.yaml");
        prop_assert_eq!(session.end(), 0);
    }
}
