//! A request as a program: in curl, Python, TypeScript and Rust. Each runs as it is, with the key in the variable `KEY`.

use document::Node;

use crate::request::Request;
use crate::schema::json;

/// A language: its name, its identifier, and its program for a request.
pub(crate) type Language = (&'static str, &'static str, fn(&Request<'_>) -> String);

/// The languages, the default first.
pub(crate) const LANGUAGES: [Language; 4] = [
    ("curl", "curl", curl),
    ("Python", "python", python),
    ("TypeScript", "typescript", typescript),
    ("Rust", "rust", rust),
];

/// What to do with the idempotency key.
const KEEP: &str = "Keep this value: after a 503 or a lost connection, repeat the request with it.";

fn curl(request: &Request<'_>) -> String {
    let mut words = vec!["curl -i".to_owned()];
    if request.method != "GET" {
        words.push(format!("-X {}", request.method));
    }
    words.push(shell(&request.url));
    if let Some(credential) = &request.credential {
        words.push(format!(
            "-H \"{}: {}${{KEY:?{}}}\"",
            credential.header, credential.prefix, credential.hint
        ));
    }
    let mut before = String::new();
    if request.is_idempotent {
        before = format!("# {KEEP}\nID=$(uuidgen 2>/dev/null || cat /proc/sys/kernel/random/uuid)\n");
        words.push("-H \"Idempotency-Key: \\\"$ID\\\"\"".to_owned());
    }
    words.extend(
        request.headers.iter().map(|(name, value)| format!("-H {}", shell(&format!("{name}: {value}")))),
    );
    words.extend(request.body.map(|body| format!("-d {}", shell(&content(body)))));
    before + &words.join(" \\\n  ")
}

fn python(request: &Request<'_>) -> String {
    let mut imports =
        vec!["from urllib.error import HTTPError", "from urllib.request import Request, urlopen"];
    let mut before = String::new();
    let mut headers = String::new();
    let mut header = |name: &str, value: &str| headers += &format!("        {}: {value},\n", quoted(name));
    if let Some(credential) = &request.credential {
        imports.extend(["import os", "import sys"]);
        before += &format!("key = os.environ.get(\"KEY\") or sys.exit({})\n", quoted(credential.hint));
        header(credential.header, &format!("f\"{}{{key}}\"", credential.prefix));
    }
    if request.is_idempotent {
        imports.push("import uuid");
        before += &format!("# {KEEP}\nidempotency_key = f'\"{{uuid.uuid4()}}\"'\n");
        header("Idempotency-Key", "idempotency_key");
    }
    for (name, value) in &request.headers {
        header(name, &quoted(value));
    }
    let mut arguments = format!("    {},\n    method=\"{}\",\n", quoted(&request.url), request.method);
    if !headers.is_empty() {
        arguments += &format!("    headers={{\n{headers}    }},\n");
    }
    if let Some(body) = request.body {
        let data = match body.as_str() {
            Some(text) => quoted(text),
            None => {
                imports.push("import json");
                format!("json.dumps({})", in_python(&pretty(body).replace('\n', "\n    ")))
            }
        };
        arguments += &format!("    data={data}.encode(),\n");
    }
    imports.sort_by_key(|line| (line.starts_with("from"), *line));
    format!(
        "{}\n\n{before}request = Request(\n{arguments})\ntry:\n    response = urlopen(request, timeout=30)\n\
         except HTTPError as error:\n    response = error\nprint(response.status, response.read().decode())",
        imports.join("\n")
    )
}

fn typescript(request: &Request<'_>) -> String {
    let mut before = String::new();
    let mut headers = String::new();
    let mut header = |name: &str, value: &str| headers += &format!("    {}: {value},\n", quoted(name));
    if let Some(credential) = &request.credential {
        before += &format!(
            "const key = process.env.KEY;\nif (!key) {{\n  console.error({});\n  process.exit(1);\n}}\n",
            quoted(credential.hint)
        );
        header(credential.header, &format!("`{}${{key}}`", credential.prefix));
    }
    if request.is_idempotent {
        before += &format!("// {KEEP}\nconst idempotencyKey = `\"${{crypto.randomUUID()}}\"`;\n");
        header("Idempotency-Key", "idempotencyKey");
    }
    for (name, value) in &request.headers {
        header(name, &quoted(value));
    }
    let mut options = format!("  method: \"{}\",\n", request.method);
    if !headers.is_empty() {
        options += &format!("  headers: {{\n{headers}  }},\n");
    }
    if let Some(body) = request.body {
        let is_text = body.as_str().is_some() || has_large_number(body);
        let data = if is_text {
            quoted(&content(body))
        } else {
            format!("JSON.stringify({})", pretty(body).replace('\n', "\n  "))
        };
        options += &format!("  body: {data},\n");
    }
    format!(
        "{before}const response = await fetch({}, {{\n{options}}});\nconsole.log(response.status, await response.text());",
        quoted(&request.url)
    )
}

fn rust(request: &Request<'_>) -> String {
    let mut crates = "// cargo add reqwest --features blocking".to_owned();
    let mut before = String::new();
    let mut calls = String::new();
    let mut header = |name: &str, value: &str| calls += &format!("        .header({name:?}, {value})\n");
    if let Some(credential) = &request.credential {
        before += &format!("    let key = std::env::var(\"KEY\").map_err(|_| {:?})?;\n", credential.hint);
        header(credential.header, &format!("format!(\"{}{{key}}\")", credential.prefix));
    }
    if request.is_idempotent {
        crates += "\n// cargo add uuid --features v4";
        before += &format!(
            "    // {KEEP}\n    let idempotency_key = format!(\"\\\"{{}}\\\"\", uuid::Uuid::new_v4());\n"
        );
        header("Idempotency-Key", "idempotency_key");
    }
    for (name, value) in &request.headers {
        header(name, &format!("{value:?}"));
    }
    if let Some(body) = request.body {
        let text = content(body);
        let body = if text.contains("\"#") { format!("{text:?}") } else { format!("r#\"{text}\"#") };
        calls += &format!("        .body({body})\n");
    }
    format!(
        "{crates}\nfn main() -> Result<(), Box<dyn std::error::Error>> {{\n{before}    let response = \
         reqwest::blocking::Client::new()\n        .request(reqwest::Method::{}, {:?})\n{calls}        .send()?;\n    \
         println!(\"{{}} {{}}\", response.status(), response.text()?);\n    Ok(())\n}}",
        request.method, request.url
    )
}

/// Returns a body as it is sent.
fn content(body: &Node) -> String {
    body.as_str().map_or_else(|| json(body), str::to_owned)
}

fn pretty(body: &Node) -> String {
    serde_json::to_string_pretty(body).unwrap_or_default()
}

/// Returns a word of a POSIX shell.
fn shell(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Returns a string of JSON, which is one of Python and TypeScript too.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

/// Returns JSON as an expression of Python. Only words outside of strings differ.
fn in_python(json: &str) -> String {
    let mut expression = String::new();
    let mut rest = json;
    while let Some(quote) = rest.find('"') {
        let end = string_end(&rest[quote..]) + quote;
        expression += &words(&rest[..quote]);
        expression += &rest[quote..end];
        rest = &rest[end..];
    }
    expression + &words(rest)
}

fn words(json: &str) -> String {
    json.replace("true", "True").replace("false", "False").replace("null", "None")
}

/// Returns the length of the string of JSON at the beginning of a text.
fn string_end(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.bytes().skip(1).position(|byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    });
    end.map_or(text.len(), |end| end + 2)
}

/// Whether a body has a number that JavaScript may round.
fn has_large_number(body: &Node) -> bool {
    json(body).split(|character: char| !character.is_ascii_digit()).any(|digits| digits.len() > 15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_becomes_python() {
        let json = r#"{"a": true, "null": ["false \" true", null, false]}"#;
        assert_eq!(in_python(json), r#"{"a": True, "null": ["false \" true", None, False]}"#);
    }
}
