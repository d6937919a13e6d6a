"""Batches for a language model, and insights of its answers (insights.md 7)."""

import json
from pathlib import Path
from typing import Any

from reviewsd.analysis.settings import InsightSettings
from reviewsd.domain.dataset import load
from reviewsd.offline.insights import Folder
from reviewsd.offline.labeller import BATCH_BYTES, MAX_TEXT, Labeller
from tests.support.columns import review


def labeller(*reviews: Any, insights: object = None, batch: int = 2) -> Labeller:  # noqa: ANN401
    document = {"business": {"name": "B"}, "reviews": reviews}
    text = None if insights is None else json.dumps(insights).encode()
    dataset = load(json.dumps(document).encode(), text)
    folder = Folder(path=Path("/data"), mode="auto", dataset=dataset, settings=InsightSettings())
    return Labeller(folder, "tiny", batch)


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
    session = labeller(*REVIEWS)
    plan = session.plan(2)
    assert (5, 1, 0, 2, 1, 1) == (
        plan.reviews,
        plan.wordless,
        plan.labelled,
        plan.to_send,
        plan.postponed,
        plan.batches,
    )
    (batch,) = session.batches()
    verdict = session.judge(answer("fair price", "high price"), batch, is_last_try=False)
    assert not verdict.judgement.bad
    result = session.result()
    assert (3, 1) == (result.by_model, result.by_rules)
    insights = json.loads(result.insights)
    (pricing,) = [aspect for aspect in insights["aspects"] if aspect["id"] == "pricing"]
    assert (3, 3) == (pricing["mention_count"], pricing["positive_count"])
    assert ["tiny", "lexicon-3"] == [insights["method"][name] for name in ("model", "rules")]


def test_texts_of_an_earlier_run_are_not_sent_again() -> None:
    """A refused text is not sent again either; an edited record is checked like an answer."""
    session = labeller(*REVIEWS)
    session.plan(None)
    first, second = session.batches()
    wrong = answer("cheap", "cheap")
    assert session.judge(wrong, first, is_last_try=False).record is None
    failed = session.judge(wrong, first, is_last_try=True)
    good = session.judge(answer("Who knows"), second, is_last_try=False)
    assert failed.judgement.bad
    assert failed.record is not None
    assert good.record is not None

    later = labeller(*REVIEWS)
    edited = good.record.replace(b"Who knows", b"Cheap!")
    later.recall([failed.record, edited, b"{", b"{}", b"[1]"])
    plan = later.plan(None)
    assert (3, 0) == (plan.labelled, plan.to_send)
    assert [] == list(later.batches())
    result = later.result()
    assert (1, 3) == (result.by_model, result.by_rules)
    assert [] == json.loads(result.insights)["per_review"]["e"]["aspects"]


def test_batches_are_bounded_in_bytes() -> None:
    """Texts are cut as well: a megabyte is too much for any model."""
    long = [review(f"{n}", text=f"{n} " + "x" * 1_000_000) for n in range(4)]
    plan = labeller(*long, batch=20).plan(None)
    assert 2 == plan.batches
    assert 4 * MAX_TEXT < plan.bytes < 3 * BATCH_BYTES
    assert 2 == labeller(*REVIEWS, batch=2).plan(None).batches


def test_maker_of_insights_follows_from_model_and_method() -> None:
    by_rules = {"model": "lexicon-3", "method": {"rules": "lexicon-2"}}
    cases = [
        (None, "none"),
        (by_rules, "rules"),
        ({"model": "mine"}, "other"),
        ({}, "other"),
        ({"model": "lexicon-3", "method": {"model": "tiny"}}, "other"),
    ]
    assert [maker for _, maker in cases] == [
        labeller(*REVIEWS, insights=insights).maker for insights, _ in cases
    ]
