//! What a reviewer reads about changes that the letter of the specification allows.

use checks::breaking::Change;
use checks::config::Config;
use checks::outcome::{FailOn, Outcome};

use super::documents::{LIBRARY, TODAY, changes, document, small, with_schema};

#[test]
fn a_change_of_credentials_names_the_operations_that_require_them() {
    let paths = |own: &str| {
        let responses = "responses: {'200': {description: d}}";
        format!(
            "{{/a: {{get: {{operationId: a, {own}{responses}}}}}, /b: {{get: {{operationId: b, {responses}}}}}}}"
        )
    };
    let schemes =
        "{securitySchemes: {user: {type: http, scheme: bearer}, admin: {type: http, scheme: bearer}}}";
    let document = |all: &str, own: &str| format!("security: {all}\n{}", small(&paths(own), schemes));
    let found = |base: &str, revision: &str| {
        let found = changes(base, revision).into_iter().filter(|change| change.breaks());
        found.map(|change| (change.sentence(), change.place.pointer, change.operations)).collect::<Vec<_>>()
    };
    let user = document("[{user: []}]", "");
    let removed = "credentials for `user` are no longer accepted";
    let both = ["a".to_owned(), "b".to_owned()];
    assert_eq!(
        found(&user, &document("[{admin: []}]", "")),
        [(format!("The document: {removed}"), "/security".to_owned(), both.to_vec())]
    );
    assert_eq!(
        found(&user, &document("[{user: []}]", "security: [{admin: []}], ")),
        [(format!("Operation `a`: {removed}"), "/paths/~1a/get/security".to_owned(), both[..1].to_vec())]
    );
    assert_eq!(
        found(&user, &document("[{user: [], admin: []}]", "")),
        [(
            "The document: `user` is no longer sufficient; required: `admin` and `user`".to_owned(),
            "/security".to_owned(),
            both.to_vec()
        )]
    );
}

/// The result of a comparison under a configuration: what was not understood, the rules of the other changes, and the
/// exit status.
fn outcome(base: &str, revision: &str, configuration: &str) -> (Vec<String>, Vec<&'static str>, u8) {
    let config = Config::parse("contract.toml".to_owned(), configuration.to_owned()).unwrap();
    let outcome = Outcome::of(&document("base.yaml", base), &document("new.yaml", revision), &config, TODAY);
    let (unclear, others): (Vec<_>, Vec<_>) =
        outcome.changes.iter().partition(|change| change.rule.name == "not-understood");
    let said = unclear.into_iter().map(|change| change.what.clone()).collect();
    (said, others.into_iter().map(|change| change.rule.name).collect(), outcome.exit_code(FailOn::Error))
}

#[test]
fn a_reference_where_none_is_allowed_is_never_compared_in_silence() {
    let written = small(
        "{/a: {get: {responses: {'200': {description: d, content: {a/b: {}}}}}}, /b: {get: {responses: {}}}}",
        "{}",
    );
    for (place, word) in [
        (
            "{/a: {get: {$ref: ops/a.yaml}}, /b: {get: {responses: {}}}}",
            "`$ref` is not a keyword of the Operation Object",
        ),
        ("{/a: {$ref: paths/a.yaml}, /b: {get: {responses: {}}}}", "leads to another file"),
        (
            "{/a: {get: {responses: {$ref: responses.yaml}}}, /b: {get: {responses: {}}}}",
            "`$ref` cannot be a key",
        ),
        (
            "{/a: {get: {responses: {'200': {$ref: ok.yaml}}}}, /b: {get: {responses: {}}}}",
            "leads to another file",
        ),
        (
            "{/a: {get: {responses: {'200': {description: d, content: {a/b: {$ref: media.yaml}}}}}}, /b: {get: {responses: {}}}}",
            "`$ref` is not a keyword of the Media Type Object",
        ),
    ] {
        let referring = small(place, "{}");
        for (base, revision) in [(&written, &referring), (&referring, &written)] {
            for configuration in ["", "[rules]\n\"not-understood\" = \"off\""] {
                let (said, _, status) = outcome(base, revision, configuration);
                assert_eq!(status, 2, "{place}: {said:?}");
                assert!(said[0].contains(word) && said[0].contains("so it was not compared"), "{said:?}");
                let ways = ["Write it out", "Bundle the document", "Write a status"];
                assert!(ways.iter().any(|way| said[0].contains(way)), "{said:?}");
            }
        }
    }
}

#[test]
fn a_break_counts_more_than_a_part_that_is_not_understood() {
    let document = |kind: &str| {
        small(
            &format!(
                "{{/a: {{get: {{$ref: ops/a.yaml}}}}, /b: {{get: {{parameters: [{{name: p, in: query, schema: {{type: {kind}}}}}], responses: {{'200': {{description: d}}}}}}}}}}"
            ),
            "{}",
        )
    };
    for (base, revision) in [("string", "integer"), ("integer", "boolean")] {
        let (said, others, status) = outcome(&document(base), &document(revision), "");
        assert_eq!((said.len(), status), (1, 1));
        assert!(others[0].starts_with("request-type-"), "{others:?}");
    }
    let (_, others, status) =
        outcome(&document("integer"), &document("string"), "[rules]\n\"api-version-not-bumped\" = \"off\"");
    assert!(others == ["request-type-generalized"], "{others:?}");
    // What is the same in both documents does not change.
    assert_eq!(status, 0);
    let other = document("string").replace("ops/a.yaml", "ops/b.yaml");
    let (said, _, status) =
        outcome(&document("integer"), &other, "[rules]\n\"api-version-not-bumped\" = \"off\"");
    assert_eq!((said.len(), status), (2, 2));
}

#[test]
fn a_version_of_openapi_that_is_a_number_prevents_no_comparison() {
    let found = |base: &str| changes(base, &base.replace("maximum: 100\n", "maximum: 50\n"));
    let names = |found: Vec<Change>| found.iter().map(|change| change.rule.name).collect::<Vec<_>>();
    let expected = names(found(LIBRARY));
    assert!(!expected.is_empty());
    assert_eq!(names(found(&LIBRARY.replacen("openapi: 3.0.3", "openapi: 3.0", 1))), expected);
}

#[test]
fn a_reference_that_leads_nowhere_is_not_a_removal() {
    let content = |schema: &str| format!("content: {{a/b: {{schema: {schema}}}}}");
    let components = "{schemas: {S: {type: string}}, parameters: {P: {name: p, in: query, schema: {type: string}}}, \
                      headers: {H: {required: true, schema: {type: string}}}, requestBodies: {B: {content: {a/b: {}}}}}";
    let document = |parameter: &str, body: &str, header: &str, schema: &str| {
        let content = content(&format!("{{$ref: '#/components/schemas/{schema}'}}"));
        let paths = format!(
            "{{/a: {{post: {{parameters: [{{$ref: '#/components/parameters/{parameter}'}}], \
             requestBody: {{$ref: '#/components/requestBodies/{body}'}}, responses: {{'200': {{description: d, \
             headers: {{X-H: {{$ref: '#/components/headers/{header}'}}}}, {content}}}}}}}}}}}"
        );
        small(&paths, components)
    };
    let right = document("P", "B", "H", "S");
    for wrong in [
        document("X", "B", "H", "S"),
        document("P", "X", "H", "S"),
        document("P", "B", "X", "S"),
        document("P", "B", "H", "X"),
    ] {
        for (base, revision) in [(&right, &wrong), (&wrong, &right)] {
            let (said, others, status) = outcome(base, revision, "");
            assert_eq!((said.len(), others.as_slice(), status), (1, [].as_slice(), 2), "{wrong}");
        }
    }
}

#[test]
fn a_waiver_does_not_hide_another_break_of_its_place() {
    // A schema that lists no properties allows any value of `n`.
    let document = |maximum: u32, listed: &str| {
        let schema = format!("{{type: object, maxProperties: {maximum}{listed}}}");
        small(
            &format!(
                "{{/a: {{get: {{parameters: [{{name: p, in: query, schema: {schema}}}], \
                 responses: {{'200': {{description: d}}}}}}}}}}"
            ),
            "{}",
        )
    };
    let listed = ", properties: {n: {type: integer}}";
    let (old, new) = (document(100, ""), document(50, listed));
    let at = "/paths/~1a/get/parameters/0/schema/maxProperties";
    let waiver = format!(
        "[rules]\n\"api-version-not-bumped\" = \"off\"\n[[waiver]]\nrule = \"request-max-properties-decreased\"\n\
         at = \"{at}\"\nreason = \"r\"\nuntil = 2027-01-01\n"
    );
    let rules = |base: &str, revision: &str, waiver: &str| {
        let (_, mut rules, _) = outcome(base, revision, waiver);
        rules.retain(|rule| *rule != "new-optional-request-property" && *rule != "request-property-removed");
        rules
    };
    let both = ["request-max-properties-decreased", "request-values-narrowed"];
    assert_eq!(rules(&old, &new, ""), both);
    assert_eq!(rules(&old, &new, &waiver), both);
    assert_eq!(rules(&old, &document(50, ""), &waiver), both[..1]);
    assert_eq!(rules(&new, &old, ""), ["request-max-properties-increased"]);
    let found = changes(&old, &document(50, ""));
    assert_eq!(found[0].finding().elsewhere.unwrap().pointer, at);
}

#[test]
fn references_to_other_files_are_left_out_and_the_rest_is_compared() {
    let document = |parts: [&str; 8], limit: &str| {
        let [item, body, response, header, parameter, callback, schema, part] = parts;
        let paths = format!(
            "{{/a: {item}, /b: {{post: {{parameters: [{parameter}, {{name: limit, in: query, schema: {{type: {limit}}}}}], \
             requestBody: {body}, callbacks: {{C: {callback}}}, responses: {{'200': {response}, '201': {{description: d, \
             headers: {{X-H: {header}}}, content: {{a/b: {{schema: {{type: object, properties: {{p: {schema}, \
             q: {{allOf: [{{type: object}}, {part}]}}}}}}}}}}}}}}}}}}}}"
        );
        small(&paths, "{}")
    };
    let written = [
        "{get: {responses: {'200': {description: d}}}}",
        "{content: {a/b: {}}}",
        "{description: d, content: {a/b: {}}}",
        "{required: true, schema: {type: string}}",
        "{name: p, in: query, schema: {type: string}}",
        "{'{$request.query.p}': {post: {responses: {'200': {description: d}}}}}",
        "{type: string, maxLength: 5}",
        "{properties: {r: {type: string}}, required: [r]}",
    ];
    for position in 0..written.len() {
        let mut parts = written;
        parts[position] = "{$ref: other.yaml#/a}";
        for (base, revision) in [(written, parts), (parts, written), (parts, parts)] {
            let (said, rules, status) =
                outcome(&document(base, "integer"), &document(revision, "integer"), "");
            // The same reference is a warning: the other file may have changed.
            let expected = if base == revision { 0 } else { 2 };
            assert_eq!((rules.as_slice(), status), ([].as_slice(), expected), "{position}: {revision:?}");
            assert!(said.iter().all(|said| said.contains("`other.yaml#/a` on line")), "{said:?}");
            let (said, rules, status) =
                outcome(&document(base, "string"), &document(revision, "integer"), "");
            assert_eq!(
                (rules.as_slice(), status),
                (["request-type-specialized"].as_slice(), 1),
                "{position}"
            );
            assert!(!said.is_empty());
        }
    }
}

/// Returns the sentences about a schema of a request.
fn sentences(base: &str, revision: &str) -> Vec<String> {
    let document = |schema: &str| {
        let body = format!("{{content: {{application/json: {{schema: {schema}}}}}}}");
        small(
            &format!("{{/a: {{post: {{requestBody: {body}, responses: {{'200': {{description: d}}}}}}}}}}"),
            "{schemas: {A: {type: object, required: [a], properties: {a: {type: string}, b: {type: integer}}}, \
             B: {type: object, required: [c], properties: {c: {type: string}}}}}",
        )
    };
    changes(&document(base), &document(revision)).into_iter().map(|change| change.what).collect()
}

#[test]
fn an_enum_is_one_finding_and_its_waiver_names_the_list() {
    let [old, new] = ["{type: string, enum: [a, b, c, d]}", "{type: string, enum: [d, e, f]}"];
    assert_eq!(
        sentences(old, new),
        ["the values `a`, `b` and `c` were removed", "the values `e` and `f` were added"]
    );
    assert_eq!(sentences(old, "{type: string, enum: [a, b, d]}"), ["the value `c` was removed"]);
    let document = |values: &str| {
        let paths = "{/a: {get: {parameters: [{name: p, in: query, schema: {type: string, enum: HERE}}], \
                     responses: {'200': {description: d}}}}}";
        small(&paths.replace("HERE", values), "{}")
    };
    let waiver = "[[waiver]]\nrule = \"request-enum-value-removed\"\nreason = \"r\"\nuntil = 2027-01-01\n\
                  at = \"/paths/~1a/get/parameters/0/schema/enum\"\n";
    let revision = document("[c, d, e]").replace("version: 1.0.0", "version: 1.1.0");
    let (_, rules, status) = outcome(&document("[a, b, c]"), &revision, waiver);
    assert_eq!((rules, status), (vec!["request-enum-value-removed", "request-enum-value-added"], 0));
}

#[test]
fn a_value_that_became_a_list_is_one_finding() {
    let reference = |name: &str| format!("{{$ref: '#/components/schemas/{name}'}}");
    let list = |item: &str| format!("{{type: array, items: {item}}}");
    let (a, b) = (reference("A"), reference("B"));
    let union = format!("{{oneOf: [{a}, {b}]}}");
    for (base, revision, what) in [
        (
            a.clone(),
            list(&a),
            "its type changed from `object` to `array`: the value became a list of such values",
        ),
        (list(&a), a.clone(), "its type changed from `array` to `object`: the list became one such value"),
        (a.clone(), list(&b), "its type changed from `object` to `array`: the object became a list"),
        (list(&b), a.clone(), "its type changed from `array` to `object`: the list became an object"),
        (
            "{type: string}".to_owned(),
            list("{type: string}"),
            "its type changed from `string` to `array`: the value became a list of such values",
        ),
        ("{type: string}".to_owned(), list("{type: integer}"), "its type changed from `string` to `array`"),
        (a.clone(), "{type: string, maxLength: 5}".to_owned(), "its type changed from `object` to `string`"),
        (
            union.clone(),
            list(&union),
            "its type changed from `object` to `array`: the value became a list of such values",
        ),
        (
            list(&union),
            union.clone(),
            "its type changed from `array` to `object`: the list became one such value",
        ),
    ] {
        let found = sentences(&base, &revision);
        assert!(matches!(&found[..], [found] if found.ends_with(what)), "{base} {revision}: {found:?}");
    }
}

#[test]
fn a_change_without_a_keyword_of_its_own_names_what_changed() {
    let multiple = |of: u32| format!("{{type: integer, multipleOf: 2, allOf: [{{multipleOf: {of}}}]}}");
    let free = "{type: object}";
    let listed = "{type: object, properties: {n: {type: integer}}}";
    for (base, revision, what) in [
        (multiple(9), multiple(3), "`multipleOf` changed from 9 to 3; this allows values that were excluded"),
        (
            free.to_owned(),
            listed.to_owned(),
            "it must now be of the type `integer`; before, any value was allowed",
        ),
    ] {
        let found = sentences(&base, &revision);
        assert!(found.iter().any(|found| found == what), "{found:?}");
    }
}

#[test]
fn a_value_without_effect_is_part_of_the_sentence() {
    let list = |unique: &str| format!("{{type: array, items: {{}}{unique}}}");
    let text = |length: &str| format!("{{type: string{length}}}");
    for (base, revision, what) in [
        (
            list(", uniqueItems: false"),
            list(", uniqueItems: true"),
            "`uniqueItems` changed from false to true",
        ),
        (
            list(", uniqueItems: true"),
            list(", uniqueItems: false"),
            "`uniqueItems` changed from true to false",
        ),
        (list(", uniqueItems: true"), list(""), "`uniqueItems` true was removed"),
        (text(", minLength: 5"), text(", minLength: 0"), "`minLength` changed from 5 to 0"),
        (text(", pattern: a"), text(", pattern: '.*'"), "`pattern` changed from `a` to `.*`"),
    ] {
        assert_eq!(sentences(&base, &revision), [what]);
    }
    assert_eq!(sentences(&list(", uniqueItems: false"), &list("")), [""; 0]);
}

#[test]
fn an_operation_that_moved_is_one_finding() {
    let document = |method: &str, path: &str| {
        let responses = "responses: {'200': {description: d}}";
        let moved = format!("{path}: {{{method}: {{operationId: a, {responses}}}}}");
        small(&format!("{{{moved}, /z: {{get: {{operationId: z, {responses}}}}}}}"), "{}")
    };
    let found = changes(&document("get", "/a"), &document("post", "/b"));
    let found: Vec<_> = found.into_iter().map(|change| (change.what, change.place.pointer)).collect();
    let what = "`GET /a` was removed without having been deprecated; it is `POST /b` now";
    assert_eq!(found, [(what.to_owned(), "/paths/~1b/post".to_owned())]);
}

#[test]
fn what_replaces_a_status_or_a_parameter_is_named_beside_it() {
    let document = |parameter: &str, status: u16| {
        let parameter = format!("{{name: {parameter}, in: query, schema: {{type: string}}}}");
        let responses = format!("{{'{status}': {{description: d}}}}");
        small(&format!("{{/a: {{get: {{parameters: [{parameter}], responses: {responses}}}}}}}"), "{}")
    };
    let said = |base: &str, revision: &str| -> Vec<_> {
        changes(base, revision).into_iter().filter(|it| it.breaks()).map(|it| it.what).collect()
    };
    let (old, new) = (document("Query", 200), document("query", 204));
    assert_eq!(
        said(&old, &new),
        [
            "the query parameter `Query` was removed; perhaps it is `query` now",
            "the status `200` was removed; new: `204`"
        ]
    );
    assert_eq!(
        said(&new, &old),
        [
            "the query parameter `query` was removed; perhaps it is `Query` now",
            "the status `204` was removed; new: `200`"
        ]
    );
    assert_eq!(
        said(&old, &document("text", 404))[..],
        ["the query parameter `Query` was removed", "the status `200` was removed"]
    );
}

#[test]
fn a_reference_that_leads_elsewhere_is_the_place_of_its_changes() {
    let schemas = "{A: {properties: {a: {type: string}}}, B: {properties: {a: {type: integer}}}}";
    let document = |name| with_schema(&format!("{{$ref: '#/components/schemas/{name}'}}"), schemas);
    let found = changes(&document("A"), &document("B"));
    let places: Vec<_> = found.iter().map(|change| change.place.pointer.as_str()).collect();
    let (request, response) = ("/paths/~1a/post/requestBody", "/paths/~1a/post/responses/200");
    let at = |owner: &str| format!("{owner}/content/application~1json/schema/$ref");
    assert_eq!(places, [at(request), at(response)]);
    for change in found {
        assert_eq!(change.end.unwrap().pointer, "/components/schemas/B/properties/a/type");
        assert_eq!(change.base.unwrap().pointer, "/components/schemas/A/properties/a/type");
    }
    // A component that was renamed has its changes at their places.
    let renamed = with_schema(
        "{$ref: '#/components/schemas/C'}",
        &schemas.replace("A:", "C:").replace("string", "number"),
    );
    let found = changes(&document("A"), &renamed);
    assert!(found.iter().filter(|change| change.breaks()).all(|change| change.end.is_none()), "{found:?}");
}

#[test]
fn a_property_that_was_renamed_says_so() {
    let document = |name: &str, kind: &str| {
        with_schema(
            &format!("{{type: object, required: [{name}], properties: {{{name}: {{type: {kind}}}}}}}"),
            "{}",
        )
    };
    let said = |kind: &str| -> Vec<_> {
        let found = changes(&document("pet_name", "string"), &document("petName", kind));
        found
            .into_iter()
            .filter(|change| change.rule.name.ends_with("property-removed"))
            .map(|it| it.what)
            .collect()
    };
    let removed = "the property `pet_name` was removed";
    assert_eq!(
        said("string"),
        [
            format!("{removed}; perhaps it is `petName` now"),
            format!("{removed}; perhaps it is `petName` now")
        ]
    );
    assert_eq!(said("integer"), [removed, removed]);
}

#[test]
fn waived_additions_to_a_list_do_not_hide_or_add_others() {
    let document = |names: &[&str]| {
        let parameter =
            |name: &&str| format!("{{name: {name}, in: query, required: true, schema: {{type: string}}}}");
        let parameters: Vec<String> = names.iter().map(parameter).collect();
        let operation =
            format!("{{parameters: [{}], responses: {{'200': {{description: d}}}}}}", parameters.join(", "));
        small(&format!("{{/a: {{get: {operation}}}}}"), "{}")
    };
    let waiver = |number: usize| {
        format!(
            "[[waiver]]\nrule = \"new-required-request-parameter\"\nat = \"/paths/~1a/get/parameters/{number}\"\nreason = \"r\"\nuntil = 2027-01-01\n"
        )
    };
    let rules = "[rules]\n\"api-minor-version-not-bumped\" = \"off\"\n\"api-version-not-bumped\" = \"off\"\n";
    let (old, new) = (document(&[]), document(&["x", "y", "z"]));
    let breaks = |waived: &[usize]| {
        let waivers: String = waived.iter().map(|number| waiver(*number)).collect();
        let config = Config::parse("contract.toml".to_owned(), format!("{rules}{waivers}")).unwrap();
        let outcome = Outcome::of(
            &super::documents::document("base.yaml", &old),
            &super::documents::document("new.yaml", &new),
            &config,
            TODAY,
        );
        outcome
            .changes
            .iter()
            .filter(|change| change.breaks())
            .map(|it| it.place.pointer.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(breaks(&[0, 1]), ["/paths/~1a/get/parameters/2"]);
    assert_eq!(breaks(&[0, 1, 2]), [""; 0]);
}

#[test]
fn a_parameter_that_is_not_understood_may_be_any_property_of_an_object_in_the_query() {
    let object = "{name: q, in: query, schema: {type: object, properties: {a: {type: string}}}}";
    let document = |parameter: &str| {
        small(
            &format!(
                "{{/a: {{get: {{parameters: [{parameter}], responses: {{'200': {{description: d}}}}}}}}}}"
            ),
            "{}",
        )
    };
    let found = changes(&document(object), &document("{$ref: other.yaml}"));
    assert!(found.iter().all(|change| change.rule.name == "not-understood"), "{found:?}");
}

/// Returns the places of the changes of a document whose response leads to another wrapper of the same part.
fn places_at_wrappers(part: &str) -> Vec<(&'static str, String)> {
    let document = |wrapper: &str, part: &str| {
        let schema = format!("{{$ref: '#/components/schemas/{wrapper}'}}");
        let one = "{properties: {part: {$ref: '#/components/schemas/Part'}}}";
        let two = "{properties: {part: {$ref: '#/components/schemas/Part'}, more: {type: string}}}";
        small(
            &format!(
                "{{/a: {{get: {{responses: {{'200': {{description: d, content: {{application/json: {{schema: {schema}}}}}}}}}}}}}}}"
            ),
            &format!("{{schemas: {{One: {one}, Two: {two}, Part: {part}}}}}"),
        )
    };
    let found = changes(&document("One", "{type: string, enum: [a]}"), &document("Two", part));
    found.into_iter().map(|change| (change.rule.name, change.place.pointer)).collect()
}

#[test]
fn a_component_that_both_references_lead_to_has_its_changes_itself() {
    let reference = "/paths/~1a/get/responses/200/content/application~1json/schema/$ref".to_owned();
    let added = ("response-optional-property-added", reference);
    let enum_value = ("response-enum-value-added", "/components/schemas/Part/enum/1".to_owned());
    assert_eq!(places_at_wrappers("{type: string, enum: [a]}"), std::slice::from_ref(&added));
    assert_eq!(places_at_wrappers("{type: string, enum: [a, b]}"), [enum_value, added]);
}

#[test]
fn changes_at_one_reference_are_one_finding_that_lists_them() {
    let document = |name: &str| {
        let schemas = "{Few: {type: object, properties: {a: {type: string}, b: {type: string}}}, \
                       All: {type: object, required: [c, d], properties: {a: {type: string, maxLength: 3}, \
                       b: {type: string, maxLength: 3}, c: {type: string}, d: {type: string}}}}";
        with_schema(&format!("{{$ref: '#/components/schemas/{name}'}}"), schemas)
    };
    let found = changes(&document("Few"), &document("All"));
    let what =
        |rule: &'static str| found.iter().filter(move |it| it.rule.name == rule).map(|it| it.what.as_str());
    let [required] = what("new-required-request-property").collect::<Vec<_>>()[..] else {
        panic!("{found:?}")
    };
    assert_eq!(
        required,
        "it refers to another object now; compared with before, it is new and required (property `c` of schema `All`), \
         it is new and required (property `d` of schema `All`)"
    );
    assert_eq!(what("request-max-length-set").count(), 1);
}

#[test]
fn a_parameter_component_that_was_renamed_is_one_finding_at_its_name() {
    let document = |name: &str| {
        let operation = "{get: {parameters: [{$ref: '#/components/parameters/token'}], responses: {'200': {description: d}}}}";
        let parameter = format!("{{name: {name}, in: header, schema: {{type: string}}}}");
        format!(
            "openapi: 3.0.3\ninfo: {{title: t, version: 1.0.0}}\npaths: {{/a: {operation}, /b: {operation}}}\n\
             components: {{parameters: {{token: {parameter}}}}}\n"
        )
    };
    let found = changes(&document("Token"), &document("X-Token"));
    let found: Vec<_> = found.into_iter().map(|change| (change.place.pointer, change.operations)).collect();
    let both = vec!["GET /a".to_owned(), "GET /b".to_owned()];
    assert_eq!(found, [("/components/parameters/token/name".to_owned(), both)]);
}
