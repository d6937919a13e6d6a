"""Our own shape: reviews.json (data-model.md), and what ``reviewsctl export`` writes.

Reviews are merged by id, as they are, unknown members included.
"""

from collections.abc import Iterable, Mapping

import msgspec

from reviewsctl.importing.errors import RowRefusedError, RowSkippedError
from reviewsctl.importing.format import Fields, Head, Parser, Row, Signature
from reviewsctl.importing.review import Entry, check_days
from reviewsctl.importing.reviews_file import EXAMPLES
from reviewsctl.importing.settings import Settings
from reviewsctl.importing.times import Reading, reading_of
from reviewsctl.importing.values import encoded, members, shown, words, yes_or_no
from reviewsd.api.texts import merge_key
from reviewsd.domain.reviews import Review

COLUMNS = (
    "id",
    "author",
    "author_avatar_url",
    "rating",
    "date",
    "text",
    "source",
    "source_url",
    "owner_reply_text",
    "owner_reply_date",
    "verified",
    "location",
    "added_at",
    "changed_at",
)
"""Columns of the exported CSV; an empty cell is null, and in the last three absent. A reply without a day of its own has
none."""

NAME = "reviewsd"
"""The name of the format."""

_ADDITIVE = COLUMNS[-3:]
_CERTAIN = ("text", "author_avatar_url", "source_url", "owner_reply")
_REQUIRED = ("id", "author", "rating", "date", "source", "verified")
_NO_DAY = "Invalid RFC3339 encoded date"  # of msgspec
_DAYS = ("date", "owner_reply_date")


def is_ours(head: Head) -> bool:
    """Return whether a file is one of ours."""
    if head.shape == "table":
        return Signature(COLUMNS[: -len(_ADDITIVE)])(head)
    return (not head.sample and "business" in head.around) or Signature(_REQUIRED)(head)


def around(heads: Iterable[Head]) -> Mapping[str, object]:
    """Return the members beside the reviews of the first file that has a business."""
    return next(
        (head.around for head in heads if isinstance(head.around.get("business"), dict)), {}
    )


def parser(head: Head, settings: Settings) -> Parser:
    """Return the parser of rows; a table has its days as the spreadsheet writes them."""
    decoder, is_table = msgspec.json.Decoder(Review), head.shape == "table"
    cells = [(name, _cells(row).get(name)) for row in head.sample for name in _DAYS * is_table]
    reading, _ = reading_of(cells, settings.date_format)

    def read(row: Row) -> Entry:
        identifier = words({**row.fields, **_cells(row.fields)}.get("id"))
        try:
            return entry(_members(row.fields, reading) if is_table else row.fields)
        except RowRefusedError as error:
            error.key = error.key or merge_key(identifier or "")
            raise

    def entry(fields: Fields) -> Entry:
        record = encoded(fields)
        try:
            review = decoder.decode(record)
        except msgspec.DecodeError as error:
            fault = _fault(error, fields, is_table=is_table)
            raise RowRefusedError(f"not a review of ours: {fault}") from None
        if review.id in EXAMPLES:
            raise RowSkippedError("examples of reviewsctl init")
        reply_day = None if review.owner_reply is None else review.owner_reply.date
        check_days(review.date, reply_day, settings, merge_key(review.id))
        blank = frozenset(name for name in _CERTAIN if getattr(review, name) is None)
        location = fields.get("location")
        place = location if isinstance(location, str) else ""
        return Entry(
            key=review.id,
            source=review.source,
            place=place,
            record=msgspec.json.decode(record),  # what JSON cannot hold is null
            blank=blank,
            newest=review.date.isoformat(),
        )

    return read


def _cells(fields: Fields) -> dict[str, str | None]:
    return {name.casefold(): words(value) for name, value in fields.items()}


def _fault(error: msgspec.DecodeError, review: Fields, *, is_table: bool) -> str:
    """Return why a record is no review, by the column or the member that is at fault."""
    reason, at, path = str(error).rpartition(" - at `$.")
    if not at:
        return str(error)
    *around, name = path.removesuffix("`").split(".")
    value = (members(review.get(around[0])) if around else review).get(name)
    fault = f"does not fit: {reason[:1].lower()}{reason[1:].replace('`', '')}"
    if reason == _NO_DAY:
        fault = "is no day; write it as 2026-03-14"
    cell = "an empty cell" if value is None else shown(value)
    return f"{('_' if is_table else '.').join([*around, name])}: {cell} {fault}"


def _members(fields: Fields, reading: Reading) -> dict[str, object]:
    """Return a row of the exported CSV as an object; columns that were left out are no members."""
    cells = _cells(fields)
    cells |= {name: reading(cells[name]).date().isoformat() for name in _DAYS if cells.get(name)}
    rating, verified = cells.get("rating") or "", yes_or_no(cells.get("verified"))
    answer, answered = cells.get("owner_reply_text"), cells.get("owner_reply_date")
    reply: dict[str, object] = {"text": answer or "", "date": answered}
    if not answered:  # its day is that of the review
        reply |= {"date": cells.get("date"), "undated": True}
    review: dict[str, object] = {name: cells[name] for name in COLUMNS if name in cells}
    review |= {
        "rating": int(rating) if rating.isascii() and rating.isdigit() else cells.get("rating"),
        "verified": cells.get("verified") if verified is None else verified,
    }
    if {"owner_reply_text", "owner_reply_date"} & cells.keys():
        review["owner_reply"] = reply if answer or answered else None
    review.pop("owner_reply_text", None)
    review.pop("owner_reply_date", None)
    for column in _ADDITIVE:
        if review.get(column) is None:
            review.pop(column, None)
    return review
