//! The Rust line that each finding refers to.

use std::path::Path;
use std::sync::LazyLock;

use checks::drift::compare;
use checks::finding::{Finding, Severity};
use document::Document;
use fixtures::{CODE, Edited, edit, mutants};
use project::source::Sources;

/// The frozen sources.
static SOURCES: LazyLock<Sources> =
    LazyLock::new(|| Sources::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/library")));

/// The document of the frozen code.
static DOCUMENT_OF_CODE: LazyLock<Document> = LazyLock::new(|| parsed(CODE));

fn parsed(text: &str) -> Document {
    Document::parse("edited.yaml", text).unwrap_or_else(|error| panic!("{}", error.problem))
}

/// Returns the differences between a text and the frozen code.
fn findings(text: &str) -> Vec<Finding> {
    compare(&parsed(text), &DOCUMENT_OF_CODE)
}

/// The line of an operation.
const GET: &str = "pub(super) async fn get_book(";

/// Returns the file and the line that a finding refers to.
fn location_of(finding: &Finding) -> (String, String) {
    let description = format!("{}: {}", finding.rule, finding.message);
    let location =
        SOURCES.locate(finding).unwrap_or_else(|| panic!("no location in the code: {description}"));
    let text =
        SOURCES.shown().files.get(&location.file).unwrap_or_else(|| panic!("no such file: {description}"));
    let line =
        text.lines().nth(location.span.line - 1).unwrap_or_else(|| panic!("no such line: {description}"));
    let begins = line.chars().nth(location.span.column - 1);
    assert!(begins.is_some_and(|first| !first.is_whitespace()), "{description}: {line}");
    (location.file, line.trim().to_owned())
}

/// Checks that an edit causes a finding of this rule that refers to this line of this file.
fn is_located_at(edited: &Edited, rule: &str, file: &str, line: &str) {
    let findings = findings(&edited.text);
    let finding = findings.iter().find(|finding| finding.rule == rule);
    let finding = finding.unwrap_or_else(|| panic!("{rule} is not among {findings:?}"));
    assert_eq!(location_of(finding), (format!("src/{file}"), line.to_owned()), "{rule}");
}

#[test]
fn operations_are_located_at_their_functions() {
    let (list, create, get) =
        ("operations/list_books.rs", "operations/create_book.rs", "operations/get_book.rs");
    let id = edit(&[], "operationId: listBooks", "operationId: books");
    is_located_at(&id, "operation-differs", list, "pub(super) async fn list_books(");
    let tags = edit(&["createBook"], "tags: [books]", "tags: [shelves]");
    is_located_at(&tags, "operation-differs", create, "pub(super) async fn create_book(");
    let deprecated = edit(&["getBook"], "deprecated: true", "deprecated: false");
    is_located_at(&deprecated, "operation-differs", get, GET);
    let path = edit(&[], "  /books/{bookId}:", "  /books/{booksId}:");
    is_located_at(&path, "path-not-in-document", get, GET);
    let method = edit(&["createBook"], "  /books/{bookId}:\n    get:", "  /books/{bookId}:\n    put:");
    is_located_at(&method, "operation-not-in-document", get, GET);
    let security = edit(&["createBook"], "requestBody:", "security: []\n      requestBody:");
    is_located_at(&security, "operation-security", create, "pub(super) async fn create_book(");
    let added = edit(&["paths:"], "  /books:\n", "  /toys:\n    get: {responses: {}}\n  /books:\n");
    is_located_at(&added, "path-not-in-code", "operations/mod.rs", "pub fn all() -> Vec<Operation> {");
}

#[test]
fn parameters_are_located_at_their_fields() {
    let list = "operations/list_books.rs";
    let maximum = edit(&["name: limit"], "maximum: 100", "maximum: 50");
    is_located_at(&maximum, "schema-differs", list, "limit: Limit,");
    let default = edit(&["name: limit"], "default: 20", "default: 10");
    is_located_at(&default, "schema-differs", list, "limit: Limit,");
    let required = edit(&["name: status"], "in: query", "required: true\n          in: query");
    is_located_at(&required, "parameter-differs", list, "status: Option<BookStatus>,");
    let moved = edit(&["name: status"], "in: query", "in: header");
    is_located_at(&moved, "parameter-not-in-document", list, "status: Option<BookStatus>,");
    let renamed = edit(&[], "- name: limit", "- name: limits");
    is_located_at(&renamed, "parameter-not-in-document", list, "limit: Limit,");
    let format = edit(&["name: bookId"], "format: int64", "format: int32");
    is_located_at(&format, "schema-differs", "operations/get_book.rs", "book_id: i64,");
    let reference = edit(&["name: status"], "schemas/BookStatus", "schemas/Error");
    is_located_at(&reference, "schema-reference", list, "status: Option<BookStatus>,");
}

#[test]
fn schemas_are_located_by_their_names_in_the_document() {
    let book = "schemas/book.rs";
    let kind = edit(&["    NewBook:", "shelfId:"], "type: integer", "type: string");
    is_located_at(&kind, "schema-differs", book, "pub shelf_id: i64,");
    let required = edit(&["    NewBook:"], "required: [name, shelfId]", "required: [name]");
    is_located_at(&required, "schema-differs", book, "pub shelf_id: i64,");
    let optional =
        edit(&["    Book:"], "required: [id, name, shelfId]", "required: [id, name, shelfId, status]");
    is_located_at(&optional, "schema-differs", book, "pub status: Option<BookStatus>,");
    let variant = edit(&["    BookStatus:"], "sold]", "gone]");
    is_located_at(&variant, "schema-differs", book, "Sold,");
    let another = edit(&["    BookStatus:"], "sold]", "sold, lost]");
    is_located_at(&another, "schema-differs", book, "pub enum BookStatus {");
    let open = edit(&["    NewBook:"], "additionalProperties: false", "additionalProperties: true");
    is_located_at(&open, "schema-differs", book, "pub struct NewBook {");
    let items = edit(&["    Books:"], "maxItems: 100", "maxItems: 99");
    is_located_at(&items, "schema-differs", book, "pub struct Books(pub Vec<Book>);");
    let length = edit(&["    NewBook:"], "maxLength: 255", "maxLength: 256");
    is_located_at(&length, "schema-differs", book, "pub name: BookName,");
    let pattern = edit(&["    NewBook:"], "pattern: '^[^\\u0000]*$'", "pattern: '^.*$'");
    is_located_at(&pattern, "schema-differs", book, "pub name: BookName,");
    let status = edit(&["    Error:"], "maximum: 599", "maximum: 600");
    is_located_at(&status, "schema-differs", "schemas/error.rs", "pub status: u16,");
    let renamed = edit(&["    Book:"], "        name:", "        nam:");
    is_located_at(&renamed, "property-not-in-document", book, "pub name: BookName,");
}

#[test]
fn responses_are_located_at_their_codes_and_headers() {
    let (create, created) = ("operations/create_book.rs", "pub(super) async fn create_book(");
    is_located_at(&edit(&["createBook"], "'201':", "'200':"), "response-not-in-code", create, created);
    is_located_at(&edit(&["createBook"], "'201':", "'200':"), "response-not-in-document", create, created);
    let too_large = edit(&["createBook"], "'413':", "'414':");
    is_located_at(&too_large, "response-not-in-code", create, created);
    is_located_at(&too_large, "response-not-in-document", create, created);
    let location = edit(&["createBook", "responses:"], "Location:", "Content-Location:");
    is_located_at(&location, "header-not-in-code", create, created);
    let optional = edit(&["    Sunset:"], "required: true", "required: false");
    is_located_at(
        &optional,
        "header-differs",
        "edge.rs",
        "pub fn response_headers(deprecated: bool) -> Vec<HeaderField> {",
    );
    let challenge = edit(&["    Unauthorized:"], "        WWW-Authenticate:", "        Authenticate:");
    let line = "pub const fn headers(self) -> &'static [HeaderField] {";
    is_located_at(&challenge, "header-not-in-code", "responses.rs", line);
    let body = edit(&["    Internal:"], "schemas/Error'", "schemas/Book'");
    is_located_at(&body, "schema-reference", "schemas/error.rs", "pub struct Error {");
}

#[test]
fn document_wide_values_are_located_at_their_constants() {
    let operations = "operations/mod.rs";
    let server = edit(&["base_url:"], "com/v1", "com/v2");
    is_located_at(&server, "server-url", operations, "pub const BASE_PATH: &str = \"/v1\";");
    let tag = edit(&["tags:"], "- name: books", "- name: book");
    let api = "pub fn all() -> Vec<Operation> {";
    is_located_at(&tag, "tag-not-in-code", operations, api);
    let scheme = edit(&["securitySchemes:"], "scheme: bearer", "scheme: basic");
    let name_of_scheme = "pub const SCHEME_NAME: &str = \"apiKey\";";
    is_located_at(&scheme, "security-scheme-differs", "keys.rs", name_of_scheme);
    let name = edit(&["securitySchemes:"], "    apiKey:", "    key:");
    is_located_at(&name, "security-scheme-not-in-code", "keys.rs", name_of_scheme);
}

#[test]
fn unreadable_findings_have_no_location() {
    let unreadable = Document::parse("x.yaml", "[").unwrap_err();
    assert_eq!(SOURCES.locate(&Finding::from(&unreadable)), None);
    let broken = findings(&edit(&["    Books:"], "maxItems: 100", "maxItems: many").text);
    assert_eq!(broken[0].severity, Severity::Unreadable);
    assert_eq!(SOURCES.locate(&broken[0]), None);
}

#[test]
fn every_finding_of_every_mutant_has_a_location() {
    let (mut located, mut wrong) = (0, Vec::new());
    // Without a version, the document is not read as OpenAPI.
    for mutant in kit::sample(mutants()).filter(|mutant| mutant.pointer != "/openapi") {
        for finding in findings(&mutant.text) {
            // These findings do not concern the code.
            if finding.severity == Severity::Unreadable || finding.pointer.starts_with("/info/") {
                assert_eq!(SOURCES.locate(&finding), None);
                continue;
            }
            let (file, line) = location_of(&finding);
            let normal = normal(&line);
            located += 1;
            if !relevant(&finding).iter().any(|word| normal.contains(word)) {
                let (what, pointer) = (mutant.what, &mutant.pointer);
                wrong.push(format!(
                    "{what} {pointer}: {} {} => {file}: {line}",
                    finding.rule, finding.message
                ));
            }
        }
    }
    wrong.sort();
    wrong.dedup();
    assert!(wrong.is_empty(), "{} of {located}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(located > if kit::is_long() { 900 } else { 180 }, "only {located} findings");
}

/// Returns words of which at least one must occur on the line that a finding refers to.
fn relevant(finding: &Finding) -> Vec<String> {
    let trail = finding.subject.trail();
    let pointer = finding.pointer.split('/').map(|token| token.replace("~1", "/"));
    let mut words: Vec<String> = pointer.chain(finding.instead.clone()).collect();
    for (kind, name) in trail {
        words.push(name.clone());
        let of_kind: &[&str] = match *kind {
            "path" => &["async fn"],
            "response" => &["struct Error"],
            "header" => &["fn headers", "fn response_headers"],
            "tag" => &["pub fn all()"],
            "server" => &["BASE_PATH"],
            "security scheme" => &["SCHEME"],
            _ => &[],
        };
        words.extend(of_kind.iter().map(|&word| word.to_owned()));
    }
    // Findings about things that only the document has, or about the whole document.
    if trail.len() < 2 || finding.rule.ends_with("-not-in-code") || finding.rule == "document-differs" {
        words.extend(["pub fn all()", "async fn", "SCHEME_NAME", "BASE_PATH"].map(str::to_owned));
    }
    if finding.rule.starts_with("server") {
        words.push("BASE_PATH".to_owned());
    }
    if finding.rule == "operation-security" {
        words = vec!["async fn".to_owned()];
    }
    let bare = |word: &String| normal(word.split(" in ").next().unwrap_or(word));
    words.iter().map(bare).filter(|word| word.len() > 1).collect()
}

/// Removes underscores, hyphens and case.
fn normal(text: &str) -> String {
    text.chars().filter(|it| !matches!(it, '_' | '-')).flat_map(char::to_lowercase).collect()
}

#[test]
fn all_frozen_sources_are_read() {
    for file in ["operations/mod.rs", "schemas/book.rs", "responses.rs", "keys.rs", "edge.rs"] {
        assert!(SOURCES.shown().files.contains_key(&format!("src/{file}")), "{file}");
    }
}
