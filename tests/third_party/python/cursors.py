"""Gives Schemathesis cursors that the service made.

A cursor is text to the schema, but only the service can make one: it is signed, and bound to the `status`
that it was made for. Without this file, Schemathesis 4.32.5 reports "ST202 Schema-valid request rejected" for

    GET /v1/pets?limit=50&cursor=        400 invalid_parameter

and similar ones, because it expects 2xx for whatever fits the schema. OpenAPI 3.0.3 promises no such thing.
Its Schema Object (section 4.7.24) says which values are well formed, and none of its keywords can say
"signed by the service", since `pattern` is a regular expression. What more a value must be is for the
`description` of the parameter, which says that it comes from a `next` link, and 400 is among the responses
of the operation for a value that is not allowed.

So here, only for `cursor` of `GET /pets`, and only in what Schemathesis takes for valid, the text is
replaced by a cursor from a `next` link. What was drawn is not thrown away: it is sent as well, and must be
refused.
"""

import os
import re
import zlib

import requests
import schemathesis

BASE = os.environ["SERVICE_URL"]
SESSION = requests.Session()
SESSION.headers["Authorization"] = f"Bearer {os.environ['SERVICE_KEY']}"
STATUSES = [None, "available", "pending", "sold"]


def cursors_of(status):
    """All cursors of the pages of one animal each, of those with `status`."""
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


GENUINE = {status: cursors_of(status) for status in STATUSES}
DRAWN = {}


@schemathesis.hook.apply_to(name="GET /pets")
def map_case(context, case):
    valid = case.meta is not None and case.meta.generation.mode.is_positive
    if valid and "cursor" in (case.query or {}):
        drawn, cursors = str(case.query["cursor"]), GENUINE[case.query.get("status")]
        case.query["cursor"] = cursors[zlib.crc32(drawn.encode("utf-8", "replace")) % len(cursors)]
        DRAWN[case.id] = drawn
    return case


@schemathesis.check
def a_cursor_that_was_made_up_is_refused(ctx, response, case):
    drawn = DRAWN.pop(case.id, None)
    if drawn is None:
        return True
    query = {name: value for name, value in case.query.items() if name != "cursor"} | {"cursor": drawn}
    answer = SESSION.get(f"{BASE}/pets", params=query)
    assert answer.status_code == 400, f"the cursor {drawn!r} was answered {answer.status_code}"
    assert answer.json()["code"] == "invalid_parameter", answer.text
