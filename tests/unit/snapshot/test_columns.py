"""The columns as they lie on disk, and who is mentioned where (data-model.md 3, performance.md 3)."""

import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewsd.domain.naming import Ambiguous, mention_key
from reviewsd.snapshot import columns as writing
from reviewsd.snapshot import layout as names
from reviewsd.snapshot.columns import ColumnsWriter, set_key
from reviewsd.snapshot.position_sets import FREQUENT, SERVICE, TECHNICIAN, Bitmap, PostingList
from tests.support.columns import (
    Data,
    Entity,
    Insights,
    compiled,
    members,
    mentioned,
    opened,
    position_sets,
    review,
)

# -- who is mentioned: reviews "a" to "f", of which "b" spells some names itself

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
    ("asked", "entities", "spelled", "expected"),
    [row[1:] for row in MENTIONS],
    ids=[row[0] for row in MENTIONS],
)
def test_who_is_mentioned(
    kind: str,
    field: str,
    asked: str,
    entities: list[str | Entity],
    spelled: list[str],
    expected: str,
) -> None:
    insights: Insights = {"entities": {kind: entities}, "per_review": {"b": {kind: spelled}}}
    assert set(expected) == mentioned(insights, kind, asked) - {"gone"}
    with opened(Data([review(name) for name in "cafebd"], insights)) as columns:
        found = columns.positions(field, mention_key(asked))
        assert not isinstance(found, Ambiguous)
        assert expected == "".join("fedcba"[at] for at in (members(found, 6) if found else ()))


def test_entities_that_share_a_name_share_its_set(tmp_path: Path) -> None:
    """Also where each is named by an id of its own, or has examples, in some of the same reviews."""
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
        compiled(folder, [review(name) for name in reviews], insights)
        found = position_sets(folder)[set_key(TECHNICIAN, f"sam-{count - 1}")]
        assert not isinstance(found, Ambiguous)
        assert [*range(6)] == members(found, 6)
        sizes.append((folder / names.SETS).stat().st_size)
    assert sizes[1] <= sizes[0]


OTHERS: list[Insights] = [
    {"entities": {"services": [BOTH]}, "per_review": {"b": {"services": ["sam"]}}},
    {"entities": {"problems": [BOTH]}, "per_review": {"b": {"problems": ["sam"]}}},
    {"entities": {"service_areas": [BOTH]}, "per_review": {"b": {"service_areas": ["sam"]}}},
    {"per_review": {"b": {"topics": ["sam"]}, "gone": {"technicians": ["sam"]}}},
]


@pytest.mark.parametrize("insights", OTHERS)
def test_no_other_list_drives_a_filter(insights: Insights) -> None:
    """data-model.md 3, rule 3"""
    with opened(Data([review(name) for name in "abcdef"], insights)) as columns:
        assert columns.positions(TECHNICIAN, "sam") is None


# -- what lies on disk


def test_a_text_is_casefolded_and_ends_with_its_stars_and_a_separator() -> None:
    reviews = [
        review("a", date="2025-03-01", rating=1, text="Straße"),
        review("b", date="2025-03-02", rating=2),
        review("c", date="2025-03-03", rating=5, text=""),
        review("d", date="2025-03-03", rating=4, text="İ 😀"),
    ]
    with opened(Data(reviews, {})) as columns:
        days = [datetime.date.fromordinal(-day).day for day in columns.days]
        assert days == [3, 3, 2, 1]
        expected = ["i\u0307 😀".encode() + b"\xfc", b"\xfd", b"\xfa", b"strasse\xf9"]
        assert b"".join(text + b"\xff" for text in expected) == bytes(columns.text_bytes)
        ends = [0]
        for text in expected:
            ends.append(ends[-1] + len(text) + 1)
        assert ends == list(columns.text_offsets)


def test_no_reviews_give_columns_too(tmp_path: Path) -> None:
    compiled(tmp_path / "folder", [])
    sets = position_sets(tmp_path / "folder")
    assert {key: [] for key in STARS_KEYS} == {key: members(each, 0) for key, each in sets.items()}


STARS_KEYS = [
    b"%s\0%d" % (field, n)
    for field in (b"max_rating", b"min_rating", b"rating")
    for n in range(1, 6)
]
STARS = st.lists(st.integers(1, 5), max_size=70)
NAMED = st.tuples(st.sampled_from([TECHNICIAN, SERVICE]), st.text(max_size=3))
SETS = st.dictionaries(NAMED, st.sets(st.integers(0, 69), min_size=1), max_size=5)


@given(STARS, SETS, st.sampled_from([1, 4, 32]))
@settings(deadline=None)
def test_each_set_is_packed_the_smaller_way_and_found_by_its_key(
    stars: list[int], named: dict[tuple[str, str], set[int]], dense: int
) -> None:
    total = len(stars)
    named = {key: {at % total for at in places} for key, places in named.items() if total}
    with TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patch:
        patch.setattr(writing, "_DENSE", dense)
        writer = ColumnsWriter(Path(place), [])
        for rating in stars:
            writer.add(730_000, rating, None)
        writer.close({key: sorted(places) for key, places in named.items()})
        sets = position_sets(Path(place))
        table = memoryview((Path(place) / names.SET_TABLE).read_bytes()).cast("Q").tolist()
    assert sorted(sets) == list(sets)
    for (field, key), places in named.items():
        found = sets.pop(f"{field}\0{key}".encode())
        assert sorted(places) == members(found, total)
        assert isinstance(found, PostingList) == (dense * len(places) <= total)
    assert list(sets) == STARS_KEYS
    for n in range(1, 6):
        just, least = sets[b"rating\0%d" % n], sets[b"min_rating\0%d" % n]
        assert [at for at, rating in enumerate(stars) if rating == n] == members(just, total)
        assert [at for at, rating in enumerate(stars) if rating >= n] == members(least, total)
    begins = table[2 :: names.SET_FIELDS]
    assert [0] * len(begins) == [begin % 8 for begin in begins]  # 32-bit numbers are read in place


def test_the_size_of_a_set_stands_beside_it(tmp_path: Path) -> None:
    writer = ColumnsWriter(tmp_path, [])
    for rating in (5, 5, 4):
        writer.add(730_000, rating, None)
    writer.close({(TECHNICIAN, "ann"): [0, 2], (TECHNICIAN, "amy"): Ambiguous(("Amy B", "Amy C"))})
    table = memoryview((tmp_path / names.SET_TABLE).read_bytes()).cast("Q").tolist()
    assert table[3 :: names.SET_FIELDS] == [0, 0, 0, 1, 3, 3, 3, 3, 3, 2, 0, 0, 0, 1, 2, 17, 2]


TALK = ["the boiler", "The heater", "theatre", None, "ether", "a tee", "", "other thé"]


@pytest.mark.parametrize("count", [7, 8, 16, 23, 24, 60])
def test_the_sets_of_frequent_pieces_are_exact_over_all_blocks(count: int) -> None:
    reviews = [review(f"{n:02}", text=TALK[n * n % 8 - n % 3]) for n in range(count)]
    thresholds = {"BLOCK": 8, "SHARE": 0.3, "MIN_REVIEWS": 5, "SAMPLE": 5}
    with opened(Data(reviews, {}), **thresholds) as columns:
        found = 0
        for piece in ("t", "h", "e", "th", "he", "the", "her", "x"):
            has = [piece in (each["text"] or "").casefold() for each in reversed(reviews)]
            marked = columns.positions(FREQUENT, piece)
            if marked is not None:
                found += 1
                assert isinstance(marked, Bitmap)
                assert [at for at, present in enumerate(has) if present] == members(marked, count)
                assert sum(has) >= 0.3 * count
        assert found >= 3
