//! What findings say, to the letter.

use contract::drift::{Help, compare};

use crate::document::{DOCUMENT_OF_CODE, edit, findings, parsed};

/// The message and the help of the only finding of an edit.
#[track_caller]
fn says(after: &[&str], old: &str, new: &str, message: &str, help: &str) {
    let findings = findings(&edit(after, old, new).text);
    let said: Vec<_> = findings.iter().map(|it| (it.message.as_str(), it.fix.as_str())).collect();
    assert_eq!(said, [(message, help)]);
}

const LIMIT: &[&str] = &["name: limit"];
const STATUS: &[&str] = &["    BookStatus:"];

#[test]
fn a_changed_keyword_names_the_change_of_the_code_first() {
    says(
        LIMIT,
        "maximum: 100",
        "maximum: 50",
        "`maximum` of parameter `limit` of operation `listBooks` is `50` in the document and `100` in the code.",
        "Change the code to `maximum: 50`, or write `maximum: 100` here.",
    );
    says(
        LIMIT,
        "in: query",
        "in: query\n          required: true",
        "`required` of parameter `limit` of operation `listBooks` is `true` in the document and `false` by default in the code.",
        "Change the code to `required: true`, or write `required: false` here.",
    );
    says(
        LIMIT,
        "maximum: 100",
        "maximum: 100\n            multipleOf: 5",
        "Parameter `limit` of operation `listBooks` has `multipleOf: 5` in the document, but not in the code.",
        "Add `multipleOf: 5` to the code, or take it out here.",
    );
    says(
        LIMIT,
        "            maximum: 100\n",
        "",
        "Parameter `limit` of operation `listBooks` has `maximum: 100` in the code, but not in the document.",
        "Take `maximum` out of the code, or write `maximum: 100` here.",
    );
}

#[test]
fn text_is_quoted_beside_something_else() {
    says(
        LIMIT,
        "default: 20",
        "default: '20'",
        "`default` of parameter `limit` of operation `listBooks` is `'20'` in the document and `20` in the code.",
        "Change the code to `default: '20'`, or write `default: 20` here.",
    );
    says(
        STATUS,
        "sold]",
        "1]",
        "`enum` of schema `BookStatus` has `1` in the document, where the code has `'sold'`.",
        "Change the code to `enum: [available, pending, 1]`, or write `enum: ['available', 'pending', 'sold']` here.",
    );
}

#[test]
fn lists_name_the_items() {
    says(
        STATUS,
        "sold]",
        "gone]",
        "`enum` of schema `BookStatus` has `gone` in the document, where the code has `sold`.",
        "Change the code to `enum: [available, pending, gone]`, or write `enum: [available, pending, sold]` here.",
    );
    says(
        STATUS,
        "sold]",
        "sold, lost]",
        "`enum` of schema `BookStatus` has `lost` in the document, but not in the code.",
        "Change the code to `enum: [available, pending, sold, lost]`, or write `enum: [available, pending, sold]` here.",
    );
}

#[test]
fn a_misspelt_keyword_is_the_cause() {
    says(
        LIMIT,
        "maximum:",
        "maximun:",
        "`maximun` of parameter `limit` of operation `listBooks` is not a keyword of the Schema Object.",
        "Write `maximum`, which the code has.",
    );
    says(
        LIMIT,
        "maximum:",
        "titel: A\n            maximum:",
        "`titel` of parameter `limit` of operation `listBooks` is not a keyword of the Schema Object.",
        "Did you mean `title`?",
    );
}

#[test]
fn what_the_code_lacks_is_added_by_a_command() {
    let delete = "delete:\n      operationId: deleteBook\n      responses: {'204': {description: Gone.}}";
    says(
        &["  /books/{bookId}:\n"],
        "    get:",
        &format!("    {delete}\n    get:"),
        "Path `/books/{bookId}` has operation `delete` in the document, but not in the code.",
        "Run `scaffold deleteBook --write` to add operation `delete` to the code, or take it out here.",
    );
    says(
        &["paths:"],
        "\n  /books:",
        &format!("\n  /shelves:\n    {delete}\n  /books:"),
        "Path `/shelves` is in the document, but not in the code.",
        "Run `scaffold deleteBook --write` to add path `/shelves` to the code, or take it out here.",
    );
    says(
        &["components:", "  schemas:"],
        "\n",
        "\n    Shelf: {type: object}\n",
        "Schema `Shelf` is in the document, but not in the code.",
        "Run `scaffold --write` to add schema `Shelf` to the code, or take it out here.",
    );
    let edited = edit(&["components:", "  schemas:"], "\n", "\n    Shelf: {type: object}\n").text;
    let findings = compare(&parsed(&edited), &DOCUMENT_OF_CODE, Help::default());
    assert_eq!(findings[0].fix, "Add schema `Shelf` to the code, or take it out here.");
}
