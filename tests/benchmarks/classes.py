"""What to search for: classes of queries, chosen from the data so that the worst are among them.

The worst text is the most frequent one that is no frequent piece: each match stops the scan, and
nothing is known of it beforehand (``snapshot.frequent``).
"""

import datetime
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise

from msgspec.structs import replace

from reviewsd.domain.search_query import Cursor, SearchQuery
from reviewsd.snapshot.position_sets import FREQUENT, SERVICE, TECHNICIAN, PostingList
from reviewsd.snapshot.search import STARS
from reviewsd.snapshot.snapshots import Snapshot

_SAMPLE = 4_000  # texts in which words and pieces are counted
_WORST = 20
_LONGEST_PIECE = 4  # characters of a piece that is no word

Classes = Mapping[str, list[SearchQuery]]


def classes(snapshot: Snapshot) -> Classes:
    """Queries by the name of their class; the first of each is the plainest."""
    texts = sample(snapshot)
    frequent = [word for word, _ in _words(texts) if known(snapshot, word)][:10]
    words = [word for word, _ in _words(texts) if not known(snapshot, word)][:_WORST]
    pairs = [pair for pair, _ in _pairs(texts) if not known(snapshot, pair)][:_WORST]
    pieces = [each for each, _ in _pieces(texts) if not known(snapshot, each)][:_WORST]
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

    found: dict[str, list[SearchQuery]] = {
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
    return {name: queries for name, queries in found.items() if queries}


def distinct(snapshot: Snapshot, seed: int = 1) -> Iterator[SearchQuery]:
    """Endless searches of all classes, none like another."""
    rng = random.Random(seed)
    every = [query for queries in classes(snapshot).values() for query in queries]
    newest, oldest = day_at(snapshot, 0), day_at(snapshot, snapshot.columns.count - 1)
    days = (newest - oldest).days
    seen = set()
    while True:
        since = oldest + datetime.timedelta(days=rng.randrange(days // 2))
        query = replace(rng.choice(every), since=since, limit=rng.randint(1, 100))
        if query not in seen:
            seen.add(query)
            yield query


def sample(snapshot: Snapshot) -> list[str]:
    """Casefolded texts from all over the snapshot."""
    columns = snapshot.columns
    step = max(1, columns.count // _SAMPLE)
    offsets, content = columns.text_offsets, columns.text_bytes
    return [
        bytes(content[offsets[at] : offsets[at + 1]]).rstrip(b"\xff" + STARS).decode()
        for at in range(0, columns.count, step)
    ]


def known(snapshot: Snapshot, text: str) -> bool:
    """Whether a text is a frequent piece."""
    return snapshot.columns.positions(FREQUENT, text) is not None


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
    """By how many texts have it, most first."""
    counts = Counter(part for text in texts for part in parts(text) if part.strip())
    return counts.most_common(4_000)


def _extremes(snapshot: Snapshot, field: str) -> tuple[str, str]:
    """The names of a field with the largest and the smallest set."""
    sets = snapshot._sets
    sizes = {}
    prefix = f"{field}\0".encode()
    for key, row in sets._rows.items():
        if key.startswith(prefix):
            name = key[len(prefix) :].decode()
            found = sets.find(field, name)
            size = (
                len(found.positions) if isinstance(found, PostingList) else snapshot.columns.count
            )
            sizes[name] = sets._table[row + 1] if found else size
    ordered = sorted(sizes, key=lambda name: (sizes[name], name))
    return ordered[-1], ordered[0]


def day_at(snapshot: Snapshot, position: int) -> datetime.date:
    """The date of the review at a position."""
    return datetime.date.fromordinal(-snapshot.columns.days[position])


def _cursor(snapshot: Snapshot, share: float) -> Cursor:
    return snapshot.cursor_at(int(share * (snapshot.columns.count - 1)))
