//! Unsupported constructs are errors with position and reason, and everything else is generated.

use std::process::Command;

use crate::{error, scaffold, toys};

/// Returns the document with the invented operations and one replacement.
fn edited(old: &str, new: &str) -> String {
    let text = toys();
    assert!(text.contains(old), "{old:?} is not in the document");
    text.replacen(old, new, 1)
}

/// Checks that an edit causes this error of an operation.
fn is_unsupported(operation: &str, old: &str, new: &str, reason: &str) {
    let error = error(&edited(old, new), operation);
    assert!(error.contains(reason), "{reason}: {error}");
}

/// Checks that an edit causes this manual step for an operation.
fn needs_step(operation: &str, old: &str, new: &str, step: &str) {
    let made = scaffold(&edited(old, new), operation).unwrap();
    assert!(made.steps.iter().any(|known| known.contains(step)), "{step}: {:?}", made.steps);
}

#[test]
fn unsupported_operations() {
    let id = "      operationId: removeToy\n";
    for (old, new, reason) in [
        (
            "  /toyCounts:\n",
            "  /toys/counts:\n",
            "The path `/toys/counts` has `counts` where another one has `{toyId}`",
        ),
        (id, "      operationId: removeToy\n      security: []\n", "`security` is not supported here"),
        (id, "      operationId: removeToy\n      servers: [{url: /}]\n", "`servers` is not supported here"),
        (id, "      operationId: removeToy\n      callbacks: {}\n", "`callbacks` is not supported here"),
        ("removeToy\n      tags: [books]\n", "removeToy\n", "it needs a tag of `TagConfig`"),
        ("removeToy\n      tags: [books]", "removeToy\n      tags: [toys]", "add another one there first"),
        ("    delete:\n", "    trace:\n", "the service does not route the method `trace`"),
        ("    delete:\n", "    head:\n", "the service does not route the method `head`"),
        (id, "      operationId: deleteToy\n", "no operation has the `operationId` `removeToy`"),
    ] {
        is_unsupported("removeToy", old, new, reason);
    }
    let made = error(&edited(id, "      operationId: '☃'\n"), "☃");
    assert!(made.contains("`☃` cannot be the name of a Rust module"), "{made}");
}

#[test]
fn unsupported_parameters_and_bodies() {
    let q = "        - name: q\n          in: query";
    for (old, new, reason) in [
        (q, "        - name: q\n          in: header", "only parameters in the path and the query"),
        (q, "        - name: q\n          in: cookie", "only parameters in the path and the query"),
        (
            q,
            "        - name: q\n          in: query\n          style: pipeDelimited",
            "`style` is not supported here",
        ),
        (
            q,
            "        - name: q\n          in: query\n          deprecated: true",
            "`deprecated` is not supported here",
        ),
        (
            q,
            "        - name: in-stock\n          in: query",
            "the name of its field, from `in-stock`, is used already",
        ),
    ] {
        is_unsupported("findToys", old, new, reason);
    }
    let body = "            schema:\n              $ref: '#/components/schemas/NewToy'";
    let only_objects = "only bodies with `required: true` that refer to an object under `components/schemas`";
    for (old, new, reason) in [
        (
            &*format!("        required: true\n        content:\n          application/json:\n{body}"),
            &*format!("        content:\n          application/json:\n{body}"),
            only_objects,
        ),
        (
            &format!("          application/json:\n{body}"),
            &format!("          text/plain:\n{body}"),
            "the service supports only `application/json`",
        ),
        (body, "            schema: {type: object}", only_objects),
        (body, "            schema: {$ref: '#/components/schemas/ToyKind'}", only_objects),
    ] {
        is_unsupported("replaceToy", old, new, reason);
    }
}

#[test]
fn unsupported_responses() {
    let status = "dropshot supports 200, 201 and 202 with a JSON body, and 204 without a body";
    let one = "dropshot supports exactly one successful response";
    let gone = "          description: It is gone.\n";
    for (old, new, reason) in [
        ("        '204':\n", "        '205':\n", status),
        ("        '204':\n", "        '200':\n", status),
        ("        '204':\n", "        '202': {description: Soon.}\n        '204':\n", one),
        ("        '204':\n", "        '403':\n", one),
        (gone, &format!("{gone}          links: {{}}\n"), "`links`"),
        (
            "        '404':\n          $ref: '#/components/responses/NoToy'\n",
            "        '409':\n          $ref: '#/components/responses/NoToy'\n",
            "add a code for the status 409 to `ErrorCode` in src/http/error_code.rs first",
        ),
        (
            "        '404':\n          $ref: '#/components/responses/NoToy'\n",
            "        4XX:\n          $ref: '#/components/responses/NoToy'\n",
            "`4XX` stands for several statuses; list each one",
        ),
    ] {
        is_unsupported("removeToy", old, new, reason);
    }
}

#[test]
fn manual_steps() {
    let pattern = "src/schemas/new_toy.rs: let `NewToyName` check `pattern: ^[a-z]+$`.";
    needs_step("replaceToy", "pattern: '^[a-z\"\\\\]+$'", "pattern: '^[a-z]+$'", pattern);
    let replace = "src/operations/remove_toy.rs: replace `NotImplemented`";
    needs_step("removeToy", "        example: 7\n", "", replace);
}

#[test]
fn unsupported_schemas() {
    let maker = "    Maker:\n      type: object\n";
    for (new, reason) in [
        (
            "    Maker:\n      oneOf: [{type: string}]\n",
            "Schema `Maker` cannot be generated: `oneOf` is not supported here.",
        ),
        ("    Maker:\n      not: {}\n", "Schema `Maker` cannot be generated: `not` is not supported here."),
        (
            "    Maker:\n      type: object\n      additionalProperties: {type: string}\n",
            "a schema of additional properties is not supported",
        ),
    ] {
        is_unsupported("findToys", maker, new, reason);
    }
    for name in ["Vec", "TOY"] {
        let text = toys().replace("Maker", name);
        assert!(error(&text, "findToys").contains("is used already or is not a name in Rust"), "{name}");
    }
}

#[test]
fn an_invalid_document_is_not_scaffolded() {
    let text = edited("            minLength: 2\n", "            minLength: two\n");
    assert_eq!(scaffold(&text, "removeToy").unwrap_err()[0].rule, "struct-type");
}

#[test]
fn an_operation_needs_only_its_own_schemas() {
    let shelf = "    Shelf:\n      type: object\n      properties: {room: {type: string}}\n    Maker:\n";
    let maker = "        maker:\n          allOf:\n            - $ref: '#/components/schemas/Maker'\n";
    let text = edited("    Maker:\n", shelf).replace(maker, &maker.replace("/Maker", "/Shelf"));
    let files = |operation| {
        let made = scaffold(&text, operation).unwrap();
        made.files.into_iter().map(|(path, _)| path).collect::<Vec<_>>()
    };
    assert_eq!(files("removeToy"), ["src/operations/remove_toy.rs"]);
    // The code has the type `Shelf`, although no operation uses it.
    let schemas = ["toy", "toy_kind", "toy_size", "toy_sort"].map(|name| format!("src/schemas/{name}.rs"));
    let found = files("findToys");
    assert!(schemas.iter().all(|schema| found.contains(schema)), "{found:?}");
    assert_eq!(found.len(), schemas.len() + 1, "{found:?}");
}

#[test]
fn the_command_prints_errors() {
    let directory = tempfile::TempDir::new().unwrap();
    let file = directory.path().join("invented.yaml");
    let run = |text: &str, operation: &str| {
        std::fs::write(&file, text).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
        let output = command.args(["scaffold", operation, "--spec"]).arg(&file).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let broken =
        edited("            minLength: 2\n", "            minLength: 2\n            readOnly: true\n");
    // The service has another tag than the frozen code.
    let (code, printed) = run(&broken.replace("tags: [books]", "tags: [animals]"), "findToys");
    assert_eq!(code, Some(1));
    let error = "The schema of parameter `q` of operation `findToys` cannot be generated: `readOnly` is not supported here.";
    assert!(printed.contains(error) && printed.contains("readOnly: true"), "{printed}");
    let (code, printed) = run(&toys(), "buyToy");
    assert!(code == Some(1) && printed.contains("no operation has the `operationId` `buyToy`"), "{printed}");
    let (code, printed) = run("[", "findToys");
    assert!(code == Some(2) && printed.contains("error[unreadable]"), "{printed}");
}
