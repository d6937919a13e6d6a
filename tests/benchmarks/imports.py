"""Imports of many reviews: time and peak memory of ``reviewsctl import`` (interfaces.md 2).

    python -m tests.benchmarks.imports [--rows 100000] [--folder /tmp/w/imports]

Each line is a process of its own: a first import of Outscraper's CSV, the same again (nothing
changes), the next day's export of as many rows onto the file that is there (every tenth edited),
Takeout pages of JSON, an NDJSON of ours, and the CSV that is exported. The peak is the
kernel's ``ru_maxrss`` of the process.
"""

import argparse
import csv
import datetime
import json
import multiprocessing
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.support.commands import CLI

_TEXT = "They came within the hour and fixed the boiler without fuss, very friendly and tidy work"
_WORDS = _TEXT.split()
_COLUMNS = """name place_id review_id author_link author_title author_image review_text
    owner_answer owner_answer_timestamp owner_answer_timestamp_datetime_utc review_link
    review_rating review_timestamp review_datetime_utc review_likes reviews_id"""
_FIRST = datetime.datetime(2015, 1, 1, tzinfo=datetime.UTC)
_PAGE = 50_000  # reviews of one Takeout file


def _reviews(rows: int, edited: str) -> Iterator[dict[str, object]]:
    dice = random.Random(1)
    for number in range(rows):
        when = _FIRST + datetime.timedelta(minutes=5 * number)
        text = " ".join(dice.choices(_WORDS, k=dice.randrange(8, 60)))
        yield {
            "id": f"ChdDSUhN{number:012d}",
            "author": f"Customer {number}",
            "stars": dice.choice((1, 3, 4, 5, 5, 5)),
            "text": text + (edited if number % 10 == 0 else ""),
            "when": when,
            "reply": "Thank you!" if number % 3 == 0 else "",
        }


def outscraper(path: Path, rows: int, edited: str = "") -> None:
    """Outscraper's CSV."""
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(_COLUMNS.split())
        for review in _reviews(rows, edited):
            when = review["when"]
            assert isinstance(when, datetime.datetime)
            spelled = when.strftime("%m/%d/%Y %H:%M:%S")
            link = f"https://www.google.com/maps/reviews/{review['id']}"
            table.writerow(
                (
                    *("Acme", "ChIJ1", review["id"], link, review["author"], link),
                    *(review["text"], review["reply"], "", spelled if review["reply"] else ""),
                    *(link, review["stars"], "", spelled, 0, "-1"),
                )
            )


def takeout(folder: Path, rows: int) -> None:
    """Google Takeout, unpacked."""
    place = folder / "Takeout/Google Business Profile/account-1/location-2"
    place.mkdir(parents=True)
    (place / "data.json").write_text('{"title": "Acme"}')
    page: list[dict[str, object]] = []
    for number, review in enumerate(_reviews(rows, ""), start=1):
        when = review["when"]
        assert isinstance(when, datetime.datetime)
        stamp = when.strftime("%Y-%m-%dT%H:%M:%S.123456Z")
        page.append(
            {
                "name": f"accounts/1/locations/2/reviews/{review['id']}",
                "reviewer": {"displayName": review["author"]},
                "starRating": ("", "ONE", "", "THREE", "FOUR", "FIVE")[int(str(review["stars"]))],
                "comment": review["text"],
                "createTime": stamp,
                "updateTime": stamp,
            }
        )
        if len(page) == _PAGE or number == rows:
            (place / f"reviews-{number}.json").write_text(json.dumps({"reviews": page}, indent=2))
            page.clear()


def _apart(make: Callable[..., None], *arguments: object) -> None:
    """In a process of its own: a child's peak begins with what its parent has."""
    maker = multiprocessing.Process(target=make, args=arguments)
    maker.start()
    maker.join()
    assert maker.exitcode == 0


def measured(what: str, *arguments: str, out: Path | None = None) -> None:
    """Runs reviewsctl, and prints how long it took and its peak."""
    environment = {**os.environ, "PYTHONPATH": str(CLI)}
    started = time.monotonic()
    with (out or Path(os.devnull)).open("wb") as sink:
        process = subprocess.Popen(
            [sys.executable, "-m", "reviewsctl.main", *arguments],
            env=environment,
            stdout=sink if out else subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        output = process.stdout.read() if process.stdout else b""
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.monotonic() - started
    peak = usage.ru_maxrss / 1024
    result = json.loads(output) if output else {}
    counts = {name: result.get(name) for name in ("new", "changed", "unchanged") if result}
    sys.stdout.write(f"{what:<28}{seconds:8.1f} s   peak {peak:6.0f} MB   {counts}\n")
    sys.stdout.flush()
    assert process.returncode == 0


def main() -> None:
    """Makes the files, and imports them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--folder", type=Path, default=Path("/tmp/w/imports"))
    options = parser.parse_args()
    folder: Path = options.folder
    shutil.rmtree(folder, ignore_errors=True)
    data, takeout_data = folder / "data", folder / "other"
    for directory in (data, takeout_data):
        directory.mkdir(parents=True)
    _apart(outscraper, folder / "first.csv", options.rows)
    _apart(takeout, folder / "takeout", options.rows)
    _apart(outscraper, folder / "next.csv", options.rows, " Edited.")
    into = ("--data", str(data), "--json")
    measured("first import, CSV", "import", str(folder / "first.csv"), *into)
    size = (data / "reviews.json").stat().st_size / 1e6
    sys.stdout.write(f"{'':<28}reviews.json has {size:,.0f} MB\n")
    measured("the same again", "import", str(folder / "first.csv"), *into)
    measured("every tenth edited", "import", str(folder / "next.csv"), *into)
    measured("Takeout", "import", str(folder / "takeout"), "--data", str(takeout_data), "--json")
    lines = folder / "lines.jsonl"
    measured("export --jsonl", "export", "--jsonl", "--data", str(data), out=lines)
    measured("our own lines", "import", str(lines), *into)
    measured("export --csv", "export", "--csv", "--data", str(data), out=folder / "out.csv")


if __name__ == "__main__":
    main()
