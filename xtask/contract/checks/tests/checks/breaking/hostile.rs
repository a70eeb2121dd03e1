//! Hostile and random documents: the comparison does not panic or hang, and its changes are consistent.

use std::fmt::Write as _;

use checks::breaking::Change;
use checks::finding::Severity;
use proptest::prelude::*;

use super::documents::{LIBRARY, SHAPES, changes, small, with_schema};
use super::generate;

fn names(changes: &[Change]) -> Vec<&str> {
    changes.iter().map(|change| change.rule.name).collect()
}

#[test]
fn a_document_has_no_change_from_itself() {
    for text in [LIBRARY, SHAPES, &generate::document(30)] {
        assert_eq!(names(&changes(text, text)), [""; 0]);
    }
    // More alternatives than a normal form has.
    let (mut union, mut schemas) = (String::new(), String::new());
    for number in 0..201 {
        let _ = write!(union, "{{$ref: '#/components/schemas/S{number}'}}, ");
        let _ = write!(schemas, "S{number}: {{type: object, properties: {{k: {{enum: [v{number}]}}}}}}, ");
    }
    let schema = format!("{{oneOf: [{union}], discriminator: {{propertyName: k}}}}");
    let text = with_schema(&schema, &format!("{{{schemas}}}"));
    assert_eq!(names(&changes(&text, &text)), [""; 0]);
}

#[test]
fn the_place_of_a_change_is_its_line_in_both_files() {
    let revision = LIBRARY.replace("maximum: 599", "maximum: 499");
    let changes = changes(LIBRARY, &revision);
    let line = 1 + LIBRARY.lines().position(|line| line.contains("maximum: 599")).unwrap();
    assert_eq!(names(&changes), ["response-max-decreased"]);
    let base = changes[0].base.as_ref().unwrap();
    assert_eq!((changes[0].place.span.line, base.span.line), (line, line));
    assert_eq!(changes[0].place.pointer, "/components/schemas/Error/properties/status/maximum");
    assert_eq!(changes[0].operations, ["listBooks", "createBook", "getBook"]);
    assert_eq!(
        changes[0].sentence(),
        "Property `status` of schema `Error`: `maximum` changed from 599 to 499"
    );
}

#[test]
fn all_parts_that_are_not_understood_are_one_change_per_document() {
    let good = with_schema("{type: string}", "{}");
    for (schema, words) in [
        ("{$ref: '#/components/schemas/Missing'}", "Missing` does not lead to an object"),
        ("{$ref: 3}", "`$ref` is "),
        ("{type: [string, 'null']}", "`type` is "),
        ("{properties: 3}", "`properties` is "),
        ("{allOf: {}}", "`allOf` is "),
        ("{maximum: ten}", "`maximum` is "),
        ("{nullable: 'yes'}", "`nullable` is "),
        ("[]", "`schema` is "),
    ] {
        let text = with_schema(schema, "{}");
        for (base, revision, files) in [
            (&good, &text, ["new.yaml"].as_slice()),
            (&text, &good, &["base.yaml"]),
            // What did not change needs no comparison.
            (&text, &text, &[]),
        ] {
            let changes = changes(base, revision);
            let unread: Vec<_> =
                changes.iter().filter(|change| change.rule.severity == Severity::Unreadable).collect();
            let found: Vec<_> = unread.iter().map(|change| change.place.file.as_str()).collect();
            assert_eq!(found, files, "{schema}: {:?}", names(&changes));
            for change in unread {
                assert_eq!((change.rule.name, change.place.span.line), ("not-understood", 3), "{schema}");
                assert!(change.what.contains("1 other place was not compared"), "{}", change.what);
                assert!(change.what.contains(words), "{schema}: {}", change.what);
            }
        }
    }
    let split = with_schema("{$ref: other.yaml}", "{}");
    assert_eq!(names(&changes(&split, &split)), ["not-understood"]);
    for paths in [
        "3",
        "{/a: 3}",
        "{a: {}}",
        "{/a: {get: []}}",
        "{/a: {get: {parameters: {}}}}",
        "{/a: {get: {parameters: [{in: query}]}}}",
        "{/a: {get: {parameters: [{name: a}]}}}",
        "{/a: {get: {responses: []}}}",
        "{/a: {get: {responses: {'200': {$ref: '#/nowhere'}}}}}",
        "{/a: {get: {responses: {'200': {headers: 1}}}}}",
        "{/a: {get: {security: {}}}}",
        "{/a: {get: {security: [x]}}}",
        "{/a: {get: {servers: {}}}}",
        "{/a: {$ref: '#/paths/~1a'}}",
    ] {
        let (text, good) = (small(paths, "{}"), small("{}", "{}"));
        assert_eq!(names(&changes(&good, &text))[0], "not-understood", "{paths}");
        assert_eq!(names(&changes(&text, &text)), [""; 0], "{paths}");
    }
}

#[test]
fn the_remaining_parts_are_still_compared() {
    let broken = LIBRARY.replace("#/components/headers/RetryAfter", "#/components/headers/Missing");
    let changes = changes(LIBRARY, &broken.replace("maximum: 599", "maximum: 499"));
    assert_eq!(names(&changes)[0], "not-understood");
    assert!(names(&changes).contains(&"response-max-decreased"), "{:?}", names(&changes));
    assert!(changes[0].what.contains("#/components/headers/Missing"), "{}", changes[0].what);
}

#[test]
fn cycles_and_long_chains_of_references_terminate() {
    let circle = with_schema(
        "{$ref: '#/components/schemas/A'}",
        "{A: {allOf: [{$ref: '#/components/schemas/B'}]}, B: {allOf: [{$ref: '#/components/schemas/A'}], \
         properties: {a: {$ref: '#/components/schemas/A'}, n: {type: integer}}}}",
    );
    assert_eq!(names(&changes(&circle, &circle)), [""; 0]);
    let edited = circle.replace("integer", "string");
    let said = changes(&circle, &edited);
    assert_eq!(names(&said), ["request-type-changed", "response-type-changed"]);
    let references = with_schema("{$ref: '#/components/schemas/A'}", "{A: {$ref: '#/components/schemas/A'}}");
    assert!(changes(&circle, &references)[0].what.contains("back to"));

    // Recursion of this depth would exceed the stack of a test, 2 MiB.
    const LAST: usize = 4_000;
    let chain = |last: &str, link: &dyn Fn(usize) -> String| {
        let mut schemas = String::from("{");
        for number in 0..LAST {
            let _ = write!(schemas, "S{number}: {}, ", link(number + 1));
        }
        let _ = write!(schemas, "S{LAST}: {last}}}");
        with_schema("{$ref: '#/components/schemas/S0'}", &schemas)
    };
    let by_property =
        |number| format!("{{properties: {{next: {{$ref: '#/components/schemas/S{number}'}}}}}}");
    let said = changes(&chain("{type: string}", &by_property), &chain("{type: integer}", &by_property));
    assert_eq!(names(&said), ["request-type-changed", "response-type-changed"]);
    assert_eq!(said[0].operations, ["POST /a"]);
    let by_all_of = |number| format!("{{allOf: [{{$ref: '#/components/schemas/S{number}'}}]}}");
    let said = changes(&chain("{type: string}", &by_all_of), &chain("{type: integer}", &by_all_of));
    assert_eq!(names(&said), ["request-type-changed", "response-type-changed"]);
}

#[test]
fn too_many_combinations_are_reported_and_not_all_compared() {
    // The combinations of each level are all the subsets of the level below, so their number is exponential.
    let mut schemas = String::from("{");
    for number in 0..40 {
        let next = (number + 1) % 40;
        let (a, b) =
            (format!("#/components/schemas/S{next}"), format!("#/components/schemas/S{}", (number * 7) % 40));
        let _ = write!(
            schemas,
            "S{number}: {{properties: {{a: {{allOf: [{{$ref: '{a}'}}, {{$ref: '{b}'}}]}}, b: {{$ref: '{b}'}}, \
             c: {{$ref: '#/components/schemas/last'}}}}}}, "
        );
    }
    let document = |last: &str| {
        with_schema("{$ref: '#/components/schemas/S0'}", &format!("{schemas}last: {{type: {last}}}}}"))
    };
    // What is the same in both documents needs no combinations.
    assert!(changes(&document("string"), &document("string")).is_empty());
    let said = changes(&document("string"), &document("integer"));
    let limit = said.iter().find(|change| change.what.contains("limit of steps")).unwrap();
    assert!(limit.what.starts_with("it and "), "{}", limit.what);
}

#[test]
fn many_conditions_in_one_conjunction_count_as_a_break() {
    let document = |kind: &str, keyword: &str, last: &str| {
        let mut parts = String::new();
        for number in 1..4_000 {
            let _ = write!(parts, "{{{keyword}: {number}{last}}}, ");
        }
        with_schema(&format!("{{type: {kind}, allOf: [{parts}]}}"), "{}")
    };
    for (kind, keyword, last) in [("number", "multipleOf", ".5"), ("string", "pattern", "b")] {
        let said = changes(&document(kind, keyword, "e1"), &document(kind, keyword, last));
        assert!(said.iter().any(Change::breaks), "{keyword}: {:?}", names(&said));
    }
}

#[test]
fn wide_documents_are_compared_in_linear_time() {
    let many = |start: usize| {
        let mut enums = String::new();
        let mut parameters = String::new();
        let mut servers = String::new();
        for number in start..start + 5_000 {
            let _ = write!(enums, "v{number}, ");
            let _ = write!(parameters, "{{name: p{number}, in: query}}, ");
            let _ = write!(servers, "{{url: 'https://{number}.example.com'}}, ");
        }
        let paths = format!(
            "{{/a: {{get: {{servers: [{servers}], parameters: [{parameters}{{name: e, in: query, schema: {{enum: [{enums}]}}}}]}}}}}}"
        );
        small(&paths, "{}")
    };
    let said = changes(&many(0), &many(2_500));
    // The values of the `enum` are two findings.
    assert_eq!(said.len(), 2_500 * 4 + 2);
}

/// YAML that resembles an OpenAPI document, with any value at any place.
fn anything() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "3",
        "-1",
        "true",
        "null",
        "x",
        "string",
        "array",
        "object",
        "integer",
        "'#/components/schemas/A'",
        "'#/components/schemas/B'",
        "'#/paths/~1a'",
        "'#'",
        "query",
        "path",
        "1.5",
        "'2030-01-01'",
        "[]",
        "{}",
    ]);
    let leaf = words.prop_map(str::to_owned);
    leaf.prop_recursive(6, 60, 6, |inner| {
        let keys = prop::sample::select(vec![
            "$ref",
            "type",
            "properties",
            "required",
            "allOf",
            "oneOf",
            "anyOf",
            "not",
            "items",
            "default",
            "additionalProperties",
            "discriminator",
            "mapping",
            "propertyName",
            "nullable",
            "readOnly",
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "maxLength",
            "pattern",
            "format",
            "schema",
            "content",
            "application/json",
            "headers",
            "responses",
            "'200'",
            "4XX",
            "application/*",
            "callbacks",
            "'{$url}'",
            "enum",
            "explode",
            "flows",
            "default",
            "parameters",
            "name",
            "in",
            "requestBody",
            "get",
            "post",
            "servers",
            "url",
            "variables",
            "security",
            "deprecated",
            "x-sunset",
            "x-y",
            "multipleOf",
            "style",
        ]);
        let map = prop::collection::vec((keys, inner.clone()), 0..6).prop_map(|entries| {
            let mut seen = std::collections::HashSet::new();
            let entries = entries.into_iter().filter(|(key, _)| seen.insert(*key));
            let entries: Vec<_> = entries.map(|(key, value)| format!("{key}: {value}")).collect();
            format!("{{{}}}", entries.join(", "))
        });
        let list = prop::collection::vec(inner, 0..4).prop_map(|items| format!("[{}]", items.join(", ")));
        prop_oneof![4 => map, 1 => list]
    })
}

fn any_document() -> impl Strategy<Value = String> {
    (anything(), anything(), anything(), anything(), anything()).prop_map(|(a, b, c, d, e)| {
        format!(
            "openapi: 3.0.3\ninfo: {{version: 1.0.0}}\npaths: {{/a: {a}, '/b/{{c}}': {{get: {b}}}}}\nservers: {e}\n\
             components: {{schemas: {{A: {c}, B: {d}}}, securitySchemes: {e}}}\nsecurity: {e}\n"
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if kit::is_long() { 2048 } else { 128 }))]

    #[test]
    fn any_two_trees_are_compared(base in any_document(), revision in any_document()) {
        for change in changes(&base, &revision) {
            prop_assert!(!change.sentence().is_empty());
        }
        for change in changes(&base, &base) {
            prop_assert_eq!(change.rule.severity, Severity::Unreadable, "{}", change.sentence());
        }
    }

    #[test]
    fn any_schema_has_no_change_from_itself_and_differs_in_both_directions(
        one in anything(),
        other in anything(),
    ) {
        let (one, other) = (with_schema(&one, "{A: {type: object}, B: {}}"), with_schema(&other, "{A: {type: object}, B: {}}"));
        for change in changes(&one, &one) {
            prop_assert_eq!(change.rule.severity, Severity::Unreadable, "{}", change.sentence());
        }
        // Two schemas differ in both directions or in none.
        prop_assert_eq!(changes(&one, &other).is_empty(), changes(&other, &one).is_empty());
    }
}

// Few cases, because each reads whole documents.
proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_new_description_is_not_a_change(words in "[a-z ]{0,20}", every in 1_usize..4) {
        for text in [LIBRARY, SHAPES] {
            let mut seen = 0;
            let edited: Vec<_> = text.lines().map(|line| {
                let begin = line.find("description: ").or_else(|| line.find("summary: "));
                let Some(begin) = begin.filter(|_| !line.ends_with('|')) else { return line.to_owned() };
                seen += 1;
                if seen % every > 0 { return line.to_owned() }
                let end = begin + line[begin..].find(": ").unwrap() + 2;
                format!("{}'{words}'", &line[..end])
            }).collect();
            let changes = changes(text, &edited.join("\n"));
            prop_assert_eq!(names(&changes), [""; 0]);
        }
    }

    #[test]
    fn a_damaged_document_is_compared_or_refused(
        at in any::<prop::sample::Index>(),
        removed in 0_usize..30,
        inserted in "[\\PC\n]{0,4}",
    ) {
        let start = LIBRARY.floor_char_boundary(at.index(LIBRARY.len()));
        let end = LIBRARY.floor_char_boundary((start + removed).min(LIBRARY.len()));
        let mut text = LIBRARY.to_owned();
        text.replace_range(start..end, &inserted);
        if let Ok(damaged) = document::Document::parse("damaged.yaml", &text) {
            let whole = super::documents::document("whole.yaml", LIBRARY);
            let _ = checks::breaking::compare(&whole, &damaged, super::documents::TODAY);
            let _ = checks::breaking::compare(&damaged, &whole, super::documents::TODAY);
        }
    }
}

#[test]
fn changes_beyond_the_limit_are_counted() {
    let document = |host: &str| {
        let servers: String =
            (0..60_000).map(|number| format!("{{url: 'https://{host}{number}'}},")).collect();
        let paths = "{/a: {get: {responses: {'200': {description: d}}}}}";
        format!("openapi: 3.0.3\ninfo: {{title: t, version: 1.0.0}}\nservers: [{servers}]\npaths: {paths}\n")
    };
    let changes = changes(&document("a"), &document("b"));
    assert_eq!(changes.len(), 100_001);
    assert_eq!(changes[0].rule.name, "not-understood");
    assert!(changes[0].what.starts_with("20000 changes beyond the first 100000"), "{}", changes[0].what);
}
