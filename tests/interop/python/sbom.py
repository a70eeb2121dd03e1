"""Checks a bill of materials by the schema of CycloneDX 1.5."""

import sys

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

with open(sys.argv[1], encoding="utf-8") as file:
    error = JsonStrictValidator(SchemaVersion.V1_5).validate_str(file.read())
if error is not None:
    sys.exit(f"{sys.argv[1]}: {str(error)[:2000]}")
