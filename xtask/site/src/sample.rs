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
    let before = format!("# {KEEP}\nID=$(uuidgen 2>/dev/null || cat /proc/sys/kernel/random/uuid)\n");
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
    when(request.is_idempotent(), &before) + &words.join(" \\\n  ")
}

fn python(request: &Request<'_>) -> String {
    let (has_key, is_new) = (request.has_key(), request.is_idempotent());
    let data = request.body.map(|body| match body.as_str() {
        Some(text) => quoted(text),
        None => format!("json.dumps({})", in_python(&sample(body).replace('\n', "\n    "))),
    });
    let imports = when(data.as_ref().is_some_and(|data| data.starts_with("json")), "import json\n")
        + &when(has_key, "import os\nimport sys\n")
        + &when(is_new, "import uuid\n");
    let key = format!("key = os.environ.get(\"KEY\") or sys.exit({})\n", quoted(HINT));
    let id = format!("# {KEEP}\nidempotency_key = f'\"{{uuid.uuid4()}}\"'\n");
    let headers = lines(
        request,
        |name, value| format!("        {name}: {value},\n"),
        "f\"Bearer {key}\"",
        "idempotency_key",
    );
    format!(
        "{imports}from urllib.error import HTTPError\nfrom urllib.request import Request, urlopen\n\n{}{}request = \
         Request(\n    {},\n    method=\"{}\",\n{}{})\ntry:\n    response = urlopen(request, timeout=30)\n\
         except HTTPError as error:\n    response = error\nprint(response.status, response.read().decode())",
        when(has_key, &key),
        when(is_new, &id),
        quoted(&request.url),
        request.method,
        when(!headers.is_empty(), &format!("    headers={{\n{headers}    }},\n")),
        data.map_or_else(String::new, |data| format!("    data={data}.encode(),\n")),
    )
}

fn typescript(request: &Request<'_>) -> String {
    let key = format!(
        "const key = process.env.KEY;\nif (!key) {{\n  console.error({});\n  process.exit(1);\n}}\n",
        quoted(HINT)
    );
    let id = format!("// {KEEP}\nconst idempotencyKey = `\"${{crypto.randomUUID()}}\"`;\n");
    let headers =
        lines(request, |name, value| format!("    {name}: {value},\n"), "`Bearer ${key}`", "idempotencyKey");
    let body = request.body.map_or_else(String::new, |body| {
        let is_text = body.as_str().is_some() || has_large_number(body);
        let json = || format!("JSON.stringify({})", sample(body).replace('\n', "\n  "));
        format!("  body: {},\n", if is_text { quoted(&word(body)) } else { json() })
    });
    format!(
        "{}{}const response = await fetch({}, {{\n  method: \"{}\",\n{}{body}}});\nconsole.log(response.status, await \
         response.text());",
        when(request.has_key(), &key),
        when(request.is_idempotent(), &id),
        quoted(&request.url),
        request.method,
        when(!headers.is_empty(), &format!("  headers: {{\n{headers}  }},\n")),
    )
}

fn rust(request: &Request<'_>) -> String {
    let key = format!("    let key = std::env::var(\"KEY\").map_err(|_| {HINT:?})?;\n");
    let id = format!(
        "    // {KEEP}\n    let idempotency_key = format!(\"\\\"{{}}\\\"\", uuid::Uuid::new_v4());\n"
    );
    let header = |name: &str, value: &str| format!("        .header({name}, {value})\n");
    let headers = lines(request, header, "format!(\"Bearer {key}\")", "idempotency_key");
    let body = request.body.map_or_else(String::new, |body| {
        let text = word(body);
        let body = if text.contains("\"#") { format!("{text:?}") } else { format!("r#\"{text}\"#") };
        format!("        .body({body})\n")
    });
    format!(
        "// cargo add reqwest --features blocking\n{}fn main() -> Result<(), Box<dyn std::error::Error>> {{\n{}{}    let \
         response = reqwest::blocking::Client::new()\n        .request(reqwest::Method::{}, {:?})\n{headers}{body}        \
         .send()?;\n    println!(\"{{}} {{}}\", response.status(), response.text()?);\n    Ok(())\n}}",
        when(request.is_idempotent(), "// cargo add uuid --features v4\n"),
        when(request.has_key(), &key),
        when(request.is_idempotent(), &id),
        request.method,
        request.url,
    )
}

/// Returns a line for each header: `line` of its name as a string and of an expression of its value. `key` is that of the
/// credential, and `new` that of the idempotency key.
fn lines(request: &Request<'_>, line: fn(&str, &str) -> String, key: &str, new: &str) -> String {
    let lines = request.headers.iter().map(|(name, value)| {
        let value = match value {
            Header::Key => key.to_owned(),
            Header::New => new.to_owned(),
            Header::Text(text) => quoted(text),
        };
        line(&quoted(name), &value)
    });
    lines.collect()
}

fn when(condition: bool, text: &str) -> String {
    if condition { text.to_owned() } else { String::new() }
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
    let line = |line: &str| {
        let (value, comma) = line.strip_suffix(',').map_or((line, ""), |value| (value, ","));
        let constants = [("true", "True"), ("false", "False"), ("null", "None")];
        let mut found = constants.iter().filter_map(|(json, python)| {
            value.strip_suffix(json).map(|before| format!("{before}{python}{comma}"))
        });
        found.next().unwrap_or_else(|| line.to_owned())
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
