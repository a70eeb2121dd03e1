//! A generated document of any size.

use std::fmt::Write as _;

/// Returns a valid document with this many operations, each with its own and with shared schemas. Equal for equal
/// numbers.
pub(crate) fn document(operations: usize) -> String {
    let mut paths = String::new();
    let mut schemas = String::new();
    for number in 0..operations {
        let _ = write!(
            paths,
            "  /items{number}/{{id}}:
    put:
      operationId: putItem{number}
      parameters:
        - {{name: id, in: path, required: true, schema: {{type: integer, minimum: 1}}}}
        - $ref: '#/components/parameters/Limit'
      requestBody:
        content: {{application/json: {{schema: {{$ref: '#/components/schemas/Item{number}'}}}}}}
      responses:
        '200':
          description: The item.
          content: {{application/json: {{schema: {{$ref: '#/components/schemas/Item{number}'}}}}}}
"
        );
        let _ = write!(
            schemas,
            "    Item{number}:
      allOf:
        - $ref: '#/components/schemas/Stored'
        - type: object
          required: [title]
          properties:
            title: {{type: string, maxLength: {number}}}
            kind: {{type: string, enum: [small, large]}}
            parts: {{type: array, items: {{$ref: '#/components/schemas/Item{number}'}}}}
            owner: {{type: object, properties: {{name: {{type: string}}, since: {{type: string, format: date}}}}}}
"
        );
    }
    format!(
        "openapi: 3.0.3
info: {{title: Many items, version: 1.0.0}}
paths:
{paths}components:
  parameters:
    Limit: {{name: limit, in: query, schema: {{type: integer, maximum: 100, default: 20}}}}
  schemas:
    Stored: {{type: object, required: [id], properties: {{id: {{type: integer, format: int64}}}}}}
{schemas}"
    )
}
