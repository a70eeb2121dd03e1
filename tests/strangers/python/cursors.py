"""Gives Schemathesis cursors that the service made.

A cursor is text to the schema, but only the service can make one: it is signed, and bound to the
`status` that it was made for. OpenAPI 3.0 has no keyword for either, so Schemathesis draws any text,
takes it for valid, and is told 400, as the document says. Here, and only in what it takes for valid, the
text is replaced by a cursor from a `next` link. What was drawn is not thrown away: it is sent as well, and
must be refused.
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
