"""Insights made in the publishing process (insights.md 1 and 2)."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from reviewsd.analysis.analysing import Analyser
from reviewsd.api.jobs import InsightsOrigin
from reviewsd.publish import made_insights
from reviewsd.publish.block_file import BlocksReader
from reviewsd.publish.messages import Outcome, Published, Refused, Unchanged
from reviewsd.snapshot import layout
from tests.support import publishing
from tests.support.columns import Review, review
from tests.support.publishing import NOW, Directories

LATER = NOW + 60

REVIEWS = [
    review("a", text="Priya was on time and friendly. The price was fair.", rating=5),
    review("b", text="Nobody showed up, and they never called back.", rating=1),
    review("c", text="", rating=4),
    review("d", text="Priya was on time and friendly. The price was fair.", rating=5),
]


@pytest.fixture
def directories(tmp_path: Path) -> Directories:
    return Directories(tmp_path)


def publish(directories: Directories, *reviews: Review, now: float = NOW) -> Outcome:
    directories.write(*reviews)
    return directories.publish(now, insights="auto")


def insights(directories: Directories) -> dict[str, Any]:
    results: dict[str, Any] = json.loads((directories.current / "insights.json").read_bytes())
    return results


def analysers(monkeypatch: pytest.MonkeyPatch) -> list[Analyser]:
    """Those of each later publication in this process."""
    results: list[Analyser] = []

    def make(*arguments: Any) -> Analyser:  # noqa: ANN401  whatever it takes
        results.append(Analyser(*arguments))
        return results[-1]

    monkeypatch.setattr(made_insights, "Analyser", make)
    return results


def analysed(analysers: list[Analyser]) -> list[int]:
    """Return the number of texts that each publication analysed."""
    return [item.analysed for item in analysers]


def test_reviews_alone_have_insights(directories: Directories) -> None:
    assert isinstance(publish(directories, *REVIEWS), Published)
    results = insights(directories)
    assert [item["id"] for item in REVIEWS] == sorted(results["per_review"])
    assert ("lexicon-3", 4) == (results["model"], results["review_count"])
    served = json.loads((directories.current / "reviews.json").read_bytes())
    assert served["updated_at"] == results["generated_at"]
    origin = InsightsOrigin(made=True, model="lexicon-3", reviews=4)
    assert origin == directories.manifest().insights_origin
    directories.check_tidy()


def test_a_given_file_is_served_and_nothing_is_made(directories: Directories) -> None:
    given = {"model": "gpt", "generated_at": "2026-11-02T00:00:00Z", "per_review": {"a": {}}}
    directories.write(*REVIEWS, insights=given)
    directories.publish(insights="auto")
    assert {"a": {}} == insights(directories)["per_review"]
    origin = InsightsOrigin(
        made=False, model="gpt", reviews=1, generated_at="2026-11-02T00:00:00+00:00"
    )
    assert origin == directories.manifest().insights_origin
    directories.check_tidy()


def test_without_being_asked_nothing_is_made(directories: Directories) -> None:
    directories.write(*REVIEWS)
    directories.publish()
    assert (False, None) == (
        directories.manifest().insights,
        directories.manifest().insights_origin,
    )


def test_only_what_has_changed_is_analysed(
    directories: Directories, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = analysers(monkeypatch)
    publish(directories, *REVIEWS)
    publish(directories, *REVIEWS, review("e", text="Great work.", rating=5), now=LATER)
    publish(directories, *REVIEWS, review("e", text="Great work.", rating=2), now=LATER)
    (directories.data / "insights.yaml").write_text(
        "technicians: [{name: Priya Raman, aliases: [Priya]}]"
    )
    directories.publish(LATER, insights="auto")
    assert [2, 1, 1, 3] == analysed(results)


def test_settings_republish_and_an_edit_that_says_the_same_does_not(
    directories: Directories,
) -> None:
    publish(directories, *REVIEWS)
    settings = directories.data / "insights.yaml"
    settings.write_text("technicians: [{name: Priya Raman, aliases: [Priya]}]")
    assert isinstance(directories.publish(LATER, insights="auto"), Published)
    (person,) = insights(directories)["entities"]["technicians"]
    assert ("priya-raman", 2) == (person["id"], person["mention_count"])
    settings.write_text("# who\ntechnicians: [{name: Priya Raman, aliases: [Priya]}]")
    assert isinstance(directories.publish(LATER, insights="auto"), Unchanged)
    assert directories.seen().fingerprint.settings is not None
    directories.check_tidy()


def test_broken_settings_are_refused_with_all_faults_and_places(directories: Directories) -> None:
    publish(directories, *REVIEWS)
    before = directories.manifest()
    (directories.data / "insights.yaml").write_text("technician:\n- name: Priya\nlanguage: 3\n")
    (directories.data / "reviews.json").write_text('{"reviews":[]}')
    for mode in ("auto", "file"):
        refused = directories.publish(LATER, insights=mode)
        assert refused == Refused(
            (
                'insights.yaml:1:1: technician: unknown key "technician"; did you mean "technicians"?',
                "insights.yaml:3:11: language: expected string or null, got integer 3",
                "reviews.json: $.business: missing",
            )
        )
    assert before == directories.manifest()


@pytest.mark.parametrize("damage", [b"", b"x", b"\xff" * 64, None])
def test_damaged_blocks_are_made_again(
    directories: Directories, monkeypatch: pytest.MonkeyPatch, damage: bytes | None
) -> None:
    results = analysers(monkeypatch)
    publish(directories, *REVIEWS)
    blocks_file = directories.current / layout.BLOCKS
    content = blocks_file.read_bytes()
    size = int.from_bytes(content[-8:], "little")
    # None: the end is whole, and what it points at is not
    blocks_file.write_bytes(b"\xc1" * size + content[size:] if damage is None else damage)
    publish(directories, *REVIEWS[::-1], review("e", text="Great work.", rating=5), now=LATER)
    assert [2, 3] == analysed(results)
    assert BlocksReader(directories.current / layout.BLOCKS).find(b"") is None


@pytest.mark.parametrize("error", [ZeroDivisionError("ours"), MemoryError()])
def test_a_fault_of_the_analyser_leaves_the_reviews_served(
    directories: Directories, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: object, **__: object) -> object:
        raise error

    monkeypatch.setattr(made_insights, "Analyser", fail)
    outcome = publish(directories, *REVIEWS)
    assert isinstance(outcome, Published)
    manifest = directories.manifest()
    assert manifest.insights_origin is not None
    if isinstance(error, MemoryError):
        reason = "they take more memory than there is"
    else:
        reason = "ZeroDivisionError: ours"
        assert "in fail" in outcome.insights_fault
    assert (False, reason) == (manifest.insights, manifest.insights_origin.fault)
    assert not (directories.current / "insights.json").exists()
    directories.check_tidy()


def test_a_full_disk_is_no_fault_of_the_analyser(
    directories: Directories, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> object:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(made_insights, "Analyser", fail)
    with pytest.raises(OSError, match="No space"):
        publish(directories, *REVIEWS)


def test_changed_rules_publish_again(
    directories: Directories, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = directories.job(insights="auto").order
    before = order.build_key("1")
    assert before != directories.job(insights="file").order.build_key("1")
    monkeypatch.setattr("reviewsd.publish.messages.RULES", "lexicon-0")
    assert before != order.build_key("1")


@pytest.mark.processes
def test_the_same_bytes_in_any_process(directories: Directories, tmp_path: Path) -> None:
    """Whatever the hash seed, and whether labels were kept or not."""
    publish(directories, *REVIEWS)
    publish(directories, *REVIEWS, review("e", text="Great work.", rating=5), now=LATER)
    (tmp_path / "other").mkdir()
    second = Directories(tmp_path / "other")
    second.write(*REVIEWS, review("e", text="Great work.", rating=5))
    subprocess.run(
        [sys.executable, "-m", "reviewsd.publish.publication"],
        cwd=publishing.ROOT,
        input=msgspec.json.encode(second.job(insights="auto")),
        check=True,
        capture_output=True,
        env={"PYTHONHASHSEED": "1"},
    )
    assert directories.manifest() == second.manifest()
    blocks_file = [(item.current / layout.BLOCKS).read_bytes() for item in (directories, second)]
    assert blocks_file[0] == blocks_file[1]
