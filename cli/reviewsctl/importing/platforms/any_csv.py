"""Any table or list of objects: columns are guessed by their names and shown, ``--map`` corrects them.

It does not say which platform it comes from, and rarely whether the reviews are verified. Exports of platforms that are plain tables are read by the same rules.
"""

import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from msgspec import UNSET

from reviewsctl.importing.errors import RowSkippedError
from reviewsctl.importing.format import Fields, Head, Parser, Row
from reviewsctl.importing.platforms.columns import (
    Chosen,
    chosen,
    columns_of,
    flat,
    has_columns,
    has_ratings,
)
from reviewsctl.importing.platforms.dates import dates_of
from reviewsctl.importing.publicity.signs import sign_of
from reviewsctl.importing.review import PlatformReview, keyed_errors, reply_of
from reviewsctl.importing.scales import ScaleOf, scale_of
from reviewsctl.importing.settings import NO_SOURCE, Settings
from reviewsctl.importing.times import Reading
from reviewsctl.importing.values import (
    address,
    is_nothing,
    listed,
    normal,
    shown,
    titled,
    truth,
    unhumped,
    word,
    words,
)
from reviewsctl.importing.vocabulary.words import CELLS, COLUMNS, GUESSES
from reviewsd.api.texts import printable
from reviewsd.domain.halves import DISLIKED, LIKED

_SOURCE_HEADINGS = {*GUESSES["source"]} - COLUMNS.sets["vague_sources"]
_MARKS = frozenset(" ./\\_*,:;?!\n\u2026\u2013\u2014-")  # "-", "...", "/" and the like
_LONG = 100  # characters of a name in a message, and of a text that is compared as a whole


class _Understood(NamedTuple):
    """The meaning of the columns of a table."""

    names: Chosen
    dates: Reading
    pattern: str
    """That of the dates."""
    scale: ScaleOf
    evidence: str
    """The reason for which it is taken, for the operator."""
    sample: Sequence[Fields]
    """The first rows, without those of totals."""

    @property
    def single(self) -> Mapping[str, str]:
        """Our names with the first of their columns."""
        return {ours: names[0] for ours, names in self.names.items()}


@dataclass(frozen=True, slots=True)
class Table:
    """One kind of table."""

    source: str | None = None
    """The platform; None where a column or the operator names it."""
    unmapped: Collection[str] = ()
    """Our names that no column is taken for."""
    best: int | None = None
    """The best rating; None where the table or the operator has to show it."""

    def parser(self, head: Head, settings: Settings) -> Parser:
        """Return the parser of its rows."""
        columns = self._understood(head, settings)
        names, single, dates = columns.names, columns.single, columns.dates

        def read(row: Row) -> PlatformReview:
            fields = flat(row.fields) if head.shape == "json" else row.fields
            if _is_total(fields, single["date"]):
                raise RowSkippedError("a row of totals")
            cells = {ours: fields.get(name) for ours, name in single.items()}
            named = word(cells.get("source")) or self.source or settings.source
            source, identifier = settings.source_of(named or NO_SOURCE), word(cells.get("id"))
            with keyed_errors(source, identifier):
                created = dates(cells["date"])  # first: a line of totals may have none
                rating = columns.scale(fields).stars(cells["rating"])
                verified = truth(cells.get("verified"))
                reply_text = _joined(fields, names.get("reply", ()))
                reply = reply_of(reply_text, cells.get("reply_date"), dates)
            return PlatformReview(
                source=source,
                key=identifier,
                author=" ".join(
                    filter(None, (word(fields.get(name)) for name in names.get("author", ())))
                ),
                rating=rating.stars,
                created=created,
                text=titled(cells.get("title"), _joined(fields, names.get("text", ()))),
                avatar_url=address(cells["avatar"]) if "avatar" in cells else UNSET,
                source_url=address(cells["url"]) if "url" in cells else UNSET,
                reply=reply if "reply" in names else UNSET,
                verified=verified,
                place=cells.get("location"),
                notes=rating.notes if named else (*rating.notes, "no-source"),
            )

        return read

    def describe(self, head: Head, settings: Settings) -> tuple[list[str], list[str]]:
        """Return how the columns are understood, for the operator, and notes on those left over."""
        columns = self._understood(head, settings)
        there = dict.fromkeys(name for row in columns_of(head) for name in row)
        mapped = {name for names in columns.names.values() for name in names}
        pairs = [f"{ours} = {' + '.join(names)}" for ours, names in columns.names.items()]
        lines = [f"columns: {listed(pairs)}", f"dates: {columns.pattern}"]
        if columns.evidence:
            lines.append(f"ratings: {columns.evidence}")
        status, date = columns.single.get("status"), columns.single["date"]
        signs = [name for name in there if sign_of(name) is not None or name == status]
        if signs := [name for name in signs if name != date]:
            lines.append(f"whether public: {listed(signs)}")
        if unused := [name for name in there if name and name not in mapped and name not in signs]:
            lines.append(f"not taken: {listed(unused)}")
        sample, settled = columns.sample, {*columns.names, *settings.columns}
        notes = []
        if (number := columns.single.get("id")) is not None and _is_personal(number):
            notes.append(
                f"note: column {shown(number)} is taken for the ids, which are public, and behind which its "
                "numbers can be found; to make ids of what the rows say: --map id="
            )
        if "id" not in settled:
            what = "has another value in each row; if it is the review's own number, which stays with it"
            notes += [_hint(name, what, "id") for name in unused if _has_numbers(sample, name)]
        if settings.source is not None and "source" not in settled:
            what = "may have the source of each review, and --source counts for all; if the column is right"
            notes += [
                _hint(name, what, "source") for name in unused if normal(name) in _SOURCE_HEADINGS
            ]
        if "location" not in settled and self.source is None:
            what = "has the same values again and again; if they are places of yours"
            notes += [_hint(name, what, "location") for name in unused if _has_places(sample, name)]
        return lines, notes

    def names_source(self, head: Head, settings: Settings) -> bool:
        """Return whether the platform, the operator or a column says where the reviews were written."""
        source = self.source or settings.source
        return source is not None or "source" in self._understood(head, settings).names

    def _understood(self, head: Head, settings: Settings) -> _Understood:
        rows = columns_of(head)
        names = chosen(rows, settings, self.unmapped, asks=self.best is None)
        single = {ours: columns[0] for ours, columns in names.items()}
        totals = [_is_total(row, single["date"]) for row in rows]
        sample = [row for row, is_total in zip(rows, totals, strict=True) if not is_total]
        dates, pattern = dates_of(
            sample, settings, *([single[ours]] for ours in ("date", "reply_date") if ours in single)
        )
        scale, evidence = scale_of(sample, single, settings.scale, native=self.best)
        return _Understood(names, dates, pattern, scale, evidence, sample)


def _is_total(fields: Fields, date: str) -> bool:
    """Return whether a row has the totals of others: its first cell says so, and it has no day and no words."""
    cells = ((name, text) for name, value in fields.items() if (text := word(value)) is not None)
    _, label = next(cells, ("", ""))
    totals = CELLS.sets["totals"]
    return normal(label) in totals and all(
        name != date and (normal(text) in totals or not text[:1].isalpha()) for name, text in cells
    )


def _hint(name: str, what: str, ours: str) -> str:
    """Return the line on a column that may be one of ours."""
    option = shlex.quote(f"{ours}={printable(name[:_LONG])}")
    return f"note: column {shown(name)} {what}: --map {option}"


def _has_numbers(sample: Sequence[Fields], name: str) -> bool:
    """Return whether a column is named a number, and has another value in each of the first rows that differ."""
    compared = normal(name)
    first, *others = compared.split() or [""]
    names = {compared, compared.rpartition(" ")[2]}
    names |= set() if COLUMNS.sets["text_words"].isdisjoint(others) else {first}
    if names.isdisjoint(COLUMNS.sets["numbers"]) or _is_personal(name):
        return False
    rows = {str(row): word(row.get(name)) for row in sample}
    values = {*rows.values()}
    return None not in values and len(values) == len(rows) > 1


def _is_personal(name: str) -> bool:
    """Return whether a column has numbers of a customer, a booking or an order, which become no ids."""
    stems = COLUMNS.lists["personal_numbers"]
    return any(part.startswith(stems) for part in normal(name).split())


def _has_places(sample: Sequence[Fields], name: str) -> bool:
    """Return whether a column is named as places are, and has several values that come again, which are no scores."""
    values = [value for value in (word(row.get(name)) for row in sample) if value is not None]
    is_named = normal(name) in COLUMNS.sets["places"]
    return is_named and 1 < len({*values}) < len(values) and not has_ratings(sample, name)


def _joined(fields: Fields, names: Sequence[str]) -> str | None:
    """Return the parts of a text as paragraphs; of its halves each begins with what it is."""
    parts = [
        part
        for name in names
        if (text := words(fields.get(name))) is not None and (part := _part(name, text)) is not None
    ]
    return "\n\n".join(parts) if parts else None


def _part(name: str, text: str) -> str | None:
    """Return a paragraph of a text; None for a half that says nothing, as "-", or "Nothing" of what was disliked."""
    bare = text.strip()
    disliked = _is_among(name, DISLIKED)
    if not disliked and not _is_among(name, LIKED):
        return text
    is_empty = is_nothing(bare) or _MARKS.issuperset(bare)
    if is_empty or (disliked and len(bare) < _LONG and normal(bare) in CELLS.sets["no_criticism"]):
        return None
    return f"{_heading(name)}: {bare}"


def _is_among(name: str, headings: Collection[str]) -> bool:
    """Return whether a column, or a member of an object, has one of these names."""
    return any(normal(part) in headings for part in (name, name.rpartition(".")[2]))


def _heading(name: str) -> str:
    """Return the name of a column as a heading: ``likedText`` is "Liked text"."""
    plain = unhumped(name.rpartition(".")[2]).replace("_", " ").strip(" ?:")
    return plain[:1].upper() + plain[1:]


def is_table(_head: Head) -> bool:
    """Any table may have reviews."""
    return True


def has_reviews(head: Head) -> bool:
    """JSON counts as reviews if a rating and a date are among its members."""
    return bool(head.sample) and has_columns(head)
