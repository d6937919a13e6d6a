"""Batches for a language model, and labels from its answers (insights.md 7 and 12)."""

import json
from pathlib import Path
from typing import Any

from reviewsd.analysis.kept_labels import KeptLabels
from reviewsd.analysis.settings import InsightSettings
from reviewsd.domain.dataset import load
from reviewsd.offline.insights import Folder
from reviewsd.offline.labeler import BATCH_BYTES, MAX_TEXT, Labeler
from tests.support.columns import review


def labeler(*reviews: Any, batch: int = 2) -> Labeler:
    document = {"business": {"name": "B"}, "reviews": reviews}
    dataset = load(json.dumps(document).encode(), None)
    folder = Folder(
        path=Path("/data"),
        mode="auto",
        dataset=dataset,
        settings=InsightSettings(),
        labels=KeptLabels(),
    )
    return Labeler(folder, "tiny", batch)


def answer(*phrases: str) -> str:
    """Return an answer of the model with a phrase about the price for each review."""
    entries = [
        {
            "id": str(number),
            "aspects": [{"id": "pricing", "sentiment": "positive", "phrase": phrase}],
        }
        for number, phrase in enumerate(phrases, start=1)
    ]
    return json.dumps({"reviews": entries})


REVIEWS = [
    review("a", date="2026-01-03", text="A fair price."),
    review("b", date="2026-01-02", text="A high price.", rating=2),
    review("c", date="2026-01-01", text="A fair price."),
    review("d", text=None),
    review("e", date="2025-01-01", text="Who knows."),
]


def test_text_of_several_reviews_is_sent_once() -> None:
    session = labeler(*REVIEWS)
    plan = session.plan(2)
    assert (5, 1, 0, 2, 1, 1) == (
        plan.reviews,
        plan.wordless,
        plan.labeled,
        plan.to_send,
        plan.postponed,
        plan.batches,
    )
    (batch,) = session.batches()
    verdict = session.judge(answer("fair price", "high price"), batch)
    assert (2, {}) == (verdict.lines.count(b"\n"), verdict.again)
    assert (3, 4) == (session.by_model(), session.with_words)


def test_few_refused_reviews_are_left_to_the_rules() -> None:
    texts = [review(f"{n}", text=f"A fair price {n}.") for n in range(5)]
    session = labeler(*texts, batch=5)
    session.plan(None)
    (batch,) = session.batches()
    verdict = session.judge(answer(*["fair price"] * 4), batch)
    assert (4, {}) == (verdict.lines.count(b"\n"), verdict.again)


def test_labels_of_another_model_are_used_until_they_are_made_again() -> None:
    session = labeler(*REVIEWS, batch=9)
    session.plan(None)
    (batch,) = session.batches()
    lines = session.judge(answer("fair price", "high price", "Who knows"), batch).lines
    later = labeler(*REVIEWS)
    later.recall(KeptLabels(lines.replace(b"tiny", b"other")))
    plan = later.plan(1)
    assert (0, 1, 2, 1) == (plan.labeled, plan.to_send, plan.postponed, plan.outdated)
    assert 4 == later.by_model()


def test_batches_are_bounded_in_bytes() -> None:
    """Texts are cut as well: a megabyte is too much for any model."""
    long = [review(f"{n}", text=f"{n} " + "x" * 1_000_000) for n in range(4)]
    plan = labeler(*long, batch=20).plan(None)
    assert 2 == plan.batches
    assert 4 * MAX_TEXT < plan.bytes < 3 * BATCH_BYTES
    assert 2 == labeler(*REVIEWS, batch=2).plan(None).batches
