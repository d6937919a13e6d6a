"""Chooses classes of queries from the data, so that the worst queries are among them.

*frequent* texts are in more than 15 % of the reviews. The *worst* are the most frequent of the others: before the
suffixes were sorted each of their matches stopped a scan, so they are kept to compare with.
"""

import datetime
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise

import msgspec
from msgspec.structs import replace
from pyroaring import BitMap

from reviewsd.domain.search_query import Cursor, SearchQuery
from reviewsd.snapshot.position_sets import SERVICE, TECHNICIAN
from reviewsd.snapshot.snapshots import Snapshot

_SAMPLE = 4_000  # texts in which words and pieces are counted
_WORST = 20
_FREQUENT = 0.15  # of the texts
_LONG = 40  # bytes of a text
_LONGEST_PIECE = 4  # characters of a piece that is no word

Classes = Mapping[str, list[SearchQuery]]


def classes(snapshot: Snapshot) -> Classes:
    """Queries by the name of their class; the first of each is the plainest."""
    texts = sample(snapshot)
    most_texts = _FREQUENT * len(texts)
    frequent = [word for word, count in _words(texts) if count >= most_texts][:10]
    words = [word for word, count in _words(texts) if count < most_texts][:_WORST]
    pairs = [pair for pair, count in _pairs(texts) if count < most_texts][:_WORST]
    pieces = [piece for piece, count in _pieces(texts) if count < most_texts][:_WORST]
    rare = [word for word, count in _words(texts) if 1 <= count <= 3][:_WORST]
    dense_technician, sparse_technician = _extremes(snapshot, TECHNICIAN)
    dense_service, sparse_service = _extremes(snapshot, SERVICE)
    newest, oldest = day_at(snapshot, 0), day_at(snapshot, snapshot.columns.count - 1)
    month = datetime.timedelta(days=30)
    middle = oldest + (newest - oldest) / 2
    half, most = _cursor(snapshot, 0.5), _cursor(snapshot, 0.95)

    def query(**members: object) -> SearchQuery:
        return SearchQuery(**members)  # type: ignore[arg-type]  # written out below

    def texts_of(needles: list[str], **members: object) -> list[SearchQuery]:
        return [query(query=needle, **members) for needle in needles]

    queries_by_class: dict[str, list[SearchQuery]] = {
        "no filter": [query()],
        **{f"rating={stars}": [query(rating=stars)] for stars in range(1, 6)},
        "min_rating": [query(min_rating=least) for least in (1.0, 2.5, 4.0, 4.5)],
        "since, last month": [query(since=newest - month)],
        "until the middle": [query(until=middle)],
        "a month in the middle": [query(since=middle, until=middle + month)],
        "technician, dense": [query(mentions_technician=dense_technician)],
        "technician, sparse": [query(mentions_technician=sparse_technician)],
        "technician, unknown": [query(mentions_technician="nobody at all")],
        "service, dense": [query(mentions_service=dense_service)],
        "service, sparse": [query(mentions_service=sparse_service)],
        "technician and service": [
            query(mentions_technician=dense_technician, mentions_service=dense_service)
        ],
        "cursor, deep": [query(cursor=half), query(cursor=most)],
        "text: one character": texts_of([*"etaonq7"]),
        "text: frequent words": texts_of(frequent or ["the"]),
        "text: worst words": texts_of(words),
        "text: worst word pairs": texts_of(pairs),
        "text: worst pieces": texts_of(pieces),
        "text: rare words": texts_of(rare),
        "text: not there": texts_of(["zzzzqq", "qqqqq zz", "the reviewsd"]),
        "text: accents": texts_of(["é", "peña", "STRASSE", "für"]),
        "text: emoji": texts_of(["😀", "👍", "🔥"]),
        "text: prefixes": texts_of(
            [word[:length] for word, _ in _words(texts)[:400:40] for length in (2, 3, 4)]
        ),
        "text: three words": texts_of(
            [" ".join(text.split()[1:4]) for text in texts[:400:20] if len(text) > _LONG]
        ),
        "text: inside words": texts_of(
            [text[17:23] for text in texts[:400:20] if len(text) > _LONG]
        ),
        "text: long": texts_of(["finished ahead of schedule", "x" * 200]),
        "worst text, rating=5": texts_of([*words[:5], *pieces[:5]], rating=5),
        "worst text, rating=2": texts_of([*words[:5], *pieces[:5]], rating=2),
        "worst text, min_rating=3": texts_of([*words[:5], *pieces[:5]], min_rating=3.0),
        "worst text, a year": texts_of(
            [*words[:5], *pieces[:5]], since=middle, until=middle + 12 * month
        ),
        "worst text, technician dense": texts_of(words[:5], mentions_technician=dense_technician),
        "worst text, technician sparse": texts_of(words[:5], mentions_technician=sparse_technician),
        "worst text, service and rating": texts_of(
            words[:5], mentions_service=dense_service, rating=5
        ),
        "worst text, technician, rating=1": texts_of(
            words[:5], mentions_technician=dense_technician, rating=1
        ),
        "worst text, cursor deep": texts_of(pieces[:5], cursor=half)
        + texts_of(words[:5], cursor=most),
        "rare text, cursor deep": texts_of(rare[:5], cursor=most),
        "frequent text, technician": texts_of(
            frequent[:5] or ["the"], mentions_technician=dense_technician
        ),
        "frequent text, cursor, rating=1": texts_of(frequent[:5] or ["the"], cursor=most, rating=1),
        "worst text, all filters": [
            query(
                query=word,
                min_rating=2.0,
                since=oldest + month,
                until=newest - month,
                mentions_technician=dense_technician,
                mentions_service=dense_service,
                cursor=half,
                limit=100,
            )
            for word in words[:5]
        ],
    }
    return {name: queries for name, queries in queries_by_class.items() if queries}


def distinct(snapshot: Snapshot, seed: int = 1) -> Iterator[SearchQuery]:
    """Endless searches of all classes, none like another."""
    rng = random.Random(seed)
    every = [query for queries in classes(snapshot).values() for query in queries]
    newest, oldest = day_at(snapshot, 0), day_at(snapshot, snapshot.columns.count - 1)
    days = (newest - oldest).days
    yielded = set()
    while True:
        since = oldest + datetime.timedelta(days=rng.randrange(days // 2))
        query = replace(rng.choice(every), since=since, limit=rng.randint(1, 100))
        if query not in yielded:
            yielded.add(query)
            yield query


def sample(snapshot: Snapshot) -> list[str]:
    """Casefolded texts from all over the snapshot."""
    count = snapshot.columns.count
    records = map(snapshot.records.at, range(0, count, max(1, count // _SAMPLE)))
    return [(msgspec.json.decode(record, type=_Text).text or "").casefold() for record in records]


class _Text(msgspec.Struct):
    """The text of a review."""

    text: str | None


def _words(texts: list[str]) -> list[tuple[str, int]]:
    return _counted(texts, lambda text: set(text.split()))


def _pairs(texts: list[str]) -> list[tuple[str, int]]:
    def pairs(text: str) -> set[str]:
        words = text.split(" ")
        return {f"{one} {two}" for one, two in pairwise(words)}

    return _counted(texts, pairs)


def _pieces(texts: list[str]) -> list[tuple[str, int]]:
    def pieces(text: str) -> set[str]:
        lengths = range(1, _LONGEST_PIECE + 1)
        return {
            text[at : at + length] for length in lengths for at in range(len(text) - length + 1)
        }

    return _counted(texts, pieces)


def _counted(texts: list[str], parts: Callable[[str], set[str]]) -> list[tuple[str, int]]:
    """Return the pieces by the number of texts that have them, most frequent first."""
    counts = Counter(part for text in texts for part in parts(text) if part.strip())
    return counts.most_common(4_000)


def _extremes(snapshot: Snapshot, field: str) -> tuple[str, str]:
    """The names of a field with the largest and the smallest set."""
    sizes = {}
    for section, _, name in (key.partition("\0") for key in snapshot.sets.names):
        if section == field and isinstance(numbers := snapshot.sets.get(field, name), BitMap):
            sizes[name] = len(numbers)
    ordered = sorted(filter(sizes.get, sizes), key=lambda name: (sizes[name], name))
    return ordered[-1], ordered[0]


def day_at(snapshot: Snapshot, position: int) -> datetime.date:
    """The date of the review at a position."""
    return datetime.date.fromordinal(-snapshot.columns.days[position])


def _cursor(snapshot: Snapshot, share: float) -> Cursor:
    return snapshot.records.cursor_at(int(share * (snapshot.columns.count - 1)))
