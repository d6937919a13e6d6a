"""What was found valid before is known, and a data set of known reviews is the one that is read anew."""

import json
from itertools import chain, cycle
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.domain import dataset as datasets
from reviewsd.domain.data_errors import DataError
from reviewsd.domain.dataset import Dataset, load
from reviewsd.domain.records import RunFacts
from reviewsd.publish.checked_runs import CheckedRuns
from reviewsd.publish.review_blocks import Earlier
from reviewsd.snapshot import layout
from tests.support.columns import Review, review
from tests.support.examples import examples

RULES = b"rules"
NOTHING = Path("nothing")


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run has four reviews on average."""
    monkeypatch.setattr(datasets, "_RUN", 4)
    monkeypatch.setattr(datasets, "_MAX_RUN", 9)


class Counted(CheckedRuns):
    """Counts what was known."""

    known = 0
    checked = 0

    def find(self, key: bytes) -> RunFacts | None:
        facts = super().find(key)
        self.known += facts is not None
        self.checked += facts is None
        return facts


def text_of(reviews: list[Review], between: str = ", ") -> bytes:
    listed = between.join(json.dumps(each) for each in reviews)
    return f'\ufeff{{"business": {{"name": "Acme"}}, "reviews": [{listed}]}}'.encode()


def read(text: bytes, earlier: Path, target: Path, rules: bytes = RULES) -> tuple[Dataset, Counted]:
    target.mkdir()
    with Counted(Earlier(earlier, rules), target) as known:
        return load(text, None, known=known), known


def seen(dataset: Dataset) -> object:
    return dataset.stars, dataset.latest, dataset.records.places, list(dataset.records)


NUMBERED = st.dictionaries(
    st.integers(0, 60),
    st.tuples(st.integers(1, 28), st.integers(1, 5), st.booleans()),
    max_size=40,
)


@examples(20)
@given(st.lists(NUMBERED, min_size=2, max_size=4), st.sampled_from([",", " ,\n\t"]))
def test_what_is_known_is_read_as_if_it_were_not(
    rounds: list[dict[int, tuple[int, int, bool]]], between: str
) -> None:
    with TemporaryDirectory() as name:
        earlier = NOTHING
        reviews: dict[int, Review] = {}
        for number, changed in enumerate(rounds):
            for key, (day, stars, replied) in changed.items():
                reviews[key] = review(f"r{key}", date=f"2025-03-{day:02}", rating=stars)
                if replied:
                    reviews[key]["owner_reply"] = {"text": "Thanks", "date": "2025-04-02"}
            text = text_of([*reviews.values()], between)
            target = Path(name, f"{number}")
            dataset, _ = read(text, earlier, target)
            alone, _ = read(text, NOTHING, Path(name, f"{number} alone"))
            assert seen(load(text, None)) == seen(dataset) == seen(alone)
            kept = (target / layout.CHECKED_RUNS).read_bytes()
            assert kept == (Path(name, f"{number} alone") / layout.CHECKED_RUNS).read_bytes()
            earlier = target


MANY = [review(f"r{n}", date=f"2025-03-{n % 28 + 1:02}", text=f"Text {n}") for n in range(60)]


def test_a_change_leaves_the_other_runs_known(tmp_path: Path) -> None:
    read(text_of(MANY), NOTHING, tmp_path / "1")
    _, known = read(text_of(MANY), tmp_path / "1", tmp_path / "2")
    assert not known.checked
    assert known.known > 10
    changed = [*MANY[:30], review("other"), *MANY[31:]]
    _, known = read(text_of(changed), tmp_path / "2", tmp_path / "3")
    assert known.checked <= 2
    assert known.known > 10


def test_other_rules_know_nothing(tmp_path: Path) -> None:
    read(text_of(MANY), NOTHING, tmp_path / "1")
    _, known = read(text_of(MANY), tmp_path / "1", tmp_path / "2", b"others")
    assert not known.known


@pytest.mark.parametrize("damage", [b"", b"\xc1" * 4_000, None])
def test_what_is_damaged_is_not_known(tmp_path: Path, damage: bytes | None) -> None:
    read(text_of(MANY), NOTHING, tmp_path / "1")
    file = tmp_path / "1" / layout.CHECKED_RUNS
    content = file.read_bytes()
    # None: the end is whole, and what it points at is not
    size = int.from_bytes(content[-8:], "little")
    file.write_bytes(b"\xc1" * size + content[size:] if damage is None else damage)
    dataset, known = read(text_of(MANY), tmp_path / "1", tmp_path / "2")
    assert not known.known
    assert seen(load(text_of(MANY), None)) == seen(dataset)


def refusal(text: bytes, earlier: Path, target: Path) -> list[str]:
    with pytest.raises(DataError) as refused:
        read(text, earlier, target)
    return list(refused.value.lines())


@pytest.mark.parametrize(
    "reviews",
    [
        [*MANY, MANY[3]],
        [MANY[50], *MANY],
        [*MANY, *MANY],
        [*MANY[:20], review("bad", rating=6), *MANY[20:]],
        [review("bad", date="2025-02-30"), *MANY[20:], review("bad", rating=0)],
    ],
)
def test_faults_are_found_among_known_reviews(tmp_path: Path, reviews: list[Review]) -> None:
    read(text_of(MANY), NOTHING, tmp_path / "1")
    anew = refusal(text_of(reviews), NOTHING, tmp_path / "2")
    assert anew == refusal(text_of(reviews), tmp_path / "1", tmp_path / "3")


@pytest.mark.parametrize("betweens", [[","], [",", " ,\n"], [", ", ", ", ","], [", " + 500 * " "]])
def test_what_stands_between_reviews_may_differ(tmp_path: Path, betweens: list[str]) -> None:
    encoded = [json.dumps(each) for each in MANY]
    listed = "".join(chain.from_iterable(zip(encoded, cycle(betweens), strict=False)))
    text = text_of([]).replace(b"[]", b"[%b]" % listed.rstrip(", \n").encode())
    dataset, _ = read(text, NOTHING, tmp_path / "1")
    assert sorted(encoded) == sorted(each.raw.decode() for each in dataset.records)
