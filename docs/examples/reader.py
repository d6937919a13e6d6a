"""Prints the reviews that are new since the last run: reader.py URL STATE.

URL is the service, as https://reviews.example.com, and STATE a file in which the program remembers
what it has seen. Let cron run it. While nothing has changed a run costs one 304 without a body.
"""

import json
import sys
import urllib.error
import urllib.request
from http import HTTPStatus
from pathlib import Path
from typing import Any


def main() -> None:
    """Print what is new, and remember it."""
    url, file = sys.argv[1].rstrip("/"), Path(sys.argv[2])
    state: dict[str, Any] = {"etag": "", "seen": []}
    if file.exists():
        state = json.loads(file.read_text())
    request = urllib.request.Request(f"{url}/api/feed.json")
    if state["etag"]:
        request.add_header("If-None-Match", state["etag"])
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            feed, etag = json.load(response), response.headers["ETag"]
    except urllib.error.HTTPError as error:
        if error.code != HTTPStatus.NOT_MODIFIED:
            raise
        print("nothing new")
        return
    new = [item for item in feed["items"] if item["id"] not in state["seen"]]
    for item in reversed(new):  # the feed has the newest first
        print(f"{item['date_published'][:10]}  {item['title']}")
    print(f"{len(new)} new")
    seen = [item["id"] for item in feed["items"]]
    file.write_text(json.dumps({"etag": etag, "seen": seen}))


main()
