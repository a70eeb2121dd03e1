//! The statuses of responses, the bodies of errors, and the statuses and codes of their examples.

use std::collections::HashMap;
use std::sync::LazyLock;

use checks::lint::examples_of;
use checks::rule::{Findings, rules};
use document::openapi::{Kind, Model, Object, Step};
use document::shortened;
use document::{Entry, Node, Value};
use regex::Regex;

rules! {
    BODY: Strict Error "error-body", "this project",
        "Each 4xx and 5xx response has the schema `Error` as `application/json`, and no other body.";
    LISTED: Strict Error "error-code-listed", "this project",
        "The `code` of each error example is in the table of `info.description`, with the same status.";
    EXPLICIT: Strict Error "explicit-status-codes", "this project",
        "Responses are listed by status code, without `default` and ranges such as `4XX`.";
    STATUS: Strict Error "error-example-status", "this project",
        "The `status` of each error example is the status of its response.";
}

pub(super) fn check(model: &Model<'_>, findings: &mut Findings) {
    let codes = codes(model);
    for responses in model.all(Kind::Responses) {
        let is_code = |response: &Object<'_>| response.name().bytes().all(|byte| byte.is_ascii_digit());
        for response in responses.parts().filter(|response| !is_code(response)) {
            let message = format!("`{}` is not a single status code.", response.name());
            findings.add(&EXPLICIT, response.spot(), message, "List each status code.");
        }
        for response in responses.parts().filter(|response| response.name().starts_with(['4', '5'])) {
            let Some(resolved) = response.resolved() else { continue };
            body(response, resolved, findings);
            // The examples under `4XX` may have any status from 400 to 499.
            if response.name().bytes().all(|byte| byte.is_ascii_digit()) {
                for media_type in resolved.children("content") {
                    examples(media_type, response.name(), &codes, findings);
                }
            }
        }
    }
}

fn body(response: Object<'_>, resolved: Object<'_>, findings: &mut Findings) {
    let content = resolved.get("content").map(Node::entries).unwrap_or_default();
    let spot = match content.iter().find(|entry| is_not_error_schema(entry)) {
        Some(entry) => resolved.spot_at(&[Step::Key("content"), Step::Key(&entry.key)], entry.key_span),
        None if content.is_empty() => response.spot(),
        None => return,
    };
    let message = format!("{} does not have the schema `Error` as its only body.", response.subject());
    let fix =
        "Under `content`, write `application/json` alone, with the schema `#/components/schemas/Error`.";
    findings.add(&BODY, spot, message, fix);
}

fn is_not_error_schema(media_type: &Entry) -> bool {
    let schema = media_type.value.get("schema").and_then(|schema| schema.get("$ref")?.as_str());
    media_type.key != "application/json" || schema != Some("#/components/schemas/Error")
}

fn examples(media_type: Object<'_>, status: &str, codes: &HashMap<&str, &str>, findings: &mut Findings) {
    for (owner, keyword, value) in examples_of(media_type) {
        let spot = |key: &str, node: &Node| owner.spot_at(&[Step::Key(keyword), Step::Key(key)], node.span);
        if let Some(node @ Node { value: Value::Number(number), .. }) = value.get("status")
            && number.to_string() != status
        {
            let message = format!("This error is an example of {status}, but its `status` is another one.");
            findings.add(&STATUS, spot("status", node), message, format!("Write {status}."));
        }
        let Some((node, code)) = value.get("code").and_then(|node| Some((node, node.as_str()?))) else {
            continue;
        };
        if codes.get(code) != Some(&status) {
            let code = shortened(code);
            let message = format!("The table of `info.description` has no code `{code}` for {status}.");
            let fix = format!("Write the row ``| `{code}` | {status} | ... |``, or use another code.");
            findings.add(&LISTED, spot("code", node), message, fix);
        }
    }
}

/// The rows ``| `code` | status | ...`` of a Markdown table.
static ROWS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?m)^[ \t]*\|[ \t]*`([^|\n]*)`[ \t]*\|[ \t]*([0-9]{3})[ \t]*(?:\|.*)?$").ok()
});

/// Returns the error codes of the table in `info.description`, with their statuses.
pub(super) fn codes<'a>(model: &'a Model<'a>) -> HashMap<&'a str, &'a str> {
    let texts = model.all(Kind::Info).filter_map(|info| info.text("description"));
    let rows = texts.flat_map(|text| ROWS.iter().flat_map(move |rows| rows.captures_iter(text)));
    rows.map(|row| row.extract().1).map(|[code, status]| (code, status)).collect()
}
