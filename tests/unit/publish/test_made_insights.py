"""Insights made in the publishing process (insights.md 1 and 2)."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from reviewsd.analysis import analysing
from reviewsd.analysis.analysing import Made
from reviewsd.publish import made_insights
from reviewsd.publish.job import Outcome, Published, Refused, Unchanged
from reviewsd.publish.labels_file import LabelsReader
from reviewsd.snapshot import layout
from reviewsd.snapshot.layout import InsightsOrigin
from tests.support import publishing
from tests.support.columns import Review, review
from tests.support.publishing import NOW, House

LATER = NOW + 60

REVIEWS = [
    review("a", text="Priya was on time and friendly. The price was fair.", rating=5),
    review("b", text="Nobody showed up, and they never called back.", rating=1),
    review("c", text="", rating=4),
    review("d", text="Priya was on time and friendly. The price was fair.", rating=5),
]


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def publish(house: House, *reviews: Review, now: float = NOW) -> Outcome:
    house.write(*reviews)
    return house.publish(now, insights="auto")


def insights(house: House) -> dict[str, Any]:
    made: dict[str, Any] = json.loads((house.current / "insights.json").read_bytes())
    return made


def analysed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many texts each later publication in this process has read."""
    counts: list[int] = []
    analyse = analysing.analyse

    def counted(*arguments: Any, **named: Any) -> Made:  # noqa: ANN401  whatever it takes
        made = analyse(*arguments, **named)
        counts.append(made.analysed)
        return made

    monkeypatch.setattr(made_insights, "analyse", counted)
    return counts


def test_reviews_alone_have_insights(house: House) -> None:
    assert isinstance(publish(house, *REVIEWS), Published)
    made = insights(house)
    assert [each["id"] for each in REVIEWS] == sorted(made["per_review"])
    assert ("lexicon-1", 4) == (made["model"], made["review_count"])
    served = json.loads((house.current / "reviews.json").read_bytes())
    assert served["updated_at"] == made["generated_at"]
    origin = InsightsOrigin(made=True, model="lexicon-1", reviews=4)
    assert origin == house.manifest().insights_origin
    house.check_tidy()


def test_a_given_file_is_served_and_nothing_is_made(house: House) -> None:
    given = {"model": "gpt", "generated_at": "2026-11-02T00:00:00Z", "per_review": {"a": {}}}
    house.write(*REVIEWS, insights=given)
    house.publish(insights="auto")
    assert {"a": {}} == insights(house)["per_review"]
    origin = InsightsOrigin(
        made=False, model="gpt", reviews=1, generated_at="2026-11-02T00:00:00+00:00"
    )
    assert origin == house.manifest().insights_origin
    house.check_tidy()


def test_without_being_asked_nothing_is_made(house: House) -> None:
    house.write(*REVIEWS)
    house.publish()
    assert (False, None) == (house.manifest().insights, house.manifest().insights_origin)


def test_only_what_has_changed_is_analysed(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = analysed(monkeypatch)
    publish(house, *REVIEWS)
    publish(house, *REVIEWS, review("e", text="Great work.", rating=5), now=LATER)
    publish(house, *REVIEWS, review("e", text="Great work.", rating=2), now=LATER)
    (house.data / "insights.yaml").write_text(
        "technicians: [{name: Priya Raman, aliases: [Priya]}]"
    )
    house.publish(LATER, insights="auto")
    assert [2, 1, 1, 3] == counts


def test_settings_republish_and_an_edit_that_says_the_same_does_not(house: House) -> None:
    publish(house, *REVIEWS)
    settings = house.data / "insights.yaml"
    settings.write_text("technicians: [{name: Priya Raman, aliases: [Priya]}]")
    assert isinstance(house.publish(LATER, insights="auto"), Published)
    (person,) = insights(house)["entities"]["technicians"]
    assert ("priya-raman", 2) == (person["id"], person["mention_count"])
    settings.write_text("# who\ntechnicians: [{name: Priya Raman, aliases: [Priya]}]")
    assert isinstance(house.publish(LATER, insights="auto"), Unchanged)
    assert house.seen().signature.settings is not None
    house.check_tidy()


def test_broken_settings_are_refused_with_all_faults_and_places(house: House) -> None:
    publish(house, *REVIEWS)
    before = house.manifest()
    (house.data / "insights.yaml").write_text("technician:\n- name: Priya\nlanguage: 3\n")
    (house.data / "reviews.json").write_text('{"reviews":[]}')
    for mode in ("auto", "file"):
        refused = house.publish(LATER, insights=mode)
        assert refused == Refused(
            (
                'insights.yaml:1:1: technician: unknown key "technician"; did you mean "technicians"?',
                "insights.yaml:3:11: language: expected string or null, got integer 3",
                "reviews.json: $.business: missing",
            )
        )
    assert before == house.manifest()


@pytest.mark.parametrize("damage", [b"", b"x", b"\xff" * 64, None])
def test_damaged_labels_are_made_again(
    house: House, monkeypatch: pytest.MonkeyPatch, damage: bytes | None
) -> None:
    counts = analysed(monkeypatch)
    publish(house, *REVIEWS)
    labels = house.current / layout.LABELS
    content = labels.read_bytes()
    # None: the columns are whole, and what they point at is not
    blob, columns = content[:-56], content[-56:]
    damaged = b"\xc1" * len(blob) + columns if damage is None else damage
    labels.write_bytes(damaged)
    publish(house, *REVIEWS[::-1], review("e", text="Great work.", rating=5), now=LATER)
    assert [2, 3] == counts
    assert LabelsReader(house.current / layout.LABELS).find(0, 0) is None


@pytest.mark.parametrize("error", [ZeroDivisionError("ours"), MemoryError()])
def test_a_fault_of_the_analyser_leaves_the_reviews_served(
    house: House, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: object, **__: object) -> object:
        raise error

    monkeypatch.setattr(made_insights, "analyse", fail)
    outcome = publish(house, *REVIEWS)
    assert isinstance(outcome, Published)
    manifest = house.manifest()
    assert manifest.insights_origin is not None
    if isinstance(error, MemoryError):
        reason = "they take more memory than there is"
    else:
        reason = "ZeroDivisionError: ours"
        assert "in fail" in outcome.insights_fault
    assert (False, reason) == (manifest.insights, manifest.insights_origin.fault)
    assert not (house.current / "insights.json").exists()
    house.check_tidy()


def test_a_full_disk_is_no_fault_of_the_analyser(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> object:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(made_insights, "analyse", fail)
    with pytest.raises(OSError, match="No space"):
        publish(house, *REVIEWS)


def test_other_rules_want_another_snapshot(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    order = house.job(insights="auto").order
    before = order.build_key("1")
    assert before != house.job(insights="file").order.build_key("1")
    monkeypatch.setattr("reviewsd.publish.job.RULES", "lexicon-2")
    assert before != order.build_key("1")


@pytest.mark.parametrize("seed", ["1", "2"])
def test_the_same_bytes_in_any_process(house: House, tmp_path: Path, seed: str) -> None:
    """Whatever the hash seed, and whether labels were kept or not."""
    publish(house, *REVIEWS)
    publish(house, *REVIEWS, review("e", text="Great work.", rating=5), now=LATER)
    (tmp_path / "other").mkdir()
    other = House(tmp_path / "other")
    other.write(*REVIEWS, review("e", text="Great work.", rating=5))
    subprocess.run(
        [sys.executable, "-m", "reviewsd.publish.publication"],
        cwd=publishing.ROOT,
        input=msgspec.json.encode(other.job(insights="auto")),
        check=True,
        capture_output=True,
        env={"PYTHONHASHSEED": seed},
    )
    assert house.manifest() == other.manifest()
    labels = [(each.current / layout.LABELS).read_bytes() for each in (house, other)]
    assert labels[0] == labels[1]
