"""Replaces cursors and idempotency keys that Schemathesis generates by ones that the service must accept.

In the document a cursor is a string, but only the service can create one: it is signed, and bound to the `status` that
it was created for. Without this file, Schemathesis 4.32.5 reports "ST202 Schema-valid request rejected" for

    GET /v1/pets?limit=50&cursor=        400 invalid_parameter

and similar requests, because it expects 2xx for every value that matches the schema. OpenAPI 3.0.3 does not require
that. Schemas (section 4.7.24) describe which values are well formed, and no keyword can express "signed by the service".
Further requirements are in the `description` of the parameter, which says that a cursor comes from a `next` link, and
the operation declares 400 for other values.

An `Idempotency-Key` that was sent before with another animal returns 422, as the document says, and Schemathesis sends
the same key with many animals.

The hooks apply only to these two parameters and to values that Schemathesis considers valid. They replace the value by a
cursor from a `next` link, or by a new key. The generated value is sent in a separate request, which must be rejected for
a cursor. A key is sent with the same animal each time, which must be accepted.
"""

import os
import re
import uuid
import zlib

import requests
import schemathesis

BASE = os.environ["SERVICE_URL"]
SESSION = requests.Session()
SESSION.headers["Authorization"] = f"Bearer {os.environ['SERVICE_KEY']}"
STATUSES = [None, "available", "pending", "sold"]


def cursors_of(status):
    """Returns the cursors of all pages of one animal each, among those with `status`."""
    for number in range(4):
        animal = {"name": f"{status} {number}", "categoryId": number}
        SESSION.post(f"{BASE}/pets", json=animal | ({"status": status} if status else {})).raise_for_status()
    query = {"limit": "1"} | ({"status": status} if status else {})
    found = []
    while True:
        page = SESSION.get(f"{BASE}/pets", params=query)
        page.raise_for_status()
        if "next" not in page.links:
            return found
        found.append(re.search(r"[?&]cursor=([^&]+)", page.links["next"]["url"])[1])
        query["cursor"] = found[-1]


VALID = {status: cursors_of(status) for status in STATUSES}
GENERATED = {}
KEY = "Idempotency-Key"


def is_valid(case):
    return case.meta is not None and case.meta.generation.mode.is_positive


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.method == "POST" and is_valid(case) and KEY in (case.headers or {}):
        generated = str(case.headers[KEY])
        # Schemathesis takes the quotes off some values.
        if generated.startswith('"'):
            GENERATED[case.id] = generated
        case.headers[KEY] = f'"{uuid.uuid4()}"'


@schemathesis.check
def generated_key_is_accepted(ctx, response, case):
    generated = GENERATED.pop(case.id, None) if case.method == "POST" else None
    if generated is None:
        return True
    animal = {"name": "Rex", "categoryId": 1}
    separate = SESSION.post(f"{BASE}/pets", json=animal, headers={KEY: generated})
    assert separate.status_code == 201, f"the key {generated!r} got status {separate.status_code}"


@schemathesis.hook.apply_to(name="GET /pets")
def map_case(context, case):
    if is_valid(case) and "cursor" in (case.query or {}):
        generated, cursors = str(case.query["cursor"]), VALID[case.query.get("status")]
        case.query["cursor"] = cursors[zlib.crc32(generated.encode("utf-8", "replace")) % len(cursors)]
        GENERATED[case.id] = generated
    return case


@schemathesis.check
def generated_cursor_is_rejected(ctx, response, case):
    generated = GENERATED.pop(case.id, None) if case.method == "GET" else None
    if generated is None:
        return True
    query = {name: value for name, value in case.query.items() if name != "cursor"} | {"cursor": generated}
    separate = SESSION.get(f"{BASE}/pets", params=query)
    assert separate.status_code == 400, f"the cursor {generated!r} got status {separate.status_code}"
    assert separate.json()["code"] == "invalid_parameter", separate.text
