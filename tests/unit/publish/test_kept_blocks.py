"""Insights made of kept blocks are those made from nothing (insights.md 1)."""

import datetime
import zlib
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.analysis.kept_labels import KeptLabels
from reviewsd.analysis.settings import InsightSettings, NamedTechnician
from reviewsd.domain.dataset import Dataset, load
from reviewsd.domain.insights_file import InsightsFile
from reviewsd.publish import documents, kept_blocks, made_insights
from reviewsd.publish.kept_blocks import KeptBlocks, Span
from tests.support.examples import examples

_SETTINGS = InsightSettings(technicians=(NamedTechnician(name="Priya Raman", aliases=("Priya",)),))
_TEXTS = (
    None,
    "On time and friendly.",
    "ON TIME, but the price was too high.",
    "Priya fixed the leak. Fair price!",
    "They never called back and left a mess.",
    "Sehr gut, und sie haben das Haus nicht schmutzig gemacht.",
)
_LAST = [zlib.crc32(f"r{n}".encode()) % 256 == 0 for n in range(9000)]
_ENDING = [n for n, ends in enumerate(_LAST) if ends][:12]  # ids with which a block ends
_NUMBERS = [*_ENDING, *range(40)]

Reviews = dict[int, tuple[int, int, int]]
"""By number: the text, the stars and the day."""


def _dataset(reviews: Reviews) -> Dataset:
    day = datetime.date(2026, 6, 15)
    listed = [
        {
            "id": f"r{number}",
            "author": f"A {number}",
            "rating": stars,
            "date": (day - datetime.timedelta(days=back)).isoformat(),
            "text": _TEXTS[text],
            "source": "x",
            "verified": True,
        }
        for number, (text, stars, back) in reviews.items()
    ]
    business = {"name": "B", "category": "Plumber", "service_areas": ["Ellery"]}
    return load(msgspec.json.encode({"business": business, "reviews": listed}), None)


@dataclass
class _Result:
    results: InsightsFile
    rendered: bytes
    stored: bytes

    @property
    def compared(self) -> tuple[object, ...]:
        spellings = self.results.spellings
        listed = spellings.lists, spellings.felt, spellings.sentiments
        return self.rendered, self.stored, self.results.bounds, listed


def _make(dataset: Dataset, folder: Path, earlier: Path, target: Path) -> _Result:
    with target.open("wb") as file:
        results = made_insights.make(
            dataset,
            _SETTINGS,
            lambda *_: None,
            folder=folder,
            labels=KeptLabels(),
            blocks=KeptBlocks(earlier, file),
        )
    return _Result(
        results, b"".join(documents.render_insights(results, dataset)), target.read_bytes()
    )


_EDITS = st.lists(
    st.tuples(
        st.sampled_from(_NUMBERS),
        st.none() | st.tuples(st.integers(0, 5), st.integers(1, 5), st.integers(0, 800)),
    ),
    max_size=6,
)


@examples(8)
@given(st.lists(_EDITS, min_size=1, max_size=4))
def test_kept_blocks_make_the_same_bytes_as_none(
    rounds: list[list[tuple[int, tuple[int, int, int] | None]]],
) -> None:
    reviews: Reviews = {n: (n % 6, n % 5 + 1, n % 23) for n in _NUMBERS}
    with TemporaryDirectory() as name:
        folder = Path(name)
        earlier = folder / "earlier"
        for number, edits in enumerate(rounds):
            for changed, what in edits:
                if what is None:
                    reviews.pop(changed, None)
                else:
                    reviews[changed] = what
            dataset = _dataset(reviews)
            target = folder / f"kept{number}"
            stored = _make(dataset, folder, earlier, target)
            anew = _make(dataset, folder, folder / "nothing", folder / "anew")
            assert stored.compared == anew.compared
            earlier = target


def _spans(reviews: Reviews) -> list[Span]:
    return list(kept_blocks.spans(_dataset(reviews).records, b"rules"))


def test_a_change_leaves_the_other_blocks_as_they_were() -> None:
    reviews: Reviews = {n: (n % 6, n % 5 + 1, n) for n in range(4000)}
    before = {span.key for span in _spans(reviews)}
    assert len(before) > 8
    middle = dict(reviews) | {1500: (3, 1, 1500)}
    assert len(before - {span.key for span in _spans(middle)}) == 1
    del middle[1500]
    assert len(before - {span.key for span in _spans(middle)}) in {1, 2}


def test_blocks_cover_all_reviews_and_are_bounded() -> None:
    plain = [n for n, ends in enumerate(_LAST) if not ends][:3000]
    spans = _spans(dict.fromkeys(plain, (1, 5, 0)))
    assert [(0, 1024), (1024, 2048), (2048, 3000)] == [(item.begin, item.end) for item in spans]
    assert _spans({}) == []


def test_changed_rules_change_keys() -> None:
    records = _dataset({1: (1, 5, 0)}).records
    assert list(kept_blocks.spans(records, b"a")) != list(kept_blocks.spans(records, b"b"))
