//! The exact messages of findings.

use fixtures::edit;

use super::document::findings;

/// Checks the message and the fix of the only finding of an edit.
#[track_caller]
fn assert_message(after: &[&str], old: &str, new: &str, message: &str, help: &str) {
    let findings = findings(&edit(after, old, new).text);
    let said: Vec<_> = findings.iter().map(|it| (it.message.as_str(), it.fix.as_str())).collect();
    assert_eq!(said, [(message, help)]);
}

const LIMIT: &[&str] = &["name: limit"];
const STATUS: &[&str] = &["    BookStatus:"];

#[test]
fn the_fix_of_a_changed_keyword_begins_with_the_code() {
    assert_message(
        LIMIT,
        "maximum: 100",
        "maximum: 50",
        "`maximum` of parameter `limit` of operation `listBooks` is `50` in the document and `100` in the code.",
        "Change the code to `maximum: 50`, or write `maximum: 100` here.",
    );
    assert_message(
        LIMIT,
        "in: query",
        "in: query\n          required: true",
        "`required` of parameter `limit` of operation `listBooks` is `true` in the document and `false` by default in the code.",
        "Change the code to `required: true`, or write `required: false` here.",
    );
    assert_message(
        LIMIT,
        "maximum: 100",
        "maximum: 100\n            multipleOf: 5",
        "Parameter `limit` of operation `listBooks` has `multipleOf: 5` in the document, but not in the code.",
        "Add `multipleOf: 5` to the code, or remove it here.",
    );
    assert_message(
        LIMIT,
        "            maximum: 100\n",
        "",
        "Parameter `limit` of operation `listBooks` has `maximum: 100` in the code, but not in the document.",
        "Remove `maximum` from the code, or write `maximum: 100` here.",
    );
}

#[test]
fn text_is_quoted_if_it_reads_like_another_value() {
    assert_message(
        LIMIT,
        "default: 20",
        "default: '20'",
        "`default` of parameter `limit` of operation `listBooks` is `'20'` in the document and `20` in the code.",
        "Change the code to `default: '20'`, or write `default: 20` here.",
    );
    assert_message(
        STATUS,
        "sold]",
        "'1', 'a, b']",
        "`enum` of schema `BookStatus` differs: only the document has `'1'`, only the code has `sold`.",
        "Change the code to `enum: [available, pending, '1', 'a, b']`, or write `enum: [available, pending, sold]` here.",
    );
}

#[test]
fn lists_name_the_items() {
    assert_message(
        STATUS,
        "sold]",
        "gone]",
        "`enum` of schema `BookStatus` differs: only the document has `gone`, only the code has `sold`.",
        "Change the code to `enum: [available, pending, gone]`, or write `enum: [available, pending, sold]` here.",
    );
    assert_message(
        STATUS,
        "sold]",
        "sold, lost]",
        "`enum` of schema `BookStatus` differs: only the document has `lost`.",
        "Change the code to `enum: [available, pending, sold, lost]`, or write `enum: [available, pending, sold]` here.",
    );
}

#[test]
fn a_key_that_is_no_keyword_is_compared() {
    assert_message(
        LIMIT,
        "maximum:",
        "titel: A\n            maximum:",
        "Parameter `limit` of operation `listBooks` has `titel: A` in the document, but not in the code.",
        "Add `titel: A` to the code, or remove it here.",
    );
}

#[test]
fn the_fix_for_missing_code_names_it() {
    let delete = "delete:\n      operationId: deleteBook\n      responses: {'204': {description: Gone.}}";
    assert_message(
        &["  /books/{bookId}:\n"],
        "    get:",
        &format!("    {delete}\n    get:"),
        "Path `/books/{bookId}` has operation `delete` in the document, but not in the code.",
        "Add operation `delete` to the code, or remove it here.",
    );
    assert_message(
        &["paths:"],
        "\n  /books:",
        &format!("\n  /shelves:\n    {delete}\n  /books:"),
        "Path `/shelves` is in the document, but not in the code.",
        "Add path `/shelves` to the code, or remove it here.",
    );
    assert_message(
        &["components:", "  schemas:"],
        "\n",
        "\n    Shelf: {type: object}\n",
        "Schema `Shelf` is in the document, but not in the code.",
        "Add schema `Shelf` to the code, or remove it here.",
    );
}
