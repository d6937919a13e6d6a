"""Measures how many reviews a second the analyser reads on one core (insights.md 9: 10,000).

    python -m tests.benchmarks.analysing [--reviews 20000] [--rounds 5] [--texts reviews.json ...]

The texts are those of the given files, else pairs of the labelled reviews of tests/unit/analysis, 30 to 60
words each, which say three times as much as customers do. A number in each makes them different. CPU time;
the best round counts, as other work on the machine only ever makes a round slower. "again" analyses the same
reviews with ten changed and the labels kept.
"""

import argparse
import datetime
import gc
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from reviewsd.analysis.settings import InsightSettings, NamedTechnician
from reviewsd.domain.reviews import Business, Review
from tests.support.analysing import Made, analyse

_LABELLED = Path(__file__).parents[1] / "unit" / "analysis" / "reviews.json"
_DAY = datetime.date(2026, 11, 1)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reviews", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--texts", type=Path, nargs="+", metavar="REVIEWS.JSON")
    options = parser.parse_args()
    gc.disable()  # as the process that publishes does
    business = Business(name="B", category="Plumber", service_areas=("Port Ellery", "Gull Point"))
    technician = NamedTechnician(name="Priya Raman", aliases=("Priya",))
    settings = InsightSettings(technicians=(technician,))
    records = _records(options.reviews, options.texts)
    words = sum(len((review.text or "").split()) for review in records) / len(records)
    took, analysis = _best(options.rounds, lambda: analyse(records, business, settings))
    rate = len(records) / took
    sys.stdout.write(f"first  {rate:,.0f} reviews/s of {words:.0f} words, {took:.2f} s\n")
    for index in range(10):
        records[index] = replace(records[index], text=f"Changed {index}. {records[index].text}")
    labels = analysis.labels
    took, again = _best(
        options.rounds, lambda: analyse(records, business, settings, known_labels=labels)
    )
    sys.stdout.write(f"again  {took:.2f} s, {again.analysed} analysed\n")


def _records(count: int, files: list[Path] | None) -> list[Review]:
    """Return this number of different reviews."""
    rows: list[Any] = []
    if files is None:
        labelled = json.loads(_LABELLED.read_text("utf-8"))
        for at, row in enumerate(labelled):
            other = labelled[(at * 7 + 1) % len(labelled)]
            rows.append(row | {"text": f"{row['text']} {other['text']}"})
    else:
        for file in files:
            rows += [row for row in json.loads(file.read_text("utf-8"))["reviews"] if row["text"]]
    return [
        Review(
            id=f"r{i}",
            author="A",
            rating=rows[i % len(rows)]["rating"],
            date=_DAY - datetime.timedelta(days=i % 1500),
            text=f"{rows[i % len(rows)]['text']} Job {i}.",
            source="google",
            verified=True,
        )
        for i in range(count)
    ]


def _best(rounds: int, work: Callable[[], Made]) -> tuple[float, Made]:
    best = float("inf")
    for _ in range(rounds):
        begun = time.process_time()
        result = work()
        best = min(best, time.process_time() - begun)
    return best, result


if __name__ == "__main__":
    main()
