//! `cargo xtask lsp` on a small project: from the document to the Rust code, and the comparison at a save.

use std::fs;
use std::io::{BufReader, BufWriter};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use fixtures::{CODE_FILE, LIBRARY};
use lsp_server::{Message, Notification, Request, RequestId};
use serde_json::{Value, json};
use tempfile::TempDir;

const LIST: &str = include_str!("../library/src/operations/list_books.rs");

/// The program, with a copy of the frozen project.
struct Session {
    child: Child,
    input: BufWriter<ChildStdin>,
    output: BufReader<ChildStdout>,
    root: PathBuf,
    next: i32,
    _directory: TempDir,
}

/// Copies a directory with its subdirectories.
fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in from.read_dir().unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

impl Session {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/library/src"), &root.join("src"));
        fs::write(root.join("library.yaml"), LIBRARY).unwrap();
        fs::create_dir_all(root.join("openapi/released")).unwrap();
        let oldest =
            LIBRARY.replace("version: 1.0.0", "version: 0.9.0").replace("- name: limit", "- name: most");
        fs::write(root.join("openapi/released/0.9.0.yaml"), oldest).unwrap();
        fs::write(root.join("openapi/released/1.0.0.yaml"), LIBRARY).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_project"))
            .args(["lsp", "--spec", "library.yaml", "--code", CODE_FILE, "--root"])
            .arg(&root)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = BufWriter::new(child.stdin.take().unwrap());
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut session = Self { child, input, output, root, next: 0, _directory: directory };
        session.request("initialize", json!({ "capabilities": {} }));
        session.notify("initialized", json!({}));
        session
    }

    fn uri(&self, file: &str) -> String {
        format!("file://{}", self.root.join(file).display())
    }

    fn notify(&mut self, method: &str, params: Value) {
        let notification = Notification { method: method.to_owned(), params };
        Message::from(notification).write(&mut self.input).unwrap();
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let id: RequestId = self.next.into();
        let request = Request { id: id.clone(), method: method.to_owned(), params };
        Message::from(request).write(&mut self.input).unwrap();
        loop {
            if let Message::Response(response) = self.receive()
                && response.id == id
            {
                return response.response_result.unwrap();
            }
        }
    }

    fn receive(&mut self) -> Message {
        Message::read(&mut self.output).unwrap().expect("the server sends a message")
    }

    /// Waits for diagnostics of a file with this rule, and returns the first of them.
    fn diagnostic(&mut self, file: &str, rule: &str) -> Value {
        let uri = self.uri(file);
        loop {
            if let Message::Notification(notification) = self.receive()
                && notification.params["uri"] == json!(uri)
            {
                let shown = notification.params["diagnostics"].as_array().cloned().unwrap_or_default();
                if let Some(found) = shown.into_iter().find(|shown| shown["code"] == json!(rule)) {
                    return found;
                }
            }
        }
    }

    fn open(&mut self, file: &str, text: &str) {
        let document = json!({ "uri": self.uri(file), "languageId": "", "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
    }

    fn at(&mut self, method: &str, file: &str, text: &str, part: &str) -> Value {
        let (line, column) = place(text, part);
        let position = json!({ "line": line - 1, "character": column });
        let params = json!({ "textDocument": { "uri": self.uri(file) }, "position": position });
        self.request(&format!("textDocument/{method}"), params)
    }

    /// Returns the files and lines to which a text leads.
    fn definition(&mut self, file: &str, text: &str, part: &str) -> Vec<(String, usize)> {
        let found = self.at("definition", file, text, part);
        let root = self.uri("");
        let place = |location: &Value| {
            let file = location["uri"].as_str().unwrap().strip_prefix(&root).unwrap().to_owned();
            (file, location["range"]["start"]["line"].as_u64().unwrap() as usize + 1)
        };
        found.as_array().map(|found| found.iter().map(place).collect()).unwrap_or_default()
    }

    /// Waits until the sources were read: then hover names the code of an operation.
    fn await_sources(&mut self) {
        while !self.hover("operationId: listBooks").contains("implemented in") {}
    }

    fn hover(&mut self, part: &str) -> String {
        let hover = self.at("hover", "library.yaml", LIBRARY, part);
        hover["contents"]["value"].as_str().unwrap_or_default().to_owned()
    }

    fn end(mut self) -> Option<i32> {
        self.request("shutdown", Value::Null);
        self.notify("exit", Value::Null);
        self.child.wait().unwrap().code()
    }
}

/// Returns the line, from 1, and the column of the last character of the first occurrence of a text.
fn place(text: &str, part: &str) -> (usize, usize) {
    let end = text.find(part).unwrap_or_else(|| panic!("`{part}` does not occur")) + part.len() - 1;
    let before = &text[..end];
    (before.matches('\n').count() + 1, before.rsplit('\n').next().unwrap().chars().count())
}

#[test]
fn the_document_leads_to_the_code() {
    let mut session = Session::new();
    session.open("library.yaml", LIBRARY);
    session.await_sources();
    let list = "src/operations/list_books.rs";
    let (book, book_text) = ("src/schemas/book.rs", include_str!("../library/src/schemas/book.rs"));
    for (part, file, text, code) in [
        ("operationId: listBooks", list, LIST, "pub(super) async fn list_books"),
        ("- name: limit", list, LIST, "    limit: Limit"),
        ("    NewBook:", book, book_text, "pub struct NewBook"),
        ("    BookStatus:", book, book_text, "pub enum BookStatus"),
    ] {
        let expected = [(file.to_owned(), place(text, code).0)];
        assert_eq!(session.definition("library.yaml", LIBRARY, part), expected, "{part}");
    }
    assert_eq!(session.end(), Some(0));
}

#[test]
fn hover_names_the_code() {
    let mut session = Session::new();
    session.open("library.yaml", LIBRARY);
    session.await_sources();
    let operation = session.hover("operationId: getBook");
    let (line, _) = place(include_str!("../library/src/operations/get_book.rs"), "fn get_book");
    let expected = format!("implemented in `src/operations/get_book.rs:{line}`");
    assert!(operation.ends_with(&expected), "{operation}");
    assert_eq!(session.end(), Some(0));
}

#[test]
fn a_save_reports_drift_in_both_files() {
    let mut session = Session::new();
    let edited = LIBRARY.replace("maximum: 100\n", "maximum: 50\n");
    fs::write(session.root.join("library.yaml"), &edited).unwrap();
    session.open("library.yaml", &edited);
    let broken = session.diagnostic("library.yaml", "request-max-decreased");
    let base = &broken["relatedInformation"][0]["location"];
    assert_eq!(base["uri"], json!(session.uri("openapi/released/1.0.0.yaml")));
    let uri = session.uri("library.yaml");
    session.notify("textDocument/didSave", json!({ "textDocument": { "uri": uri } }));
    let drift = session.diagnostic("library.yaml", "schema-differs");
    let list = "src/operations/list_books.rs";
    let (maximum, _) = place(&edited, "maximum: 50");
    assert_eq!(drift["range"]["start"]["line"], json!(maximum - 1));
    let code = &drift["relatedInformation"][0]["location"];
    let (line, _) = place(LIST, "    limit: Limit");
    assert_eq!(
        (&code["uri"], &code["range"]["start"]["line"]),
        (&json!(session.uri(list)), &json!(line - 1))
    );
    let in_code = session.diagnostic(list, "schema-differs");
    assert_eq!(in_code["range"], code["range"]);
    assert_eq!(in_code["relatedInformation"][0]["location"], json!({ "uri": uri, "range": drift["range"] }));
    assert_eq!(session.end(), Some(0));
}
