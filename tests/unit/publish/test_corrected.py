"""Nothing of a withheld review is published, whatever the file and the corrections (corrections.md)."""

import json
import re
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.api.texts import merge_key
from reviewsd.publish.publication import publish
from reviewsd.snapshot import layout
from tests.support.columns import Review, review
from tests.support.examples import examples
from tests.support.publishing import Directories, in_memory

AT = "2026-11-24T09:12:00Z"
ACTIONS = ("hide", "hide-text", "anonymize", "restore", "erase", "nothing")


@pytest.fixture
def directories(tmp_path: Path) -> Directories:
    return Directories(tmp_path)


def written(review_id: str, **members: object) -> Review:
    return cast("Review", review(review_id) | members)


def correct(directories: Directories, actions: dict[str, str], reason: str = "spam") -> None:
    """Write corrections.json."""
    reviews = {
        review_id: {"action": action, "reason": reason, "at": AT}
        for review_id, action in actions.items()
        if action not in {"erase", "nothing"}
    }
    erased = {
        merge_key(review_id): {"at": AT}
        for review_id, action in actions.items()
        if action == "erase"
    }
    content = {"version": 1, "reviews": reviews, "key": "k", "erased": erased}
    (directories.data / "corrections.json").write_text(json.dumps(content))


def document(directories: Directories, name: str = "reviews.json") -> Any:
    return json.loads((directories.current / name).read_bytes())


def test_every_action_shows_what_it_leaves(directories: Directories) -> None:
    reviews = [
        written(name, text=f"words of {name}", author=f"Author {name}", title="unknown")
        for name in ("h", "t", "a", "r", "e", "n")
    ]
    directories.write(*reviews)
    correct(directories, dict(zip("htaren", ACTIONS, strict=True)))
    assert directories.publish().result == "published"
    served = document(directories)
    by_id = {item["id"]: item for item in served["reviews"]}
    assert {"t", "a", "r", "n"} == by_id.keys()
    assert (None, "Author t") == (by_id["t"]["text"], by_id["t"]["author"])
    assert ("words of a", "Anonymous") == (by_id["a"]["text"], by_id["a"]["author"])
    assert None is by_id["a"]["source_url"]
    assert {"t": False, "a": False, "r": True, "n": True} == {
        name: "title" in item for name, item in by_id.items()
    }
    assert {"t": AT, "a": AT, "r": AT, "n": None} == {
        name: item.get("changed_at") for name, item in by_id.items()
    }
    assert {"count": 2, "reasons": {"spam": 2}} == served["withheld"]
    assert [{"id": "h", "at": AT}, {"id": "e", "at": AT}] == served["removed"]
    assert AT == served["updated_at"]
    assert 4 == served["aggregate_rating"]["review_count"]


def test_without_corrections_nothing_is_told_of_them(directories: Directories) -> None:
    directories.write(review("a"))
    directories.publish()
    assert ["business", "aggregate_rating", "updated_at", "reviews"] == list(document(directories))
    plain = (directories.current / "reviews.json").read_bytes()
    correct(directories, {})
    assert directories.publish().result == "unchanged"
    assert plain == (directories.current / "reviews.json").read_bytes()


def test_removed_reviews_of_file_are_told_until_they_come_back(directories: Directories) -> None:
    removed = [{"id": "x", "at": AT}, {"id": "a", "at": AT}]
    content = {"business": {"name": "Acme"}, "reviews": [review("a")], "removed": removed}
    (directories.data / "reviews.json").write_text(json.dumps(content))
    directories.publish()
    assert removed[:1] == document(directories)["removed"]
    feed = (directories.current / "feed.xml").read_text()
    (deleted,) = re.findall("<at:deleted-entry[^>]*>", feed)
    assert f'when="{AT}"' in deleted
    assert ":review:x" in deleted
    gone_reviews = json.loads((directories.current / layout.GONE).read_bytes())
    assert {"ids": ["x"], "keys": []} == gone_reviews


def test_edited_review_and_copy_of_another_tool_stay_hidden(directories: Directories) -> None:
    first = "01J9ZK3V5Q8R2N7M4T6W1X0YAB"
    edited = "01K0000000" + first[10:]
    directories.write(review(edited, text="new words"), review("b"))
    correct(directories, {first: "hide"})
    directories.publish()
    assert ["b"] == [item["id"] for item in document(directories)["reviews"]]


def test_each_stage_of_progress_ends_at_its_total(directories: Directories) -> None:
    insights = {"per_review": {"a": {"sentiment": "positive"}}}
    directories.write(review("a"), review("b"), insights=insights)
    correct(directories, {"b": "anonymize"})
    steps: dict[str, tuple[int, int]] = {}  # the last of each stage
    publish(directories.job(), lambda stage, done, total: steps.update({stage: (done, total)}))
    assert {"validating insights", "correcting", "indexing", "syncing"} <= steps.keys()
    assert {stage: (total, total) for stage, (_, total) in steps.items()} == steps


# -- refused


FAULTY = [
    ('{"version": 1, "rev', "invalid JSON"),
    ('{"version": 9}', "$.version: 9 is of a later reviewsd"),
    (None, "corrections.json: missing, though you have decided about reviews"),
]


@pytest.mark.parametrize(("text", "problem"), FAULTY)
def test_broken_or_missing_corrections_keep_the_last_snapshot(
    directories: Directories, text: str | None, problem: str
) -> None:
    """No review is shown again because a file cannot be read."""
    directories.write(review("a", text="secret"), review("b"))
    correct(directories, {"a": "hide"})
    directories.publish()
    before = directories.manifest()
    directories.write(review("a", text="secret"), review("b"), review("c"))
    path = directories.data / "corrections.json"
    path.unlink() if text is None else path.write_text(text)
    for _ in range(2):
        outcome = directories.publish()
        assert outcome.result == "refused"
        assert problem in outcome.problems[0]
        assert before == directories.manifest()
    outcome = directories.publish(lifted=frozenset({"corrections"}))
    assert outcome.result == ("published" if text is None else "refused")
    assert directories.publish(lifted=frozenset({"shrink"})).result in {"refused", "unchanged"}


def test_lost_corrections_are_refused_before_any_publication(directories: Directories) -> None:
    """Hidden reviews would be shown by a copy of the directory, and by a new server."""
    directories.write(review("a", text="secret"))
    directories.publish()
    (directories.data / ".reviewsctl").mkdir()
    log = directories.data / ".reviewsctl/corrections.log"
    log.touch()
    refused = directories.publish()
    assert "refused" == refused.result
    assert "move .reviewsctl/corrections.log away" in refused.problems[0]
    log.unlink()
    assert "unchanged" == directories.publish().result


def test_accepted_loss_of_corrections_stays_accepted(directories: Directories) -> None:
    directories.write(review("a"))
    (directories.data / ".reviewsctl").mkdir()
    (directories.data / ".reviewsctl/corrections.log").touch()
    assert "refused" == directories.publish().result
    assert "published" == directories.publish(lifted=frozenset({"corrections"})).result
    directories.write(review("a"), review("b"))
    assert "published" == directories.publish().result


def test_hidden_reviews_are_not_lost_reviews(directories: Directories) -> None:
    """``data.max_shrink`` looks at the file, not at the corrections."""
    directories.write(*(review(str(number)) for number in range(10)))
    directories.publish()
    correct(directories, {str(number): "hide" for number in range(9)})
    assert directories.publish(max_shrink=0.1).result == "published"
    assert 1 == directories.manifest().review_count


# -- a property


def words(number: int) -> str:
    """Words that no other review has."""
    return f"Zebra{number}alpha und Zebra{number}beta"


@st.composite
def worlds(draw: st.DrawFn) -> tuple[list[Review], dict[str, str]]:
    count = draw(st.integers(1, 8))
    reviews = [
        written(
            f"id-{number}",
            text=words(number),
            author=f"Author{number}x Surname{number}x",
            rating=draw(st.integers(1, 5)),
            owner_reply=draw(
                st.sampled_from([None, {"text": f"Reply{number}x", "date": "2026-01-01"}])
            ),
        )
        for number in range(count)
    ]
    actions = {f"id-{number}": draw(st.sampled_from(ACTIONS)) for number in range(count)}
    return reviews, actions


def given_insights(reviews: list[Review]) -> dict[str, object]:
    """Return insights of another program about all reviews."""
    phrases = [item["text"] for item in reviews]
    ids = [item["id"] for item in reviews]
    aspect = {"id": "a", "label": "A", "top_phrases": phrases, "example_review_ids": ids}
    return {
        "aspects": [aspect],
        "summary": phrases[0],
        "faq": [{"question": "Who?", "answer": f"{item['author']} says"} for item in reviews],
        "per_review": {review_id: {"sentiment": "positive"} for review_id in ids},
    }


@examples(25)
@given(worlds(), st.booleans())
def test_no_byte_of_a_snapshot_has_what_is_withheld(
    world: tuple[list[Review], dict[str, str]], is_made: bool
) -> None:
    """Whether insights are made or given, and whether all was shown before or not."""
    reviews, actions = world
    with in_memory() as place:
        directories = Directories(place)
        directories.write(*reviews, insights=None if is_made else given_insights(reviews))
        insights = "auto" if is_made else "file"
        directories.publish(insights=insights)
        correct(directories, actions)
        assert directories.publish(insights=insights).result != "refused"
        everything = b"".join(
            item.read_bytes() for item in directories.current.resolve().iterdir()
        ).lower()
        for number, item in enumerate(reviews):
            action = actions[item["id"]]
            text_shown = f"zebra{number}alpha".encode() in everything
            name_shown = f"author{number}x".encode() in everything
            assert text_shown == (action in {"anonymize", "restore", "nothing"})
            assert name_shown == (action in {"hide-text", "restore", "nothing"})
