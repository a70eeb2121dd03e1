//! The time of answers while a document is edited.
//!
//! `LATENCY_KB=4096 cargo test -p language-server --test language-server latency -- --nocapture` prints a table for a document of about this size.
//! Without the variable the document is small, and the test only requires that all requests are answered.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use lsp_types::{Position, Range};
use serde_json::json;

use crate::session::{Session, position};

/// The bytes of one path with its schema.
const ITEM: usize = 2_430;

/// Returns a document with this number of paths and schemas.
fn document(items: usize) -> String {
    let mut text = "openapi: 3.0.3\ninfo: { title: Large, version: 1.0.0 }\npaths:\n".to_owned();
    for number in 0..items {
        let _ = writeln!(text, "  /things{number}/{{id}}:");
        for method in ["get", "put"] {
            let _ = write!(
                text,
                "    {method}:\n      operationId: {method}Thing{number}\n      summary: Reads or writes a thing\n      \
                 description: |\n        Reads or writes a thing. Its identifier never changes.\n        A second line, \
                 with some more words in it.\n      parameters:\n        - name: id\n          in: path\n          required: \
                 true\n          description: Identifier of the thing.\n          schema: {{ type: integer, format: int64 }}\n        \
                 - name: limit\n          in: query\n          schema:\n            type: integer\n            minimum: 1\n            \
                 maximum: 100\n      responses:\n        '200':\n          description: The thing.\n          content:\n            \
                 application/json:\n              schema: {{ $ref: '#/components/schemas/Thing{number}' }}\n        '404':\n          \
                 description: There is no such thing.\n          content:\n            application/json:\n              \
                 schema: {{ $ref: '#/components/schemas/Error' }}\n"
            );
        }
    }
    text.push_str("components:\n  schemas:\n");
    for number in 0..items {
        let _ = write!(
            text,
            "    Thing{number}:\n      type: object\n      required: [id, name]\n      properties:\n"
        );
        for property in ["id", "name", "categoryId", "status"] {
            let _ = write!(
                text,
                "        {property}:\n          type: string\n          description: One property of the thing.\n          \
                 minLength: 1\n          maxLength: 255\n"
            );
        }
    }
    // Everything refers to it.
    text.push_str("    Error: { type: object }\n");
    text
}

#[test]
fn answers_while_somebody_types() {
    const METHODS: [&str; 5] = ["hover", "definition", "completion", "references", "codeAction"];
    let bytes =
        std::env::var("LATENCY_KB").ok().and_then(|size| size.parse::<usize>().ok()).map(|size| size << 10);
    let (items, series) = bytes.map_or((20, 5), |bytes| (bytes / ITEM, 10));
    let text = document(items);
    let mut session = Session::new();
    let started = Instant::now();
    session.open("large.yaml", &text);
    assert!(!session.diagnostics("large.yaml").is_empty());
    let first = started.elapsed();
    let title = position(&text, "title: Large", "title: Large".len());
    let operation = position(&text, &format!("getThing{}", items / 2), 3);
    let reference = position(&text, &format!("schemas/Thing{}'", items / 2), 3);
    let common = position(&text, "schemas/Error'", 10);
    let mut times: Vec<(&str, Vec<Duration>)> = METHODS.map(|method| (method, Vec::new())).into();
    for _ in 0..series {
        for (method, times) in &mut times {
            session.change("large.yaml", Some(Range { start: title, end: title }), "x");
            let place: Position = match *method {
                "hover" => operation,
                "references" => common,
                _ => reference,
            };
            let more = json!({
                "context": { "includeDeclaration": true, "diagnostics": [], "triggerKind": 1 },
                "range": { "start": place, "end": place },
            });
            let asked = Instant::now();
            let found = session.at(method, "large.yaml", place, more).unwrap();
            times.push(asked.elapsed());
            assert!(!found.is_null(), "{method}");
        }
    }
    println!("{} bytes; first diagnostics after {first:.1?}", text.len());
    for (method, mut times) in times {
        times.sort();
        println!(
            "{method:16} median {:>10.1?}   worst {:>10.1?}",
            times[times.len() / 2],
            times[times.len() - 1]
        );
    }
    session.diagnostics("large.yaml");
    assert_eq!(session.end(), 0);
}
