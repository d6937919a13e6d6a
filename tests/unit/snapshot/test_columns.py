"""The columns on disk, and the position sets of mentions (data-model.md 3, performance.md 3)."""

import datetime
from itertools import accumulate
from pathlib import Path

import pytest
from pyroaring import BitMap

from reviewsd.domain.naming import Ambiguous, mention_key
from reviewsd.snapshot import layout as names
from reviewsd.snapshot.position_sets import SERVICE, SOURCE, TECHNICIAN
from tests.support.columns import (
    Data,
    Entity,
    Insights,
    compiled,
    members,
    mentioned,
    open_columns,
    open_sets,
    opened,
    review,
)

# -- mentions: reviews "a" to "f"; "b" has spellings of its own

SAM: Entity = {"id": "sam", "name": "Sam Jones", "label": "Sammy"}
LISTED: Entity = {**SAM, "review_ids": ["d", "gone"]}
EXAMPLE: Entity = {**SAM, "example_review_ids": ["f"]}
BOTH: Entity = {**SAM, "review_ids": ["d"], "example_review_ids": ["d", "e"]}
NAMESAKE: Entity = {"label": "SAM", "review_ids": ["a"]}

MENTIONS: list[tuple[str, str, list[str | Entity], list[str], str]] = [
    # rule 1: the key, trimmed and casefolded, is the id, name or label of an entity
    ("by id", "sam", [SAM], ["Sammy"], "b"),
    ("by name", "sam jones", [SAM], ["sam"], "b"),
    ("by label", "SAMMY", [SAM], ["Sam Jones"], "b"),
    ("trimmed", " \tSam\n", [SAM], ["sam"], "b"),
    ("casefolded", "STRASSE", ["Straße"], ["straße"], "b"),
    ("not only lower case", "İ", ["i\u0307"], ["İ"], "b"),
    ("by derived id", "a-c", ["A/C"], ["A/C"], "b"),
    ("by derived label", "x", [{"id": "x"}], ["X"], "b"),
    ("not by a part", "sam j", [SAM], ["sam"], ""),
    ("not by an empty id", " ", ["★"], ["★"], ""),
    # rule 2: the review spells the key or a name of the entity, or the entity lists the review
    ("spelled by nobody's name", "BOB", [SAM], ["Bob"], "b"),
    ("spelled otherwise", "sam", [{"id": "sam"}], [" SAM "], "b"),
    ("spelled among others", "sam", [SAM], ["Bob", "Sammy", "sam"], "b"),
    ("spelled without entities", "sam", [], ["Sam"], "b"),
    ("listed", "sam", [LISTED], [], "d"),
    ("an example", "sammy", [EXAMPLE], ["Bob"], "f"),
    ("all of it", "sam jones", [BOTH], ["sam"], "edb"),
    ("two of one name", "sam", [LISTED, NAMESAKE], [], "da"),
    ("one of two", "sammy", [LISTED, NAMESAKE], [], "d"),
    ("one of two, spelled alike", "sammy", [LISTED, NAMESAKE], ["sam"], "db"),
    # rule 3: nothing resolved and nothing listed is no match
    ("unknown", "nobody", [BOTH], ["sam"], ""),
    ("known, but in no review", "sam", [SAM], ["Bob"], ""),
    ("no insights", "sam", [], [], ""),
]


@pytest.mark.parametrize(("kind", "field"), [("technicians", TECHNICIAN), ("services", SERVICE)])
@pytest.mark.parametrize(
    ("name", "entities", "spelled", "expected"),
    [row[1:] for row in MENTIONS],
    ids=[row[0] for row in MENTIONS],
)
def test_names_find_the_reviews_that_mention_them(
    kind: str,
    field: str,
    name: str,
    entities: list[str | Entity],
    spelled: list[str],
    expected: str,
) -> None:
    insights: Insights = {"entities": {kind: entities}, "per_review": {"b": {kind: spelled}}}
    assert set(expected) == mentioned(insights, kind, name) - {"gone"}
    with opened(Data([review(review_id) for review_id in "cafebd"], insights)) as columns:
        numbers = columns.sets.get(field, mention_key(name))
        assert not isinstance(numbers, Ambiguous)
        assert expected == "".join(
            "fedcba"[at] for at in (members(numbers, columns) if numbers else ())
        )


def test_entities_that_share_a_name_share_its_set(tmp_path: Path) -> None:
    """Also if each has an id of its own, or examples, in some of the same reviews."""
    reviews = "abcdef"
    sizes = []
    for count in (2, 50):
        entities: list[str | Entity] = [
            {"id": f"sam-{number}", "name": "Sam", "example_review_ids": [reviews[number % 6]]}
            for number in range(count)
        ]
        spelled = {
            name: {"technicians": ["Sam", f"sam-{at}", "SAM"]} for at, name in enumerate(reviews)
        }
        insights: Insights = {"entities": {"technicians": entities}, "per_review": spelled}
        folder = tmp_path / str(count)
        manifest = compiled(folder, [review(name) for name in reviews], insights)
        shared = open_sets(folder).get(TECHNICIAN, f"sam-{count - 1}")
        assert shared is not None
        assert [*range(6)] == members(shared, open_columns(folder, manifest))
        sizes.append((folder / names.SET_OFFSETS).stat().st_size)
    assert sizes[1] <= sizes[0]


OTHERS: list[Insights] = [
    {"entities": {"services": [BOTH]}, "per_review": {"b": {"services": ["sam"]}}},
    {"entities": {"problems": [BOTH]}, "per_review": {"b": {"problems": ["sam"]}}},
    {"entities": {"service_areas": [BOTH]}, "per_review": {"b": {"service_areas": ["sam"]}}},
    {"per_review": {"b": {"topics": ["sam"]}, "gone": {"technicians": ["sam"]}}},
]


@pytest.mark.parametrize("insights", OTHERS)
def test_other_lists_have_no_filter(insights: Insights) -> None:
    """Filters read the lists of rule 3 only (data-model.md 3)."""
    with opened(Data([review(name) for name in "abcdef"], insights)) as columns:
        assert columns.sets.get(TECHNICIAN, "sam") is None


# -- files


def test_text_is_casefolded_and_ends_with_a_separator(tmp_path: Path) -> None:
    reviews = [
        review("a", date="2025-03-01", text="Straße"),
        review("b", date="2025-03-02"),
        review("c", date="2025-03-03", text=""),
        review("d", date="2025-03-03", text="İ 😀"),
    ]
    columns = open_columns(tmp_path / "folder", compiled(tmp_path / "folder", reviews))
    assert [3, 3, 2, 1] == [datetime.date.fromordinal(-day).day for day in columns.days]
    expected = ["i\u0307 😀".encode(), b"", b"", b"strasse"]
    content = (tmp_path / "folder" / names.TEXTS).read_bytes()
    assert b"".join(text + b"\xff" for text in expected) == content
    offsets = memoryview((tmp_path / "folder" / names.TEXT_OFFSETS).read_bytes()).cast("Q")
    assert [*accumulate((len(text) + 1 for text in expected), initial=0)] == offsets.tolist()


def test_sources_are_listed_by_frequency_in_their_first_spelling(tmp_path: Path) -> None:
    """Agents and pages offer them."""
    sources = ["yelp", "Google", "google", "GOOGLE ", "a", "Yelp"]
    reviews = [review(f"{at}") | {"source": source} for at, source in enumerate(sources[::-1])]
    compiled(tmp_path / "folder", reviews)
    sets = open_sets(tmp_path / "folder")
    assert b'"Google","yelp","a"' == bytes(sets.run(sets.rows(SOURCE)))
    assert BitMap([1, 2, 3]) == sets.get(SOURCE, "google")
