"""The lines that reviewsctl and reviewsd exchange about a model's labels (insights.md 7)."""

import io
import json
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from reviewsd.analysis.settings import InsightSettings
from reviewsd.app.insights import Folder
from reviewsd.app.labeller import BATCH_BYTES, MAX_TEXT, Labeller
from reviewsd.domain.dataset import load
from tests.support.columns import review


def labeller(*reviews: Any, insights: object = None, batch: int = 2) -> Labeller:  # noqa: ANN401
    document = {"business": {"name": "B"}, "reviews": reviews}
    given = None if insights is None else json.dumps(insights).encode()
    dataset = load(json.dumps(document).encode(), given)
    folder = Folder(place=Path("/data"), mode="auto", dataset=dataset, settings=InsightSettings())
    return Labeller(folder, "tiny", batch)


def spoken(session: Labeller, *commands: object) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = []

    def tell(document: Struct) -> None:
        told.append(json.loads(msgspec.json.encode(document)))

    session.serve([json.dumps(each).encode() for each in commands], tell)
    return told


def answer(*phrases: str) -> dict[str, str]:
    entries = [
        {
            "id": str(number),
            "aspects": [{"id": "pricing", "sentiment": "positive", "phrase": phrase}],
        }
        for number, phrase in enumerate(phrases, start=1)
    ]
    return {"type": "answer", "text": json.dumps({"reviews": entries})}


NEXT = {"type": "next"}
REVIEWS = [
    review("a", date="2026-01-03", text="A fair price."),
    review("b", date="2026-01-02", text="A high price.", rating=2),
    review("c", date="2026-01-01", text="A fair price."),
    review("d", text=None),
    review("e", date="2025-01-01", text="Who knows."),
]


def test_a_text_is_asked_for_once_and_counts_as_often_as_it_is_there() -> None:
    session = labeller(*REVIEWS)
    plan = session.plan(2)
    assert (5, 1, 0, 2, 1, 1) == (
        plan.reviews,
        plan.wordless,
        plan.known,
        plan.wanted,
        plan.left,
        plan.batches,
    )
    batch, verdict, end, result = spoken(
        session, NEXT, answer("fair price", "high price"), NEXT, {"type": "end"}
    )
    assert (2, 0) == (batch["reviews"], end["reviews"])
    assert not verdict["by_rules"]
    assert (3, 1) == (result["by_model"], result["by_rules"])
    (pricing,) = [e for e in result["insights"]["aspects"] if e["id"] == "pricing"]
    assert (3, 3) == (pricing["mention_count"], pricing["positive_count"])
    assert ["tiny", "lexicon-2"] == [
        result["insights"]["method"][name] for name in ("model", "rules")
    ]


def test_what_an_earlier_run_has_is_not_asked_for() -> None:
    """Also what failed; but a record that was edited is checked like an answer."""
    session = labeller(*REVIEWS)
    session.plan(None)
    wrong = answer("cheap", "cheap")
    _, first, verdict, _, last = spoken(session, NEXT, wrong, wrong, NEXT, answer("Who knows"))
    assert (None, True) == (first["record"], verdict["by_rules"])
    record = json.dumps(last["record"]).replace("Who knows", "Cheap!")
    later = labeller(*REVIEWS)
    later.recall([json.dumps(verdict["record"]).encode(), record.encode(), b"{", b"{}", b"[1]"])
    plan = later.plan(None)
    assert (3, 0) == (plan.known, plan.wanted)
    (result,) = spoken(later, {"type": "end"})
    assert (1, 3) == (result["by_model"], result["by_rules"])
    entry = result["insights"]["per_review"]["e"]
    assert [] == entry["aspects"]


def test_batches_have_an_end_in_bytes() -> None:
    """Texts have one too: one of a megabyte would be too much for any model."""
    long = [review(f"{n}", text=f"{n} " + "x" * 1_000_000) for n in range(4)]
    plan = labeller(*long, batch=20).plan(None)
    assert 2 == plan.batches
    assert 4 * MAX_TEXT < plan.bytes < 3 * BATCH_BYTES
    assert 2 == labeller(*REVIEWS, batch=2).plan(None).batches


def test_whose_file_it_is() -> None:
    made = {"model": "lexicon-2", "method": {"rules": "lexicon-2"}}
    cases = [
        (None, "none"),
        (made, "rules"),
        ({"model": "mine"}, "other"),
        ({}, "other"),
        ({"model": "lexicon-2", "method": {"model": "tiny"}}, "other"),
    ]
    assert [file for _, file in cases] == [
        labeller(*REVIEWS, insights=given).place().file for given, _ in cases
    ]


def test_whoever_is_gone_asks_no_more() -> None:
    session = labeller(*REVIEWS)
    session.recall(iter(lambda: io.BytesIO().readline().strip(), b""))
    assert [] == spoken(session)
