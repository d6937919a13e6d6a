"""Keeps a copy of all reviews: copy.py URL FILE.

URL is the service, as https://reviews.example.com, and FILE the copy, a JSON object of reviews by their ids. Let
cron run it. A run asks for what has changed in the two days before the last change it knows, which costs little and
forgives clocks that differ. Where reviews have been removed, their number says so, and all are fetched again.
"""

import datetime
import json
import sys
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

OVERLAP = datetime.timedelta(days=2)


def main() -> None:
    """Bring the copy up to date."""
    url, file = sys.argv[1].rstrip("/"), Path(sys.argv[2])
    reviews = json.loads(file.read_text()) if file.exists() else {}
    before = dict(reviews)
    query: dict[str, Any] = {"sort": "changed", "limit": 100}
    if reviews:
        query["changed_since"] = max(map(changed_on, reviews.values())) - OVERLAP
    while True:
        page = fetch(f"{url}/api/reviews/search?{urllib.parse.urlencode(query)}")
        reviews |= {review["id"]: review for review in page["reviews"]}
        if page["next_cursor"] is None:
            break
        query["cursor"] = page["next_cursor"]
    if fetch(f"{url}/api/reviews/search?limit=1")["matched"] != len(reviews):
        reviews = {review["id"]: review for review in fetch(f"{url}/reviews.json")["reviews"]}
    new = Path(f"{file}.new")
    new.write_text(json.dumps(reviews))
    new.replace(file)
    changed = sum(before.get(each) != review for each, review in reviews.items())
    print(f"{changed} new or changed, {len(before.keys() - reviews.keys())} removed")


def changed_on(review: dict[str, Any]) -> datetime.date:
    """The day on which a review changed last, or an earlier one."""
    moment = review.get("changed_at") or review.get("added_at") or review["date"]
    return datetime.date.fromisoformat(moment[:10])


def fetch(url: str) -> dict[str, Any]:
    """The JSON object at an address."""
    with urllib.request.urlopen(url, timeout=60) as response:
        found: dict[str, Any] = json.load(response)
        return found


main()
