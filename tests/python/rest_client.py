"""Reads all that a server describes, as JSON and as CBOR, and compares: rest_client.py URL [TOKEN]

It knows nothing of timeline but the address of the description.
"""

import json
import sys
import urllib.error
import urllib.parse
import urllib.request

import cbor2


def get(path, kind):
    request = urllib.request.Request(sys.argv[1] + path, headers={"Accept": kind})
    if len(sys.argv) > 2:
        request.add_header("Authorization", "Bearer " + sys.argv[2])
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.headers["Content-Type"], answer.read()
    except urllib.error.HTTPError as error:
        # What a log of this kind does not have. The description says so.
        assert error.code == 400, (path, error, error.read())
        return error.headers["Content-Type"], error.read()


def objects(path):
    kind, text = get(path, "application/json")
    assert kind == "application/json", (path, kind)
    other, data = get(path, "application/cbor")
    assert other == "application/cbor", (path, other)
    return json.loads(text), cbor2.loads(data)


def same(one, other, place):
    """Whether both say the same: a number beyond 2^53 is a text in JSON."""
    if isinstance(one, dict):
        assert one.keys() == other.keys(), place
        return sum(same(one[key], other[key], f"{place}.{key}") for key in one)
    if isinstance(one, list):
        assert len(one) == len(other), place
        return sum(same(a, b, f"{place}[]") for a, b in zip(one, other))
    if isinstance(other, int) and isinstance(one, str):
        assert one == str(other), (place, one, other)
        return 1
    assert one == other or one != one, (place, one, other)
    return 0


description = json.loads(get("/api/openapi.json", "application/json")[1])
numbers = asked = 0
logs, _ = objects("/api/logs")
for path, item in description["paths"].items():
    answer = item.get("get", {}).get("responses", {}).get("200", {}).get("content", {})
    if "application/cbor" not in answer:
        continue
    required = [p for p in item["get"].get("parameters", []) if p["in"] == "query" and p.get("required")]
    for log in logs["logs"] if "{log}" in path else [None]:
        full = path.replace("{log}", urllib.parse.quote(log["id"], safe="")) if log else path
        full = full.replace("{line}", "0")
        if "{" in full:
            continue
        values = {"from": 0, "to": 2**63, "time": 0}
        full += "?" + "&".join(f"{p['name']}={values[p['name']]}" for p in required)
        one, other = objects(full)
        numbers += same(one, other, path)
        asked += 1
print(asked, numbers)
