"""Chooses classes of queries from the data, so that the worst queries are among them.

*frequent* texts are in more than 15 % of the reviews. The *worst* are the most frequent of the others: before the
suffixes were sorted each of their matches stopped a scan, so they are kept to compare with.
"""

import datetime
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping

import msgspec
from msgspec.structs import replace
from pyroaring import BitMap

from reviewsd.domain.search_query import Cursor, SearchQuery
from reviewsd.snapshot.position_sets import SERVICE, TECHNICIAN
from reviewsd.snapshot.snapshots import Snapshot

_SAMPLE = 4_000  # texts in which words and pieces are counted
_WORST = 10
_FREQUENT = 0.15  # of the texts
_LONGEST_PIECE = 4  # characters of a piece that is no word

Classes = Mapping[str, list[SearchQuery]]


def classes(snapshot: Snapshot) -> Classes:
    """Queries by the name of their class; the first of each is the plainest."""
    texts = sample(snapshot)
    most_texts = _FREQUENT * len(texts)
    counts = _counted(texts, str.split)
    frequent = [word for word, count in counts if count >= most_texts][:_WORST] or ["the"]
    words = [word for word, count in counts if count < most_texts][:_WORST]
    pieces = [piece for piece, count in _counted(texts, _pieces) if count < most_texts][:_WORST]
    rare = [word for word, count in counts if count <= 3][:_WORST]
    dense_technician, rare_technician = _extremes(snapshot, TECHNICIAN)
    dense_service, rare_service = _extremes(snapshot, SERVICE)
    newest, oldest = day_at(snapshot, 0), day_at(snapshot, snapshot.columns.count - 1)
    month = datetime.timedelta(days=30)
    middle = _cursor(snapshot, 0.5)

    def texts_of(needles: list[str], **members: object) -> list[SearchQuery]:
        return [SearchQuery(query=needle, **members) for needle in needles]  # type: ignore[arg-type]

    queries_by_class: dict[str, list[SearchQuery]] = {
        "no filter": [SearchQuery()],
        "rating": [SearchQuery(rating=stars) for stars in range(1, 6)],
        "since, last month": [SearchQuery(since=newest - month)],
        "filter, dense": [
            SearchQuery(mentions_technician=dense_technician),
            SearchQuery(mentions_service=dense_service),
        ],
        "filter, rare": [
            SearchQuery(mentions_technician=rare_technician),
            SearchQuery(mentions_service=rare_service),
        ],
        "cursor, deep": [SearchQuery(cursor=middle), SearchQuery(cursor=_cursor(snapshot, 0.95))],
        "text: frequent": texts_of(frequent),
        "text: worst": texts_of([*words, *pieces]),
        "text: rare": texts_of([*rare, "zzzzqq", "é", "STRASSE", "👍"]),
        "worst text, filter dense": texts_of(words, mentions_technician=dense_technician),
        "worst text, filter rare": texts_of(words, mentions_technician=rare_technician),
        "worst text, all filters": texts_of(
            words,
            min_rating=2.0,
            since=oldest + month,
            until=newest - month,
            mentions_technician=dense_technician,
            mentions_service=dense_service,
            cursor=middle,
            limit=100,
        ),
    }
    return {name: queries for name, queries in queries_by_class.items() if queries}


def distinct(snapshot: Snapshot) -> Iterator[SearchQuery]:
    """Endless searches of all classes, none like another."""
    rng = random.Random(1)
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


def _pieces(text: str) -> Iterator[str]:
    for length in range(1, _LONGEST_PIECE + 1):
        for at in range(len(text) - length + 1):
            yield text[at : at + length]


def _counted(texts: list[str], parts: Callable[[str], Iterable[str]]) -> list[tuple[str, int]]:
    """Return the parts by the number of texts that have them, most frequent first."""
    counts = Counter(part for text in texts for part in set(parts(text)) if part.strip())
    return counts.most_common()


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
