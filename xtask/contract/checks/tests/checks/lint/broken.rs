//! Broken documents: linting terminates in time, and findings have places.

use std::fmt::Write as _;
use std::path::Path;

use checks::config::Config;
use checks::finding::{File, Finding};
use checks::lint::{lint, rules};
use checks::report::{Format, Report, Sources, render};
use checks::rule::{Profile, Rule};
use document::Document;
use document::Node;
use document::repair::Repair;
use fixtures::{LIBRARY, TODAY};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::rules::findings;
use crate::judge::summary;

pub(super) fn real() -> Value {
    document::read(LIBRARY).as_ref().map(Node::to_json).unwrap()
}

/// Lints a text if it can be read, and formats the findings.
fn linted(text: &str) {
    if let Ok(document) = Document::parse("broken.yaml", text) {
        let findings = lint(&document, TODAY);
        for finding in &findings {
            let line = text.lines().nth(finding.span.line - 1);
            assert!(line.is_some() || finding.span.line == 1, "{finding:?}");
            assert!(finding.span.start <= finding.span.end && finding.span.end <= text.len(), "{finding:?}");
        }
        let shown = findings.iter().take(20).cloned().collect();
        let file = File { path: "broken.yaml".to_owned(), text: text.to_owned(), findings: shown };
        let sources = Sources::new(Path::new("/repository"));
        let report = Report { command: "lint", files: &[file], sources: &sources, summary: "" };
        for format in [Format::Text, Format::Json, Format::Github, Format::Sarif, Format::Markdown] {
            let rendered = render(format, &report);
            let mut shown = report.files[0].findings.iter();
            assert!(shown.all(|finding| rendered.contains(&finding.rule)), "{rendered}");
        }
    }
}

fn rule(name: &str) -> &'static Rule {
    rules().find(|rule| rule.name == name).unwrap_or_else(|| panic!("no rule {name}"))
}

/// Returns a document with one path and these components.
fn with_schemas(schemas: &str, example: &str) -> String {
    format!(
        "openapi: 3.0.3\ninfo: {{title: T, version: 1.0.0}}\npaths:\n  /a:\n    post:\n      requestBody:\n        content:\n          \
         application/json:\n            schema: {{$ref: '#/components/schemas/S0'}}\n            example: {example}\n      \
         responses: {{'200': {{description: d}}}}\ncomponents:\n  schemas:\n{schemas}"
    )
}

#[test]
fn almost_empty_documents_are_reported() {
    for text in [
        "{}",
        "openapi: 3.0.3",
        "paths: {}",
        "a: b",
        "paths: {/books: {get: {}}}",
        "x: *a\n",
        "{openapi: 3.0.3, paths: 3}",
    ] {
        if Document::parse("x", text).is_ok() {
            let findings = findings(text);
            let has = |rule: &str| findings.iter().any(|finding| finding.rule == rule);
            assert!(has("struct-missing"), "{text}: {}", summary(&findings));
        }
    }
}

#[test]
fn a_misspelt_required_keyword_is_one_finding() {
    let findings = findings("{openapi: 3.0.3, info: {titel: T, version: 1.0.0}, paths: {}}");
    let about_title = findings.iter().filter(|finding| finding.pointer.starts_with("/info"));
    let about_title: Vec<_> = about_title.filter(|finding| finding.rule.starts_with("struct-")).collect();
    let [finding] = about_title.as_slice() else { panic!("{}", summary(&findings)) };
    assert_eq!((&*finding.rule, &*finding.fix), ("struct-keyword", "Did you mean `title`?"));
}

#[test]
fn wrong_types_everywhere_are_reported() {
    let mut pointers = Vec::new();
    collect(&real(), "", &mut pointers);
    // Replaces the value at every twelfth place by a value of every type.
    for pointer in pointers.iter().skip(1).step_by(12) {
        for value in [json!(null), json!(true), json!(-1.5), json!("text"), json!([1]), json!({ "a": 1 })] {
            let mut document = real();
            *document.pointer_mut(pointer).unwrap() = value;
            linted(&document.to_string());
        }
    }
}

/// Collects the JSON pointers of all places.
pub(super) fn collect(value: &Value, pointer: &str, pointers: &mut Vec<String>) {
    pointers.push(pointer.to_owned());
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| {
            collect(value, &format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1")), pointers);
        }),
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(number, value)| collect(value, &format!("{pointer}/{number}"), pointers));
        }
        _ => {}
    }
}

#[test]
fn exponentially_many_schemas_are_not_visited() {
    let mut schemas = String::new();
    for level in 0..60 {
        let next = level + 1;
        let part = format!("{{$ref: '#/components/schemas/S{next}'}}");
        writeln!(schemas, "    S{level}: {{anyOf: [{part}, {part}], not: {part}}}").unwrap();
    }
    schemas.push_str("    S60: {type: object}\n");
    let findings = findings(&with_schemas(&schemas, "3"));
    assert!(
        findings.iter().any(|finding| finding.rule == "example-validation-limit"),
        "{}",
        summary(&findings)
    );
}

#[test]
fn exponential_recursion_along_an_example_is_not_visited() {
    let itself = "{$ref: '#/components/schemas/S0'}";
    let schemas = format!("    S0: {{properties: {{a: {{anyOf: [{itself}, {itself}, {itself}]}}}}}}\n");
    let example = format!("{}1{}", "{a: ".repeat(80), "}".repeat(80));
    let findings = findings(&with_schemas(&schemas, &example));
    assert!(
        findings.iter().any(|finding| finding.rule == "example-validation-limit"),
        "{}",
        summary(&findings)
    );
}

#[test]
fn long_chains_of_schemas_terminate() {
    // Recursion of this depth would exceed the stack of a test, 2 MiB.
    let ends = 8_000;
    for link in [
        "properties: {a: {$ref: '#/components/schemas/S@'}}",
        "$ref: '#/components/schemas/S@'",
        "allOf: [{$ref: '#/components/schemas/S@'}]",
    ] {
        let mut schemas = String::new();
        for level in 0..ends {
            let link = link.replace('@', &(level + 1).to_string());
            writeln!(schemas, "    S{level}: {{{link}, example: {{a: {{}}}}}}").unwrap();
        }
        writeln!(schemas, "    S{ends}: {{type: object}}").unwrap();
        assert!(!findings(&with_schemas(&schemas, "{a: {a: {a: 1}}}")).is_empty());
    }
}

#[test]
fn chains_within_the_limit_are_followed() {
    let mut schemas = String::new();
    for level in 0..1_900 {
        let next = level + 1;
        writeln!(schemas, "    S{level}: {{description: d, properties: {{a: {{$ref: '#/components/schemas/S{next}'}}}}, example: {{a: {{}}}}}}").unwrap();
    }
    schemas.push_str("    S1900: {type: object, description: d, example: 3}\n");
    let findings = findings(&with_schemas(&schemas, "{a: {}}"));
    assert!(
        !findings.iter().any(|finding| finding.rule == "example-validation-limit"),
        "{}",
        summary(&findings)
    );
    assert!(
        findings.iter().any(|finding| finding.rule == "no-invalid-schema-examples"),
        "{}",
        summary(&findings)
    );
}

#[test]
fn exponential_patterns_terminate() {
    let long = format!("'{}'", "(".repeat(5_000));
    let nested = format!("'{}a{}'", "(".repeat(400), "{1,1000})".repeat(20));
    for pattern in [
        "'(a+)+$'",
        "'^(a|a)*$'",
        "'(((a{1,999}){1,999}){1,999}){1,999}'",
        "'(?=(a+)+$)b'",
        long.as_str(),
        nested.as_str(),
        "'[z-a]'",
    ] {
        let schemas = format!("    S0: {{type: string, pattern: {pattern}}}\n");
        assert!(!findings(&with_schemas(&schemas, &format!("{}b", "a".repeat(30_000)))).is_empty());
    }
}

#[test]
fn aliases_and_depth_are_bounded() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let items = vec![format!("*a{}", level - 1); 9].join(", ");
        writeln!(bomb, "a{level}: &a{level} [{items}]").unwrap();
    }
    linted(&bomb);
    linted(&format!("{}{}", "{a: ".repeat(100_000), "}".repeat(100_000)));
    let wide = format!(
        "openapi: 3.0.3\npaths: {{/a: {{get: {{parameters: [{}]}}}}}}\n",
        "&a {x: 1}, ".repeat(5_000)
    );
    linted(&wide);
}

#[test]
fn limits_apply_per_rule_and_not_to_validity() {
    let path = format!("/{}", "x".repeat(300_000));
    let parameters =
        "{name: a, in: query, description: d}, ".to_owned() + &"{name: a, in: query}, ".repeat(5_000);
    let text = format!("openapi: 3.0.3\npaths: {{? '{path}' : {{get: {{parameters: [{parameters}]}}}}}}\n");
    let mut strict = Config::default();
    strict.profile = Profile::Strict;
    let document = Document::parse("document.yaml", &text).unwrap();
    let findings = strict.limited(strict.apply(&document, findings(&text), "lint").findings);
    let of = |rule: &str| findings.iter().filter(|finding| finding.rule == rule).count();
    assert_eq!(of("operation-parameters"), 5_000);
    assert_eq!(of("parameter-description"), 101);
    let left_out = findings.iter().find(|finding| finding.message.contains("not shown")).unwrap();
    assert!(left_out.message.contains("4900 more findings of `parameter-description`"), "{left_out:?}");
    let is_spec = |finding: &&Finding| rule(&finding.rule).profile == Profile::Spec;
    let spec = findings.iter().take_while(is_spec).count();
    assert!(!findings[spec..].iter().any(|finding| is_spec(&finding)), "validity comes first");
}

#[test]
fn documents_that_are_not_openapi_3_0_cannot_be_read() {
    for (text, column, message) in [
        ("openapi: 3.1.0\npaths: {}\n", 10, "`openapi: 3.1.0`"),
        ("openapi: '3.0'\n", 10, "`openapi: 3.0` is not supported, only OpenAPI 3.0, whose versions are"),
        ("openapi: 3.0.x\n", 10, "`openapi: 3.0.x`"),
        ("openapi: [3.0.3]\n", 10, "`openapi: [\"3.0.3\"]`"),
        ("x-openapi: 3.0.3\n", 1, "no `openapi`"),
        ("swagger: '2.0'\ninfo: {}\n", 10, "`swagger: 2.0`"),
        ("- openapi: 3.0.3\n", 1, "is an array"),
        ("openapi\n", 1, "is a string"),
    ] {
        let problem = Document::parse("x", text).unwrap_err().problem;
        assert!(problem.message.contains(message), "{text}: {problem}");
        assert_eq!((problem.span.line, problem.span.column), (1, column), "{text}: {problem}");
    }
}

#[test]
fn a_version_of_openapi_that_is_a_number_is_the_only_finding() {
    let findings = findings(&LIBRARY.replacen("openapi: 3.0.3", "openapi: 3.0", 1));
    let [finding] = findings.as_slice() else { panic!("{}", summary(&findings)) };
    assert_eq!((&*finding.rule, finding.span.line), ("struct-type", 1));
    assert_eq!(finding.repairs, [Repair::Write { at: "/openapi".to_owned(), value: "3.0.3".into() }]);
}

/// All references to other files are one finding.
#[test]
fn several_files_are_one_finding() {
    let findings = findings(&LIBRARY.replace("'#/components/", "'./shared.yaml#/"));
    let [finding] = findings.as_slice() else { panic!("{}", summary(&findings)) };
    assert_eq!(finding.rule, "invalid-ref");
    assert!(
        finding.message.contains("references lead to other files, the first `./shared.yaml#/"),
        "{}",
        finding.message
    );
}

/// A value that can be at any place.
fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        ".{0,20}".prop_map(Value::from),
        prop::sample::select(vec![
            "#/components/schemas/Book",
            "#/components/schemas/Error",
            "#/components/responses/Internal",
            "#/paths",
            "#",
            "%",
            "string",
            "object",
            "int32",
            "query",
            "3.1.0",
            "https://example.com",
            "((",
            "2030-12-05",
        ])
        .prop_map(Value::from),
        Just(json!(1e300)),
    ];
    let keys = prop::sample::select(vec![
        "$ref",
        "type",
        "properties",
        "items",
        "allOf",
        "required",
        "enum",
        "schema",
        "example",
        "default",
        "content",
        "description",
        "in",
        "name",
        "nullable",
        "additionalProperties",
        "not",
        "pattern",
        "x-a",
        "~/",
        "get",
        "200",
    ]);
    leaf.prop_recursive(3, 12, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((keys.clone(), inner), 0..4).prop_map(|entries| entries
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect()),
        ]
    })
}

#[derive(Clone, Debug)]
enum Change {
    Replace(Value),
    Remove,
    Rename(String),
    /// Inserts another part of the document.
    Graft(prop::sample::Index),
    Add(String, Value),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        3 => anything().prop_map(Change::Replace),
        1 => Just(Change::Remove),
        1 => "[a-zA-Z$/{}~0-9]{0,8}".prop_map(Change::Rename),
        2 => any::<prop::sample::Index>().prop_map(Change::Graft),
        1 => ("[a-zA-Z$/{}~0-9-]{0,8}", anything()).prop_map(|(key, value)| Change::Add(key, value)),
    ]
}

fn changed(mut document: Value, place: prop::sample::Index, change: Change) -> Value {
    let mut pointers = Vec::new();
    collect(&document, "", &mut pointers);
    let pointer = pointers[place.index(pointers.len())].clone();
    let graft = match &change {
        Change::Graft(from) => {
            document.pointer(&pointers[from.index(pointers.len())]).cloned().unwrap_or_default()
        }
        _ => Value::Null,
    };
    let (owner, key) = pointer.rsplit_once('/').unwrap_or_default();
    let key = key.replace("~1", "/").replace("~0", "~");
    match change {
        Change::Replace(value) => *document.pointer_mut(&pointer).unwrap() = value,
        Change::Graft(_) => *document.pointer_mut(&pointer).unwrap() = graft,
        Change::Add(key, value) => match document.pointer_mut(&pointer).unwrap() {
            Value::Object(map) => drop(map.insert(key, value)),
            Value::Array(items) => items.push(value),
            other => *other = value,
        },
        Change::Remove | Change::Rename(_) => match document.pointer_mut(owner).unwrap() {
            Value::Object(map) => {
                let removed = map.remove(&key);
                if let Change::Rename(new) = change {
                    map.insert(new, removed.unwrap_or_default());
                }
            }
            Value::Array(items) => drop(items.pop()),
            _ => {}
        },
    }
    document
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn mutants_of_the_document_are_linted(changes in prop::collection::vec((any::<prop::sample::Index>(), change()), 1..6)) {
        let document = changes.into_iter().fold(real(), |document, (place, change)| changed(document, place, change));
        linted(&document.to_string());
    }

    #[test]
    fn mutants_of_the_text_are_linted(cut in any::<prop::sample::Index>(), length in 0..40_usize, with in "[ -~\n]{0,12}") {
        let mut text = LIBRARY.to_owned();
        let start = text.floor_char_boundary(cut.index(text.len()));
        let end = text.floor_char_boundary((start + length).min(text.len()));
        text.replace_range(start..end, &with);
        linted(&text);
    }

    #[test]
    fn anything_is_linted(document in anything()) {
        linted(&document.to_string());
    }
}
