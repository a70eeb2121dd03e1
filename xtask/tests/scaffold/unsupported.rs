//! Unsupported constructs are errors with position and reason, and everything else is generated.

use std::process::Command;

use crate::{TEXT, errors, scaffold, toys};

/// Returns the document with the invented operations and one replacement.
fn edited(old: &str, new: &str) -> String {
    let text = toys();
    assert!(text.contains(old), "{old:?} is not in the document");
    text.replacen(old, new, 1)
}

/// Checks that an edit causes this error.
fn is_unsupported(old: &str, new: &str, reason: &str) {
    let made = scaffold(&edited(old, new), None).unwrap();
    assert!(errors(&made).iter().any(|error| error.contains(reason)), "{reason}: {:?}", errors(&made));
}

/// Checks that an edit causes this manual step.
fn needs_step(old: &str, new: &str, step: &str) {
    let made = scaffold(&edited(old, new), None).unwrap();
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
        (id, "      operationId: removeToy\n      security: []\n", "requires the security scheme `apiKey`"),
        (
            id,
            "      operationId: removeToy\n      servers: [{url: /}]\n",
            "dropshot does not support `servers` of an operation",
        ),
        (
            id,
            "      operationId: removeToy\n      callbacks: {}\n",
            "dropshot does not support `callbacks` of an operation",
        ),
        ("      operationId: removeToy\n      tags: [books]\n", id, "it needs a tag of `TagConfig`"),
        ("removeToy\n      tags: [books]", "removeToy\n      tags: [toys]", "(books); add another one there"),
        (id, "      operationId: '☃'\n", "`☃` cannot be the name of a Rust module"),
        (id, "      operationId: dropshot\n", "`dropshot` cannot be the name of a Rust module"),
        (id, "      operationId: Count-Toys\n", "another operation has the file `count_toys.rs`"),
        ("    delete:\n", "    trace:\n", "the service does not route the method `trace`"),
        ("    delete:\n", "    head:\n", "the service does not route the method `head`"),
    ] {
        is_unsupported(old, new, reason);
    }
}

#[test]
fn unsupported_parameters_and_bodies() {
    let q = "        - name: q\n          in: query";
    let body = "            schema:\n              $ref: '#/components/schemas/NewToy'";
    for (old, new, reason) in [
        (q, "        - name: q\n          in: header", "the service does not support parameters in a header"),
        (q, "        - name: q\n          in: cookie", "the service does not support parameters in a cookie"),
        (
            q,
            "        - name: q\n          in: query\n          style: pipeDelimited",
            "dropshot supports only the style `form`",
        ),
        (
            q,
            "        - name: q\n          in: query\n          deprecated: true",
            "dropshot does not support `deprecated`",
        ),
        (
            &format!("        required: true\n        content:\n          application/json:\n{body}"),
            &format!("        content:\n          application/json:\n{body}"),
            "dropshot supports only bodies with `required: true`",
        ),
        (
            &format!("          application/json:\n{body}"),
            &format!("          text/plain:\n{body}"),
            "the service supports only bodies of `application/json`",
        ),
        (
            body,
            "            schema: {type: object}",
            "the schema of a body must be defined under `components/schemas`",
        ),
        (
            body,
            "            schema: {$ref: '#/components/schemas/ToyKind'}",
            "the service supports only objects as bodies",
        ),
    ] {
        is_unsupported(old, new, reason);
    }
}

#[test]
fn unsupported_responses() {
    for (old, new, reason) in [
        (
            "        '204':\n",
            "        '205':\n",
            "dropshot supports 200, 201 and 202 with a JSON body, and 204 without a body",
        ),
        (
            "        '204':\n",
            "        '200':\n",
            "dropshot supports 200, 201 and 202 with a JSON body, and 204 without a body",
        ),
        (
            "        '204':\n",
            "        '202': {description: Soon.}\n        '204':\n",
            "there are 202 and 204",
        ),
        ("        '204':\n", "        '403':\n", "dropshot requires a successful response"),
        (
            "          description: It is gone.\n",
            "          description: It is gone.\n          links: {}\n",
            "`links`",
        ),
        (
            "        '404':\n          $ref: '#/components/responses/NoToy'\n",
            "        '409':\n          $ref: '#/components/responses/NoToy'\n",
            "add a code for the status 409 to `ErrorCode` in src/http/error_code.rs first",
        ),
        (
            "          $ref: '#/components/responses/NoToy'\n        '408':\n          $ref: '#/components/responses/RequestTimeout'\n",
            "          $ref: '#/components/responses/NoToy'\n",
            "declare the status 408, which the service returns",
        ),
        (
            "        '404':\n          $ref: '#/components/responses/NoToy'\n",
            "        4XX:\n          $ref: '#/components/responses/NoToy'\n",
            "`4XX` stands for several",
        ),
    ] {
        is_unsupported(old, new, reason);
    }
}

#[test]
fn manual_steps() {
    needs_step(
        "pattern: '^[a-z\"\\\\]+$'",
        "pattern: '^[a-z]+$'",
        "let `NewToyName` check `pattern: ^[a-z]+$`",
    );
    needs_step("        example: 7\n", "", "src/operations/remove_toy.rs: replace `NotImplemented`");
    needs_step(
        "          schema:\n            $ref: '#/components/schemas/ToyKind'",
        "          schema: {type: string, pattern: '^x$'}",
        "None was generated, because no value can be derived: parameter `kind`: no text can be derived from its `pattern`",
    );
}

#[test]
fn unsupported_schemas() {
    let maker = "    Maker:\n      type: object\n";
    for (old, new, reason) in [
        (
            maker,
            "    Maker:\n      oneOf: [{type: string}]\n",
            "The schema `Maker` cannot be generated: `oneOf` is not supported here.",
        ),
        (
            maker,
            "    Maker:\n      not: {}\n",
            "The schema `Maker` cannot be generated: `not` is not supported here.",
        ),
        (
            maker,
            "    Vec:\n      type: object\n    Maker:\n      type: object\n",
            "the name `Vec` is used for something else",
        ),
        (
            maker,
            "    TOY:\n      type: object\n    Maker:\n      type: object\n",
            "the name `Toy` is used for something else",
        ),
        (
            "      required: [name, price]\n",
            "      required: [name, price, nmae]\n",
            "`required` names `nmae`",
        ),
    ] {
        is_unsupported(old, new, reason);
    }
    // Nothing is generated without the rest.
    let made = scaffold(&edited(maker, "    Maker:\n      not: {}\n"), None).unwrap();
    assert!(made.files.is_empty() && made.additions.is_empty());
}

#[test]
fn an_invalid_document_is_not_scaffolded() {
    let made = scaffold(&edited("            minLength: 2\n", "            minLength: two\n"), None).unwrap();
    assert!(made.files.is_empty());
    assert_eq!(made.errors[0].rule, "struct-type");
}

#[test]
fn a_type_that_the_code_has_is_used() {
    let shelf = "    Shelf:\n      type: object\n      properties: {room: {type: string}}\n    Maker:\n";
    let made = scaffold(&edited("    Maker:\n", shelf), None).unwrap();
    assert_eq!(errors(&made), [""; 0]);
    assert!(!made.files.iter().any(|(path, _)| path.ends_with("/shelf.rs")));
}

#[test]
fn a_single_operation_can_be_scaffolded() {
    let made = scaffold(&toys(), Some("removeToy")).unwrap();
    let files: Vec<_> = made.files.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(files, ["src/operations/remove_toy.rs", "tests/http/v1/remove_toy.rs"]);
    assert_eq!(scaffold(&toys(), Some("buyToy")).unwrap_err(), "the document has no operation `buyToy`");
    for operation in [None, Some("listBooks")] {
        let made = scaffold(TEXT, operation).unwrap();
        assert!(made.files.is_empty() && made.additions.is_empty() && made.errors.is_empty(), "{made:?}");
    }
}

#[test]
fn the_command_prints_additions_and_errors() {
    let directory = tempfile::TempDir::new().unwrap();
    let file = directory.path().join("invented.yaml");
    let run = |text: &str, arguments: &[&str]| {
        // The service has another tag than the frozen code.
        std::fs::write(&file, text.replace("tags: [books]", "tags: [animals]")).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
        let output = command.arg("scaffold").args(arguments).arg("--spec").arg(&file).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let (code, printed, _) = run(&toys(), &["removeToy"]);
    assert_eq!(code, Some(0));
    for part in [
        "// ---- new file src/operations/remove_toy.rs\n//! `removeToy`: `DELETE /toys/{toyId}`.\n",
        "    operation_id = \"removeToy\",\n    tags = [\"animals\"],\n}]\n",
        "// ---- src/operations/mod.rs, before the `Ok(api)` of the function `api`\napi.register(remove_toy::remove_toy)?;\n",
        "DELETE, \"/v1/toys/7\"",
        "// Left to do by hand, in this order:\n//   1. Run `cargo fmt --all`.\n",
    ] {
        assert!(printed.contains(part), "{part} is not in {printed}");
    }
    let broken =
        edited("            minLength: 2\n", "            minLength: 2\n            readOnly: true\n");
    let (code, printed, _) = run(&broken, &["findToys"]);
    assert_eq!(code, Some(1));
    let error = "The operation `findToys` cannot be generated: `readOnly` is not supported here.";
    assert!(printed.contains(error) && printed.contains("readOnly: true"), "{printed}");
    let (code, _, error) = run(&toys(), &["buyToy"]);
    assert_eq!((code, error.as_str()), (Some(2), "error: the document has no operation `buyToy`\n"));
    let (code, printed, _) = run("[", &[]);
    assert!(code == Some(2) && printed.contains("error[unreadable]"), "{printed}");
}
