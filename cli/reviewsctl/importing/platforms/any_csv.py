"""Any table: columns are guessed by their names and shown, ``--map`` corrects them.

It does not say which platform it comes from or whether the reviews are verified, so the operator has
to.
"""

import itertools
from collections.abc import Collection, Mapping, Sequence

from msgspec import UNSET

from reviewsctl.importing.errors import SayMoreError
from reviewsctl.importing.format import Columns, Format, Head, Reader, Row, Rules, reply_of
from reviewsctl.importing.review import Entry, Found
from reviewsctl.importing.times import AmbiguousError, Reading, by_pattern, guessed
from reviewsctl.importing.values import address, shown, stars, word, words
from reviewsctl.terminal.escaping import printable

GUESSES: Mapping[str, Sequence[str]] = {
    "rating": ("rating", "stars", "star rating", "score", "review rating"),
    "date": ("date", "review date", "created", "created at", "published", "published at", "posted",
             "posted at", "submitted", "time", "timestamp", "datetime"),
    "author": ("author", "author name", "name", "reviewer", "reviewer name", "customer",
               "customer name", "display name", "user", "username"),
    "text": ("text", "review", "review text", "comment", "comments", "body", "content", "message"),
    "reply": ("reply", "response", "owner answer", "owner reply", "owner response", "reply text"),
    "reply_date": ("reply date", "response date", "owner answer date", "owner reply date",
                   "replied at"),
    "url": ("url", "link", "review url", "review link", "source url", "permalink"),
    "avatar": ("avatar", "avatar url", "photo", "author avatar url", "author image"),
    "source": ("source", "platform", "site", "site name", "channel"),
    "id": ("id", "review id", "uid", "uuid"),
}  # fmt: skip
"""Our names, and those of columns that are taken for them, the likeliest first."""

_REQUIRED = ("rating", "date")
_SOURCE = "import"  # what reviews are from when no column says
_SHOWN, _LONG = 40, 100  # columns in a message, and characters of each


def chosen(head: Head, columns: Columns) -> dict[str, str]:
    """Our names to those of the columns.

    Raises:
        SayMoreError: A column that is needed is not found, or one that is mapped is not there.
    """
    there: dict[str, str] = {}
    for name in head.sample[0] if head.sample else ():
        there.setdefault(_normal(name), name)
    found = {}
    for ours, name in columns.mapped.items():
        if ours not in GUESSES:
            raise SayMoreError(
                f'--map: "{ours}" is no member of a review', f"There are: {', '.join(GUESSES)}"
            )
        if _normal(name) not in there:
            raise SayMoreError(
                f'--map: there is no column "{name}"',
                f"There are: {_listed(there.values())}",
            )
        found[ours] = there[_normal(name)]
    for ours, guesses in GUESSES.items():
        free = [each for each in guesses if each in there and there[each] not in found.values()]
        if ours not in found and free:
            found[ours] = there[free[0]]
    missing = [name for name in _REQUIRED if name not in found]
    if missing:
        raise SayMoreError(
            f"no column looks like {' or '.join(missing)}; there are: {_listed(there.values())}",
            f"Say which it is, as in --map {missing[0]}=COLUMN",
        )
    return found


def _listed(names: Collection[str]) -> str:
    first = ", ".join(printable(name[:_LONG]) for name in itertools.islice(names, _SHOWN))
    return f"{first} and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else first


def _normal(name: str) -> str:
    return " ".join(name.replace("_", " ").replace("-", " ").casefold().split())


def _dates(head: Head, columns: Columns, column: str) -> tuple[Reading, str]:
    if columns.date_format is not None:
        return by_pattern(columns.date_format), columns.date_format
    try:
        return guessed([row.get(column) for row in head.sample])
    except AmbiguousError as error:
        first, second = error.patterns
        raise SayMoreError(
            f"the dates in column {shown(column)} can be read in two ways, for example "
            f"{printable(error.example)}",
            f'Say which it is: --date-format "{first}" or --date-format "{second}"',
        ) from error


def _reader(head: Head, rules: Rules) -> Reader:
    columns = chosen(head, rules.columns)
    dates, _ = _dates(head, rules.columns, columns["date"])

    def read(row: Row) -> Entry:
        cells = {ours: row.fields.get(name) for ours, name in columns.items()}
        source = word(cells.get("source")) or rules.columns.source
        if source is None:
            rules.tally["no-source"] += 1
            source = _SOURCE
        reply = reply_of(words(cells.get("reply")), cells.get("reply_date"), dates)
        return rules.entry(
            Found(
                source=source.lower(),
                key=word(cells.get("id")),
                author=cells.get("author"),
                rating=stars(cells["rating"]),
                created=dates(cells["date"]),
                text=words(cells.get("text")),
                avatar_url=address(cells["avatar"]) if "avatar" in cells else UNSET,
                source_url=address(cells["url"]) if "url" in cells else UNSET,
                reply=reply if "reply" in cells else UNSET,
            )
        )

    return read


def _says(head: Head, columns: Columns) -> Sequence[str]:
    found = chosen(head, columns)
    _, pattern = _dates(head, columns, found["date"])
    unused = [name for name in head.sample[0] if name and name not in found.values()]
    says = [
        f"columns: {_listed([f'{ours} = {name}' for ours, name in found.items()])}",
        f"dates: {pattern}",
    ]
    if unused:
        says.append(f"not taken: {_listed(unused)}")
    return says


FORMAT = Format(
    name="csv",
    title="a table with columns of its own",
    leaves="",
    recognises=lambda head: head.shape == "table",
    reader=_reader,
    says_verified=False,
    says_columns=_says,
)
