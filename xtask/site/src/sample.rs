//! A request as a program: in curl, Python, TypeScript and Rust. Each runs as it is, with the key in the variable `KEY`.

use document::Node;

use crate::request::{Header, Request};
use crate::spec::{sample, word};

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
/// What a program without `KEY` says.
const HINT: &str = "set KEY to your API key";

fn curl(request: &Request<'_>) -> String {
    let id = format!("# {KEEP}\nID=$(uuidgen 2>/dev/null || cat /proc/sys/kernel/random/uuid)\n");
    let header = |(name, value): &(&str, Header)| match value {
        Header::Key => format!("-H \"{name}: Bearer ${{KEY:?{HINT}}}\""),
        Header::New => format!("-H \"{name}: \\\"$ID\\\"\""),
        Header::Text(value) => format!("-H {}", shell(&format!("{name}: {value}"))),
    };
    let mut words = vec!["curl -i".to_owned()];
    words.extend((request.method != "GET").then(|| format!("-X {}", request.method)));
    words.push(shell(&request.url));
    words.extend(request.headers.iter().map(header));
    words.extend(request.body.map(|body| format!("-d {}", shell(&word(body)))));
    request.with_new(&id).to_owned() + &words.join(" \\\n  ")
}

fn python(request: &Request<'_>) -> String {
    let data = request.body.map(|body| match body.as_str() {
        Some(text) => ("", quoted(text)),
        None => {
            ("import json\n", format!("json.dumps({})", in_python(&sample(body).replace('\n', "\n    "))))
        }
    });
    let (json, data) = data.unwrap_or_default();
    let key = format!("key = os.environ.get(\"KEY\") or sys.exit({})\n", quoted(HINT));
    let id = format!("# {KEEP}\nidempotency_key = f'\"{{uuid.uuid4()}}\"'\n");
    let headers = headers(request, "        ", ": ", ",\n", "f\"Bearer {key}\"", "idempotency_key");
    format!(
        "{json}{}{}from urllib.error import HTTPError\nfrom urllib.request import Request, urlopen\n\n{}{}request = \
         Request(\n    {},\n    method=\"{}\",\n{}{})\ntry:\n    response = urlopen(request, timeout=30)\n\
         except HTTPError as error:\n    response = error\nprint(response.status, response.read().decode())",
        request.with_key("import os\nimport sys\n"),
        request.with_new("import uuid\n"),
        request.with_key(&key),
        request.with_new(&id),
        quoted(&request.url),
        request.method,
        around("    headers={\n", &headers, "    },\n"),
        around("    data=", &data, ".encode(),\n"),
    )
}

fn typescript(request: &Request<'_>) -> String {
    let key = format!(
        "const key = process.env.KEY;\nif (!key) {{\n  console.error({});\n  process.exit(1);\n}}\n",
        quoted(HINT)
    );
    let id = format!("// {KEEP}\nconst idempotencyKey = `\"${{crypto.randomUUID()}}\"`;\n");
    let headers = headers(request, "    ", ": ", ",\n", "`Bearer ${key}`", "idempotencyKey");
    let body = request.body.map_or_else(String::new, |body| match body.as_str() {
        None if !has_large_number(body) => format!("JSON.stringify({})", sample(body).replace('\n', "\n  ")),
        _ => quoted(&word(body)),
    });
    format!(
        "{}{}const response = await fetch({}, {{\n  method: \"{}\",\n{}{}}});\nconsole.log(response.status, await \
         response.text());",
        request.with_key(&key),
        request.with_new(&id),
        quoted(&request.url),
        request.method,
        around("  headers: {\n", &headers, "  },\n"),
        around("  body: ", &body, ",\n"),
    )
}

fn rust(request: &Request<'_>) -> String {
    let key = format!("    let key = std::env::var(\"KEY\").map_err(|_| {HINT:?})?;\n");
    let id = format!(
        "    // {KEEP}\n    let idempotency_key = format!(\"\\\"{{}}\\\"\", uuid::Uuid::new_v4());\n"
    );
    let headers =
        headers(request, "        .header(", ", ", ")\n", "format!(\"Bearer {key}\")", "idempotency_key");
    let body = request.body.map(word).map_or_else(String::new, |text| match text.contains("\"#") {
        true => format!("{text:?}"),
        false => format!("r#\"{text}\"#"),
    });
    format!(
        "// cargo add reqwest --features blocking\n{}fn main() -> Result<(), Box<dyn std::error::Error>> {{\n{}{}    let \
         response = reqwest::blocking::Client::new()\n        .request(reqwest::Method::{}, {:?})\n{headers}{}        \
         .send()?;\n    println!(\"{{}} {{}}\", response.status(), response.text()?);\n    Ok(())\n}}",
        request.with_new("// cargo add uuid --features v4\n"),
        request.with_key(&key),
        request.with_new(&id),
        request.method,
        request.url,
        around("        .body(", &body, ")\n"),
    )
}

/// Returns a line for each header, with its name as a string and an expression of its value. `key` is that of the
/// credential, and `new` that of the idempotency key.
fn headers(request: &Request<'_>, before: &str, between: &str, after: &str, key: &str, new: &str) -> String {
    let lines = request.headers.iter().map(|(name, value)| {
        let value = match value {
            Header::Key => key.to_owned(),
            Header::New => new.to_owned(),
            Header::Text(text) => quoted(text),
        };
        format!("{before}{}{between}{value}{after}", quoted(name))
    });
    lines.collect()
}

/// Returns a text with what is before and after it, or nothing if it is empty.
fn around(before: &str, text: &str, after: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{before}{text}{after}") }
}

/// Returns a word of a POSIX shell.
fn shell(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Returns a string of JSON, which is one of Python, TypeScript and Rust too.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

/// Returns JSON in lines as an expression of Python. A constant is the last word of its line.
fn in_python(json: &str) -> String {
    let constants = [("true", "True"), ("false", "False"), ("null", "None")];
    let line = |line: &str| {
        let end = line.trim_end_matches(',').len();
        let found =
            constants.iter().find_map(|(json, python)| Some((line[..end].strip_suffix(json)?, python)));
        found.map_or_else(|| line.to_owned(), |(before, python)| format!("{before}{python}{}", &line[end..]))
    };
    json.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// Whether a body has a number that JavaScript may round.
fn has_large_number(body: &Node) -> bool {
    word(body).split(|character: char| !character.is_ascii_digit()).any(|digits| digits.len() > 15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_becomes_python() {
        let json = "{\n  \"a\": true,\n  \"null\": [\n    \"false \\\" true\",\n    null,\n    false\n  ]\n}";
        let python =
            "{\n  \"a\": True,\n  \"null\": [\n    \"false \\\" true\",\n    None,\n    False\n  ]\n}";
        assert_eq!(in_python(json), python);
        assert_eq!(in_python("true"), "True");
    }
}
