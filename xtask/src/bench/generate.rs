//! A large OpenAPI document, the same each time: for measuring what the commands cost.
//!
//! Each operation is about 10 KB of YAML as people write it: parameters, a body, answers, nested schemas,
//! references to schemas of its own and to some that all operations share. The document is valid, so a
//! command that finds anything in it is wrong.

use std::fmt::Write as _;

/// How many properties a resource has.
const PROPERTIES: usize = 26;
/// How many parts a resource is made of.
const PARTS: usize = 4;

/// A document with this many operations, two on each path.
pub fn document(operations: usize) -> String {
    let mut text = String::with_capacity(operations * 11_000 + 10_000);
    text.push_str(HEAD);
    text.push_str("paths:\n");
    for number in 0..operations {
        if number % 2 == 0 {
            let _ = writeln!(text, "  /collections/c{number}/{{itemId}}:");
        }
        operation(&mut text, number);
    }
    text.push_str("components:\n");
    text.push_str(SHARED);
    text.push_str("  schemas:\n");
    text.push_str(SHARED_SCHEMAS);
    for number in 0..operations {
        schemas(&mut text, number);
    }
    text
}

fn operation(text: &mut String, number: usize) {
    let (method, verb) = if number.is_multiple_of(2) { ("get", "get") } else { ("put", "update") };
    let _ = write!(
        text,
        "    {method}:
      operationId: {verb}Item{number}
      tags: [items]
      summary: {verb} item {number}
      description: |
        Operation number {number} of a document that is made to be large. It does what operations do:
        it takes a few parameters, and a body if it writes, and answers with an item or an error.
      parameters:
        - name: itemId
          in: path
          required: true
          description: Which item it is.
          schema:
            type: integer
            format: int64
            minimum: 1
          example: {}
        - $ref: '#/components/parameters/Limit'
",
        number + 1
    );
    for parameter in 0..6 {
        let _ = write!(
            text,
            "        - name: filter{parameter}
          in: query
          description: Return only what has this in field {parameter}.
          schema:
            type: string
            minLength: 1
            maxLength: {}
            pattern: '^[a-z0-9-]+$'
          example: value-{parameter}
",
            40 + (number + parameter) % 50
        );
    }
    if verb == "update" {
        let _ = write!(
            text,
            "      requestBody:
        description: The item as it shall be.
        required: true
        content:
          application/json:
            schema:
              $ref: '#/components/schemas/NewItem{number}'
            example:
              title: Table
              field0: of oak
              field1: {}
              field2: [round, heavy]
",
            number % 100
        );
    }
    let _ = write!(
        text,
        "      responses:
        '200':
          description: The item.
          headers:
            x-request-id:
              $ref: '#/components/headers/RequestId'
          content:
            application/json:
              schema:
                $ref: '#/components/schemas/Item{number}'
              example:
                id: {number}
                createdAt: '2026-11-21T12:00:00Z'
                kind: small
                parts:
                  - id: 1
                    weight: 2.5
                    material: wood
                    owner: {{name: Ada}}
        '400':
          $ref: '#/components/responses/Invalid'
        '404':
          $ref: '#/components/responses/Missing'
"
    );
}

fn schemas(text: &mut String, number: usize) {
    if !number.is_multiple_of(2) {
        new_item(text, number);
    }
    item(text, number);
    for part in 0..PARTS {
        self::part(text, number, part);
    }
}

fn new_item(text: &mut String, number: usize) {
    let _ = write!(
        text,
        "    NewItem{number}:
      type: object
      description: Item {number} without what the service adds.
      required: [title, field0, field1]
      additionalProperties: false
      properties:
        title:
          type: string
          minLength: 1
          maxLength: 200
          description: What people call it.
"
    );
    for property in 0..PROPERTIES {
        field(text, number, property);
    }
}

fn item(text: &mut String, number: usize) {
    let _ = write!(
        text,
        "    Item{number}:
      description: Item {number} as it is stored.
      allOf:
        - $ref: '#/components/schemas/Stored'
        - type: object
          required: [parts]
          properties:
            parts:
              type: array
              description: What it is made of.
              maxItems: 100
              items:
                $ref: '#/components/schemas/Part{number}N0'
            kind:
              $ref: '#/components/schemas/Kind'
"
    );
}

fn part(text: &mut String, number: usize, part: usize) {
    let _ = write!(
        text,
        "    Part{number}N{part}:
      type: object
      description: A part of item {number}.
      required: [id, weight]
      properties:
        id:
          type: integer
          format: int64
          description: Identifier of the part.
        weight:
          type: number
          format: double
          minimum: 0
          description: How heavy it is, in kilograms.
        material:
          type: string
          enum: [wood, steel, glass, paper, wool]
          description: What it is made of.
        owner:
          type: object
          description: Whose part it is.
          required: [name]
          properties:
            name:
              type: string
              maxLength: 100
              description: What the owner is called.
            since:
              type: string
              format: date
              description: The day it became theirs.
        next:
          $ref: '#/components/schemas/Part{number}N{}'
",
        (part + 1) % PARTS
    );
}

fn field(text: &mut String, number: usize, property: usize) {
    let _ = match property % 3 {
        0 => write!(
            text,
            "        field{property}:
          type: string
          maxLength: {}
          description: Field {property} of item {number}, free text.
",
            50 + property
        ),
        1 => write!(
            text,
            "        field{property}:
          type: integer
          format: int32
          minimum: 0
          maximum: {}
          description: Field {property} of item {number}, a count.
",
            100 + number % 100
        ),
        _ => write!(
            text,
            "        field{property}:
          type: array
          maxItems: 20
          description: Field {property} of item {number}, a list of words.
          items:
            type: string
            maxLength: 40
"
        ),
    };
}

const HEAD: &str = "openapi: 3.0.3
info:
  title: Many items
  version: 1.0.0
  description: |
    A document that is made to be large. What errors say:

    | `code` | status | when |
    | --- | --- | --- |
    | `invalid` | 400 | a parameter or the body is not allowed |
    | `missing` | 404 | nothing is there |
  contact:
    name: Nobody
    url: https://items.example.com/support
  license:
    name: Apache-2.0
    url: https://www.apache.org/licenses/LICENSE-2.0
servers:
  - url: https://items.test/v1
    description: Production
security:
  - apiKey: []
tags:
  - name: items
    description: Items of all kinds.
";

const SHARED: &str = "  securitySchemes:
    apiKey:
      type: http
      scheme: bearer
      description: An API key as a bearer token.
  parameters:
    Limit:
      name: limit
      in: query
      description: How many there are at the most.
      schema:
        type: integer
        minimum: 1
        maximum: 100
        default: 20
      example: 50
  headers:
    RequestId:
      description: Identifies this answer.
      required: true
      schema:
        type: string
      example: abc
  responses:
    Invalid:
      description: A parameter or the body is not allowed.
      content:
        application/json:
          schema:
            $ref: '#/components/schemas/Error'
          example: {code: invalid, message: limit is too large}
    Missing:
      description: There is no such item.
      content:
        application/json:
          schema:
            $ref: '#/components/schemas/Error'
          example: {code: missing, message: there is no such item}
";

const SHARED_SCHEMAS: &str = "    Error:
      type: object
      description: What went wrong.
      required: [code, message]
      properties:
        code:
          type: string
          description: For programs.
        message:
          type: string
          description: For people.
        causes:
          type: array
          description: What led to it.
          items:
            $ref: '#/components/schemas/Error'
    Stored:
      type: object
      description: What every stored thing has.
      required: [id, createdAt]
      properties:
        id:
          type: integer
          format: int64
          description: Identifier.
        createdAt:
          type: string
          format: date-time
          description: When it was made.
    Kind:
      type: string
      description: What kind it is.
      enum: [small, large, huge]
";

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::document;
    use crate::lint::lint;
    use crate::written::Document;

    #[test]
    fn an_operation_is_about_10_kb_and_the_document_is_the_same_each_time() {
        let text = document(40);
        assert!((9_000..11_000).contains(&(text.len() / 40)), "{}", text.len() / 40);
        assert_eq!(text, document(40));
        let document =
            Document::parse("generated.yaml", &text).unwrap_or_else(|error| panic!("{}", error.problem));
        assert_eq!(lint(&document, date(2026, 11, 21)), []);
    }
}
