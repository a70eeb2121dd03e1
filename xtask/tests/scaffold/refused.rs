//! What cannot be made is told of with the reason, and nothing else is left out for it.

use std::process::Command;

use crate::{NO_TOY, SCHEMAS, TEXT, TOYS, scaffold, with};

/// The invented document with one thing replaced.
fn edited(old: &str, new: &str) -> String {
    let text = with(TOYS, SCHEMAS, NO_TOY);
    assert!(text.contains(old), "{old:?} is not in the document");
    text.replacen(old, new, 1)
}

/// The notes for an edit, which is to be told of in one of them.
fn noted(old: &str, new: &str, note: &str) {
    let made = scaffold(&edited(old, new), None).unwrap();
    assert!(made.notes.iter().any(|told| told.contains(note)), "{note}: {:?}", made.notes);
}

#[test]
fn what_dropshot_cannot_say() {
    for (old, new, note) in [
        (
            "            enum: [name, -name, price]",
            "            enum: [1, 2]",
            "`enum` must be a list of words",
        ),
        (
            "          schema:\n            type: string\n            minLength: 2\n            maxLength: 40",
            "          schema:\n            type: array\n            items: {type: string}",
            "GET /toys was left out: parameter `q`: dropshot takes no lists in paths, queries and headers.",
        ),
        (
            "        - name: q\n          in: query",
            "        - name: q\n          in: header",
            "reads it from the header",
        ),
        (
            "        - name: q\n          in: query",
            "        - name: q\n          in: cookie",
            "reads it from the cookie",
        ),
        (
            "  /toyCounts:\n",
            "  /toys/counts:\n",
            "PUT /toys/{toyId} was left out: dropshot routes no `{toyId}` where /toys/counts has `counts`",
        ),
        ("        '204':\n", "        '205':\n", "nothing like this 205"),
        (
            "      operationId: removeToy\n",
            "      operationId: removeToy\n      security: []\n",
            "without the key `apiKey`",
        ),
        (
            "      operationId: removeToy\n      tags: [toys]\n",
            "      operationId: removeToy\n",
            "wants a tag",
        ),
        ("      operationId: removeToy\n", "      operationId: '☃'\n", "can be the name of a Rust file"),
        ("    delete:\n", "    trace:\n", "dropshot knows no method `trace`"),
        (
            "        required: true\n        content:\n          application/json:\n            schema:\n              $ref: '#/components/schemas/NewToy'",
            "        content:\n          application/json:\n            schema:\n              $ref: '#/components/schemas/NewToy'",
            "only if it is `required`",
        ),
        (
            "              schema:\n                $ref: '#/components/schemas/Counts'",
            "              schema:\n                type: object\n                properties: {a: {type: string}}",
            "give the schema of the answer a name",
        ),
    ] {
        noted(old, new, note);
    }
}

#[test]
fn what_the_service_has_no_code_for() {
    noted(
        "        '404':\n          $ref: '#/components/responses/NoToy'\n",
        "        '409':\n          $ref: '#/components/responses/NoToy'\n",
        "DELETE /toys/{toyId}: 409: the service has no code for this status.",
    );
    noted(
        "        '408':\n          $ref: '#/components/responses/RequestTimeout'\n        '413':\n          $ref: '#/components/responses/BodyTooLarge'\n        '415':\n          $ref: '#/components/responses/UnsupportedMediaType'\n        '429':\n          $ref: '#/components/responses/RateLimited'\n        '500':\n          $ref: '#/components/responses/Internal'\n        '503':\n          $ref: '#/components/responses/Unavailable'\n  /toys/{toyId}/parts",
        "  /toys/{toyId}/parts",
        "PUT /toys/{toyId}: 413: what the operation takes can be answered so.",
    );
}

#[test]
fn what_no_type_stands_for() {
    for (old, new, note) in [
        (
            "    Maker:\n      type: object\n",
            "    Maker:\n      oneOf: [{type: string}]\n",
            "schema `Maker` was left out: no type makes dropshot write this `oneOf`.",
        ),
        (
            "    Maker:\n      type: object\n",
            "    Maker:\n      type: object\n      minProperties: 1\n",
            "nothing in Rust would stand for `minProperties`",
        ),
        ("    Maker:\n      type: object\n", "    Maker:\n      x: 1\n", "a schema without a `type`"),
        (
            "    PartName:\n      type: string\n",
            "    PartName:\n      type: string\n      readOnly: true\n",
            "schemars writes no `readOnly`",
        ),
        (
            "          minimum: 0\n          maximum: 100000\n",
            "          minimum: -9007199254740993\n",
            "schemars cannot hold",
        ),
        (
            "      required: [name, price]\n",
            "      required: [name, price, nmae]\n",
            "`required` names `nmae`",
        ),
    ] {
        noted(old, new, note);
    }
    // What refers to a schema that could not be made is told of too, and the rest is made.
    let made =
        scaffold(&edited("    Maker:\n      type: object\n", "    Maker:\n      not: {}\n"), None).unwrap();
    assert!(
        made.notes.iter().any(|note| note.starts_with("GET /toys was left out: it needs the schema `Maker`")),
        "{:?}",
        made.notes
    );
    assert!(made.files.iter().any(|(path, _)| path == "src/operations/count_toys.rs"));
}

#[test]
fn one_operation_can_be_asked_for() {
    let text = with(TOYS, SCHEMAS, NO_TOY);
    let made = scaffold(&text, Some("removeToy")).unwrap();
    let sources: Vec<_> =
        made.files.iter().map(|(path, _)| path.as_str()).filter(|path| path.starts_with("src")).collect();
    assert_eq!(sources, ["src/operations/remove_toy.rs"]);
    assert_eq!(scaffold(&text, Some("buyToy")).unwrap_err(), "the document has no operation `buyToy`");
}

#[test]
fn nothing_is_made_of_what_is_there_and_nothing_is_overwritten() {
    let made = scaffold(TEXT, None).unwrap();
    assert!(made.files.is_empty() && made.additions.is_empty() && made.notes.is_empty(), "{made:?}");
    let directory = tempfile::TempDir::new().unwrap();
    let made = scaffold(&with(TOYS, SCHEMAS, NO_TOY), Some("removeToy")).unwrap();
    let (path, _) = &made.files[0];
    let there = directory.path().join(path);
    std::fs::create_dir_all(there.parent().unwrap()).unwrap();
    std::fs::write(&there, "mine").unwrap();
    assert!(made.write(directory.path()).unwrap_err().ends_with("is there already"));
    assert_eq!(std::fs::read_to_string(&there).unwrap(), "mine");
}

#[test]
fn the_command_prints_it_and_says_what_it_cannot_read() {
    let directory = tempfile::TempDir::new().unwrap();
    let file = directory.path().join("invented.yaml");
    let run = |text: &str, arguments: &[&str]| {
        std::fs::write(&file, text).unwrap();
        let command = Command::new(env!("CARGO_BIN_EXE_xtask"))
            .arg("scaffold")
            .args(arguments)
            .arg("--spec")
            .arg(&file)
            .output();
        let output = command.unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let invented = with(TOYS, SCHEMAS, NO_TOY);
    let (code, printed, _) = run(&invented, &["removeToy"]);
    assert_eq!(code, Some(0));
    for part in [
        "// ──── src/operations/remove_toy.rs (new)\n//! `removeToy`: `DELETE /toys/{toyId}`.\n",
        "    operation_id = \"removeToy\",\n    tags = [\"toys\"],\n}]\n",
        "// ──── src/operations/mod.rs, before `Ok(api)`\napi.register(remove_toy::remove_toy)?;\n",
        "// ──── src/operations/mod.rs, into `tags` of `TagConfig`\n(\"toys\".to_owned(), TagDetails::default()),\n",
        "DELETE, \"/v1/toys/7\"",
    ] {
        assert!(printed.contains(part), "{part} is not in {printed}");
    }
    let (code, printed, _) = run(TEXT, &[]);
    assert_eq!(
        (code, printed.as_str()),
        (Some(0), "// The code has every operation and schema that the document has.\n")
    );
    let (code, _, error) = run(&invented, &["buyToy"]);
    assert_eq!((code, error.as_str()), (Some(2), "error: the document has no operation `buyToy`\n"));
    let (code, printed, _) = run("[", &[]);
    assert!(code == Some(2) && printed.contains("error[unreadable]"), "{printed}");
}
