"""Reads OpenAPI 3.0 documents, one a line as JSON, and prints for each what openapi-spec-validator finds."""

import json
import sys

from openapi_spec_validator import OpenAPIV30SpecValidator


def findings(document):
    validator = OpenAPIV30SpecValidator(document)
    found = [("schema", error) for error in validator.schema_validator.iter_errors(document)]
    try:
        # Its own rules need a document that its JSON schema accepts. A reference that leads nowhere raises.
        found = found or [("rule", error) for error in validator.root_validator(validator.schema_path)]
    except Exception as error:
        return [f"{type(error).__name__}: {error}"]
    return [f"{source} /{'/'.join(map(str, error.absolute_path))}: {error.message}" for source, error in found]


with open(sys.argv[1]) as documents:
    for line in documents:
        print(json.dumps([finding.split("\n")[0][:500] for finding in findings(json.loads(line))]))
