"""Measures how many reviews a second the analyser reads on one core (insights.md 9: 10,000).

    python -m tests.benchmarks.analysing [--reviews 20000] [--rounds 5]

The texts are pairs of the labelled reviews of tests/unit/analysis, 30 to 60 words each, with a number in
each so that no two are the same. CPU time; the best round counts, as other work on the machine only
ever makes a round slower. "again" analyses the same reviews with ten changed and the labels kept.
"""

import argparse
import datetime
import gc
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from reviewsd.analysis.settings import InsightSettings, NamedTechnician
from reviewsd.domain.reviews import Business, Review
from tests.support.analysing import Made, analyse

_LABELLED = Path(__file__).parents[1] / "unit" / "analysis" / "reviews.json"
_DAY = datetime.date(2026, 11, 1)

T = TypeVar("T")


def reviews(count: int) -> list[Review]:
    """Return this number of different reviews."""
    texts = [review["text"] for review in json.loads(_LABELLED.read_text("utf-8"))]
    stars = [review["rating"] for review in json.loads(_LABELLED.read_text("utf-8"))]
    size = len(texts)
    return [
        Review(
            id=f"r{i}",
            author="A",
            rating=stars[i % size],
            date=_DAY - datetime.timedelta(days=i % 1500),
            text=f"{texts[i % size]} {texts[(i * 7 + 1) % size]} Job {i}.",
            source="google",
            verified=True,
        )
        for i in range(count)
    ]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reviews", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    gc.disable()  # as the process that publishes does
    business = Business(name="B", category="Plumber", service_areas=("Port Ellery", "Gull Point"))
    settings = InsightSettings(
        technicians=(NamedTechnician(name="Priya Raman", aliases=("Priya",)),)
    )
    records = reviews(options.reviews)
    words = sum(len((review.text or "").split()) for review in records) / len(records)
    took, analysis = _best(options.rounds, lambda: analyse(records, business, settings))
    sys.stdout.write(
        f"first  {len(records) / took:,.0f} reviews/s of {words:.0f} words, {took:.2f} s\n"
    )
    for index in range(10):
        changed = records[index]
        records[index] = Review(
            **{name: getattr(changed, name) for name in Review.__struct_fields__ if name != "text"},
            text=f"Changed {index}. {changed.text}",
        )
    labels = analysis.labels
    took, again = _best(
        options.rounds, lambda: analyse(records, business, settings, known_labels=labels)
    )
    sys.stdout.write(f"again  {took:.2f} s, {again.analysed} analysed\n")


def _best(rounds: int, work: Callable[[], Made]) -> tuple[float, Made]:
    best = float("inf")
    for _ in range(rounds):
        begun = time.process_time()
        result = work()
        best = min(best, time.process_time() - begun)
    return best, result


if __name__ == "__main__":
    main()
